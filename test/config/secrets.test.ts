import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Secret } from '../../src/config/secrets.ts';
import { readConfig } from '../../src/config/settings.ts';
import { settingsInForce } from '../../src/telemetry/logging.ts';
import { codeOf, readDocument, tableRows } from '../support/markdown.ts';

const canary = 'canary-0123456789-0123456789-Vd6kp1';
const names = tableRows(readDocument('docs/settings.md')).map(([name]) => codeOf(name));
const secretNames = names.filter((name) => /PASSWORD$|TOKEN$|SECRET$|KEY$|^DATABASE_(\w+_)?URL$/.test(name));
const valueOf = (name: string) =>
  name.endsWith('_URL') ? `postgres://ada:${canary}@db.example.com:5433/entities?sslpassword=${canary}` : canary;
const config = readConfig(Object.fromEntries(secretNames.map((name) => [name, valueOf(name)])));
/** The name in the configuration: `adminPassword` for `ADMIN_PASSWORD`. */
const memberOf = (name: string) => name.toLowerCase().replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());

test('each setting that contains a secret is a Secret (rule 84)', () => {
  expect(secretNames).toEqual(
    expect.arrayContaining(['ADMIN_PASSWORD', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL', 'DATABASE_URL', 'METRICS_TOKEN']),
  );
  for (const name of secretNames) {
    const secret: unknown = config[memberOf(name) as keyof typeof config];
    expect(secret, name).toBeInstanceOf(Secret);
    expect((secret as Secret).reveal(), name).toBe(valueOf(name));
  }
});

test('the whole configuration as text, JSON, a log line and in a debugger shows no secret (rule 84)', async () => {
  const stream = new PassThrough();
  pino(stream).info({ config, settings: settingsInForce(config) }, Object.values(config).join());
  const [line] = (await once(stream, 'data')) as [Buffer];
  const texts = [
    line.toString(),
    JSON.stringify(config),
    JSON.stringify(settingsInForce(config)),
    inspect(config, { depth: Infinity, showHidden: true, getters: true }),
  ];
  for (const text of texts) expect(text).not.toContain(canary);
  expect(settingsInForce(config)).toMatchObject({ publicUrl: 'http://localhost:3000', trustedOrigins: [], port: 3000 });
  expect(JSON.parse(JSON.stringify(settingsInForce(config)))).toMatchObject({
    adminPassword: '(set)',
    metricsToken: '(set)',
    databaseUrl: 'db.example.com:5433/entities',
    databaseDirectUrl: 'db.example.com:5433/entities',
  });
});
