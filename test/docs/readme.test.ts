import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { readConfig } from '../../src/config/settings.ts';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';

const project = join(import.meta.dirname, '../..');
const text = readDocument('README.md');

/** Every setting that is looked for. */
function settingsRead(): Set<string> {
  const names = new Set<string>();
  const environment = new Proxy<Record<string, string>>({}, { get: (_target, name) => void names.add(String(name)) });
  readConfig(environment);
  return names;
}

describe('the settings in README.md', () => {
  const rows = tableRows(section(text, '## Settings')).map(([name, fallback = '']) => ({ name: codeOf(name), fallback }));

  test('are those that the service reads, and no others', () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...settingsRead()].toSorted());
  });

  test.each(rows.filter(({ fallback }) => fallback !== ''))('$name has the default it says', ({ name, fallback }) => {
    expect(readConfig({ [name]: codeOf(fallback) })).toEqual(readConfig({}));
  });
});

test('the scripts in README.md are those of package.json, and no others', () => {
  const names = tableRows(section(text, '## Scripts')).map(([command]) => codeOf(command).replace(/^npm (run )?/, ''));
  expect(names.toSorted()).toEqual(Object.keys(packageJson.scripts).toSorted());
});

test('the map in README.md has every folder of the code, and no others', () => {
  const places = tableRows(section(text, '## Map of the code')).map(([place]) => codeOf(place));
  for (const place of places) expect(existsSync(join(project, place)), place).toBe(true);
  const folders = readdirSync(join(project, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(places.filter((place) => place.startsWith('src/')).toSorted()).toEqual(folders.map(({ name }) => `src/${name}`).toSorted());
});

const documents = ['README.md', 'CHANGELOG.md', ...readdirSync(join(project, 'docs')).map((name) => `docs/${name}`)];

test.each(documents.filter((name) => name.endsWith('.md')))('what %s links to in this project is there', (name) => {
  const targets = [...readDocument(name).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => join(dirname(name), target));
  for (const target of targets) expect(existsSync(join(project, target)), target).toBe(true);
});
