/** The Helm chart, as far as it can be checked without helm. `chart.long.test.ts` renders it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readVersion } from '../../src/config/version.ts';
import { readDocument, section, tableRows, codeOf } from '../support/markdown.ts';

const chart = join(import.meta.dirname, '../../deploy/helm/entity-service');
const read = (name: string) => readFileSync(join(chart, name), 'utf8');
const schema = JSON.parse(read('values.schema.json')) as { properties: { settings: { propertyNames: { not: { enum: string[] } } } } };
const isAccepted = new Ajv({ strict: false }).compile(schema);
const values = parse(read('values.yaml')) as Record<string, unknown>;
const needed = {
  image: { repository: 'registry.example.com/entity-service' },
  publicUrl: 'https://api.example.com',
  secrets: { databaseUrl: { name: 'entities', key: 'DATABASE_URL' } },
};

test('the chart is of the version of the service', () => {
  expect(parse(read('Chart.yaml'))).toMatchObject({ version: readVersion(), appVersion: readVersion() });
});

test('the values of the chart with those that docs/kubernetes.md needs are accepted, and without them refused', () => {
  const [, written = ''] = /```yaml\n([^`]*)```/.exec(readDocument('docs/kubernetes.md')) ?? [];
  const image = { ...(values['image'] as object), ...needed.image };
  const secrets = { ...(values['secrets'] as object), ...needed.secrets };
  expect(isAccepted({ ...values, ...needed, image, secrets }), JSON.stringify(isAccepted.errors)).toBe(true);
  expect(Object.keys(parse(written) as object)).toEqual(Object.keys(needed));
  expect(isAccepted(values)).toBe(false);
});

test.each([
  ['a name that the chart does not have', { replica: 3 }],
  ['an address without https', { publicUrl: 'http://api.example.com' }],
  ['a secret as a text', { secrets: { databaseUrl: 'postgres://…' } }],
  ['a secret among the settings', { settings: { METRICS_TOKEN: 'a-token-of-at-least-32-characters' } }],
  ['a secret of traces among the settings', { settings: { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer secret' } }],
  ['a password of libpq among the settings', { settings: { PGPASSWORD: 'secret' } }],
  ['a directory that no volume has', { settings: { BACKUP_DIR: '/backups' } }],
  ['an archive of the embedded database', { settings: { ARCHIVE_DIR: '/archive' } }],
  ['a misspelt setting', { settings: { LOG_LEVLE: 'debug' } }],
  ['a migration without its address', { migration: { enabled: true } }],
  ['a digest that is none', { image: { repository: 'a', digest: 'latest' } }],
])('%s is refused', (_, wrong) => {
  expect(isAccepted(needed)).toBe(true);
  expect(isAccepted({ ...needed, ...wrong })).toBe(false);
});

test('the settings that the chart makes are settings of the service, and no value of `settings` may be one of them', () => {
  const templates = globSync('templates/*.yaml', { cwd: chart }).map(read).join('\n');
  const made = [...templates.matchAll(/\{ name: ([A-Z_]+), value/g), ...templates.matchAll(/"([A-Z_]+)" \./g)].map(([, name]) => name);
  expect(made.length).toBeGreaterThan(8);
  const settings = tableRows(readDocument('docs/settings.md')).map(([name]) => codeOf(name));
  for (const name of made) {
    expect(settings).toContain(name);
    expect(schema.properties.settings.propertyNames.not.enum).toContain(name);
  }
});

test('each setting is accepted as a text of `settings`, except for secrets and those that the chart makes itself', () => {
  const settings = tableRows(readDocument('docs/settings.md')).map(([name]) => codeOf(name));
  const { enum: refused } = schema.properties.settings.propertyNames.not;
  for (const name of settings) expect(isAccepted({ ...needed, settings: { [name]: 'x' } }), name).toBe(!refused.includes(name));
  for (const name of ['OTEL_SERVICE_NAME', 'OTEL_BSP_MAX_QUEUE_SIZE', 'TZ'])
    expect(isAccepted({ ...needed, settings: { [name]: 'x' } }), name).toBe(true);
});

test('docs/kubernetes.md has every secret of the chart', () => {
  const rows = tableRows(section(readDocument('docs/kubernetes.md'), '## Secrets')).map(([name]) => codeOf(name));
  const names = Object.keys(values['secrets'] as object).map((name) => `secrets.${name}`);
  expect(rows.toSorted()).toEqual([...names, 'secretEnvironment'].toSorted());
});
