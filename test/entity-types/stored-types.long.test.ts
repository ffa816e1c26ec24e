/** Documents that version 0.1.0 accepted and a declaration of this version refuses: each is loaded, and no request of its name is a 500 (rule 151). */
import { beforeAll, expect, test } from 'vitest';
import { compileType } from '../../src/entity-types/compile.ts';
import { faultsOfDocument } from '../../src/entity-types/document.ts';
import type { TypeSource } from '../../src/entity-types/store.ts';
import { AdminCommand } from '../support/admin.ts';
import type { Entity } from '../support/entities.ts';
import { useService, type ProblemBody } from '../support/service.ts';
import { storeDocument } from '../support/stored-document.ts';

const limit = (format: string, keyword: string, value: string) => ({ properties: { a: { type: 'string', format, [keyword]: value } } });
/** One more than the rules that a declaration may have. */
const fieldNames = 'abcdefghi'.split('');

/** `checked` documents have a meaning still, so that their entities can be written. */
const documents: Readonly<Record<string, { source: TypeSource; isChecked?: true; document: object }>> = {
  dateAsInstant: { source: 'api', document: limit('date-time', 'formatMinimum', '2020-01-01') },
  shortDate: { source: 'files', document: limit('date', 'formatMinimum', '2020-1-1') },
  leapSecond: { source: 'api', document: limit('time', 'formatMaximum', '23:59:60Z') },
  noZone: { source: 'api', document: limit('time', 'formatExclusiveMinimum', '10:00:00') },
  noLimit: { source: 'files', document: limit('date-time', 'formatExclusiveMaximum', '') },
  noDate: { source: 'api', document: limit('date', 'formatMinimum', 'nonsense') },
  isoTime: { source: 'api', document: limit('iso-time', 'formatMinimum', '10:00') },
  ownDefinition: { source: 'api', document: { $defs: { a: { $ref: '#/$defs/a' } } } },
  circleOfTwo: { source: 'api', document: { $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } } },
  circleInNot: { source: 'files', document: { $defs: { a: { not: { $ref: '#/$defs/a' } } } } },
  circleInThen: { source: 'api', document: JSON.parse('{"$defs":{"a":{"then":{"$ref":"#/$defs/a"}}}}') as object },
  rootRefersToItself: { source: 'files', document: { $ref: '#' } },
  circleInDependents: { source: 'files', document: { dependentSchemas: { a: { $ref: '#' } } } },
  noDynamicAnchor: { source: 'files', document: { properties: { a: { $dynamicRef: '#nope' } } } },
  dividedAnchors: {
    source: 'files',
    document: {
      $id: 'http://example.com/a',
      $dynamicAnchor: 'n',
      properties: { a: { $dynamicRef: '#n' } },
      $defs: { b: { $id: 'b', $dynamicAnchor: 'n', type: 'string' }, c: { $id: 'c' } },
    },
  },
  noUri: { source: 'files', document: { $id: 'http://[' } },
  uriWithSpace: { source: 'files', isChecked: true, document: { $id: 'a b', properties: { a: { type: 'string' } } } },
  innerDialect: {
    source: 'api',
    isChecked: true,
    document: { properties: { a: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'string' } } },
  },
  manyRules: {
    source: 'files',
    isChecked: true,
    document: {
      properties: Object.fromEntries(fieldNames.map((name) => [name, { type: 'string' }])),
      'x-unique': fieldNames.map((name) => ({ fields: [name] })),
    },
  },
  largePattern: { source: 'api', isChecked: true, document: { properties: { a: { pattern: '^(?:[a-z]{200}|2.*)$' } } } },
};
const names = Object.keys(documents);

const service = useService();
let cookie: string;
let replica: Awaited<ReturnType<ReturnType<typeof service>['replica']>>;
const keys = new Map<string, string>();
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read', 'update', 'delete'] })).id);
  for (const [name, { source, document }] of Object.entries(documents)) {
    await service().call('PUT', `/rest/entity-type/${name}`, { cookie, json: {}, headers: { 'if-none-match': '*' } });
    const { body } = await service().call<Entity>('POST', `/rest/entity/${name}`, { cookie, json: { a: '2026-11-26T10:00:00Z' } });
    keys.set(name, body.key);
    await storeDocument(service().db, name, document, source);
  }
  replica = await service().replica();
});

test.for(names)('%s: a declaration refuses it', (name) => {
  const { source, document } = documents[name] ?? { source: 'api', document: {} };
  expect(faultsOfDocument(document, source)).not.toEqual([]);
});

test('doctor names the types that are not checked and the places, and `types status` counts their entities as unfit', async () => {
  const doctor = await new AdminCommand(service().databaseUrl).run(['doctor']);
  const status = await new AdminCommand(service().databaseUrl).run(['types', 'status']);
  for (const [name, { isChecked = false }] of Object.entries(documents)) {
    expect(doctor.stdout.includes(`cannot check the entity type ${name}, because of /`), name).toBe(!isChecked);
    expect(status.stdout, name).toMatch(new RegExp(`${name} +\\d+ +${isChecked ? 'ready +1 +0' : 'unchecked +1 +1'}`));
  }
  expect(doctor.stdout).toContain('dateAsInstant, because of /properties/a/formatMinimum: its entities can be read, but not written');
});

test.for(names)('200 — %s: its entities can be read, deleted, and written again after a new declaration', async (name) => {
  const { isChecked = false } = documents[name] ?? {};
  const path = `/rest/entity/${name}`;
  const key = keys.get(name) ?? '';
  const call = (method: string, to: string, options: { json?: object; headers?: Record<string, string> } = {}) =>
    replica.call<ProblemBody & Entity>(method, to, { cookie, ...options });
  expect((await call('GET', `${path}/${key}`)).status).toBe(200);
  expect(await call('GET', `${path}?filter={"a":{"$ne":null}}`)).toMatchObject({ status: 200, body: { items: [{ key }] } });
  expect((await call('GET', `${path}?sort=a`)).status).toBe(200);
  expect((await call('GET', '/rest/entity-type/' + name)).status).toBe(200);
  const json = { a: '2026-11-26T11:00:00Z' };
  const refused = { status: 422, body: { errors: [{ code: 'type-not-supported', pointer: '' }] } };
  expect(await call('POST', path, { json })).toMatchObject(isChecked ? { status: 201 } : refused);
  expect(await call('POST', `${path}/${key}`, { json })).toMatchObject(isChecked ? { status: 200 } : refused);
  const ifMatch = { 'if-match': (await call('GET', `/rest/entity-type/${name}`)).headers.get('etag') ?? '' };
  expect(
    (await call('PUT', `/rest/entity-type/${name}`, { json: { properties: { a: { type: 'string' } } }, headers: ifMatch })).status,
  ).toBe(200);
  expect((await call('POST', `${path}/${key}`, { json: { a: 'x' } })).status).toBe(200);
  expect((await call('DELETE', `${path}/${key}`)).status).toBe(204);
});

test('a validator of the documents that are not checked cannot be made', () => {
  for (const { source, isChecked, document } of Object.values(documents)) {
    const compile = () => compileType('1', { ...document }, source);
    if (isChecked) expect(compile).not.toThrow();
    else expect(compile).toThrow('no validator of');
  }
});
