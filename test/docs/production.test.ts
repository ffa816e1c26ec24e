/** docs/production.md, compared with the settings that the service accepts. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/settings.ts';
import { readDocument } from '../support/markdown.ts';

const text = readDocument('docs/production.md');

/** The settings `NAME=value` in a text. */
function settingsIn(part: string): Record<string, string> {
  return Object.fromEntries(
    [...part.matchAll(/\b([A-Z][A-Z_]+)=('[^']*'|\S+)/g)].map(([, name, value = '']) => [name, value.replaceAll("'", '')]),
  );
}

test('the command of docs/production.md has settings with which the service starts', () => {
  const [command = ''] = /^NODE_ENV=production [^]*?npm start$/m.exec(text) ?? [];
  const config = readConfig(settingsIn(command));
  expect(config).toMatchObject({ production: true, host: '0.0.0.0', workers: 2 });
  expect(config.databaseUrl?.toString()).toBe('db.example.com:5432/entities');
});

test('the settings for systemd in docs/production.md are accepted', () => {
  const [, environment = ''] = /^```ini\n(PUBLIC_URL=.*?)^```$/ms.exec(text) ?? [];
  const config = readConfig({ NODE_ENV: 'production', ...settingsIn(environment.replaceAll('…', 'secret')) });
  expect(config).toMatchObject({ production: true, trustProxy: ['127.0.0.1'] });
  expect(config.databaseUrl?.toString()).toBe('db.example.com:5432/entities');
});

test('no document runs a package of the public registry under a name of ours, which may belong to others there', () => {
  const root = join(import.meta.dirname, '../..');
  const documents = globSync(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'src/client/*.md'], { cwd: root });
  const commands = documents.flatMap((path) => readDocument(path).match(/npx [^\n`]*entity-service[\w-]*/g) ?? []);
  expect(commands.length).toBeGreaterThan(4);
  expect(commands.filter((command) => !command.startsWith('npx --no entity-service'))).toEqual([]);
});
