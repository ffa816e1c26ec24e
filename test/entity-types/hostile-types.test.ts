/** Types whose check or use would take long: they are refused with their place, and the process answers others meanwhile (rules 101 and 102). */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { TypeRegistry } from '../../src/entity-types/registry.ts';
import { AdminCommand } from '../support/admin.ts';
import type { Entity } from '../support/entities.ts';
import { useService, type ProblemBody } from '../support/service.ts';
import { storeDocument } from '../support/stored-document.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read', 'update', 'delete'] })).id);
});

let name = '';
let number = 0;
beforeEach(() => {
  name = `hostile${++number}`;
});
const put = (json: object) => service().call('PUT', `/rest/entity-type/${name}`, { cookie, json, headers: { 'if-none-match': '*' } });
const create = (json: object) => service().call<ProblemBody & Entity>('POST', `/rest/entity/${name}`, { cookie, json });
const faultsOf = ({ status, body }: { status: number; body: Pick<ProblemBody, 'errors'> }) => [
  status,
  ...(body.errors ?? []).map(({ code, pointer }) => `${code} ${pointer}`),
];
const patterns = (...each: string[]) => Object.fromEntries(each.map((pattern, n) => [`p${n}`, { type: 'string', pattern }]));

test.for<[about: string, properties: object, place: string]>([
  ['160 large repetitions', patterns(...Array.from({ length: 160 }, (_, n) => `a{1000}${n}`)), '/properties/p9/pattern'],
  ['one large repetition', patterns('((a{100}){100}){100}'), '/properties/p0/pattern'],
  ['700 classes of Unicode', patterns('[\\p{L}\\p{N}\\p{S}\\p{P}]'.repeat(175)), '/properties/p0/pattern'],
  ['ranges whose case is ignored', patterns('(?i)' + '[a-\uffff]'.repeat(100)), '/properties/p0/pattern'],
  [
    'such names',
    { a: { patternProperties: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${'\\p{L}'.repeat(20)}${n}`, {}])) } },
    '/properties/a/patternProperties',
  ],
])(
  '422 — the patterns of a document cost too much, which is counted before they are compiled: %s (rule 101)',
  async ([, properties, place]) => {
    expect(faultsOf(await put({ properties }))).toEqual([422, `too-costly ${place}`]);
  },
);

test('201 — a pattern that many properties have is compiled once (rule 101)', async () => {
  const properties = patterns(...Array.from({ length: 150 }, () => "^[\\p{L}\\p{M} .'-]{1,60}$"));
  expect((await put({ properties })).status).toBe(201);
  expect((await create({ p0: 'Zoë', p149: 'Łukasz' })).status).toBe(201);
  expect(faultsOf(await create({ p0: 'Zoë', p149: '2' }))).toEqual([422, 'invalid-value /p149']);
});

test('422 — a large pattern needs a maxLength beside it, and the refusal names the largest one (rule 102)', async () => {
  const document = (maxLength?: number) => ({ properties: { a: { pattern: '^[ab]*a[ab]{290}$', ...(maxLength && { maxLength }) } } });
  const refused = await put(document());
  expect(faultsOf(refused)).toEqual([422, 'invalid-value /properties/a/maxLength']);
  const [, largest] = /Maximum: ([\d,]+)/.exec(refused.body.errors?.[0]?.detail ?? '') ?? [];
  const maximum = Number(largest?.replaceAll(',', ''));
  expect(faultsOf(await put(document(maximum + 1)))).toEqual([422, 'invalid-value /properties/a/maxLength']);
  expect((await put(document(maximum))).status).toBe(201);
  expect((await create({ a: `ba${'b'.repeat(290)}` })).status).toBe(201);
  expect(faultsOf(await create({ a: 'b'.repeat(maximum) }))).toEqual([422, 'invalid-value /a']);
});

test('422 — the texts of one value together are too much work for the patterns; the place is that of the first text beyond (rule 102)', async () => {
  expect((await put({ properties: { a: { type: 'array', items: { pattern: '^[ab]*a[ab]{100}$' } } } })).status).toBe(201);
  const text = (letters: number) => `a${'b'.repeat(100)}`.padStart(letters, 'b');
  expect((await create({ a: [text(100_000), text(100_000)] })).status).toBe(201);
  expect(faultsOf(await create({ a: [...Array.from({ length: 4 }, (_, n) => text(100_000 + n)), 'x'] }))).toEqual([422, 'too-costly /a/2']);
  const { body } = await create({ a: [text(200)] });
  const update = (a: string[]) => service().call<ProblemBody & Entity>('POST', `/rest/entity/${name}/${body.key}`, { cookie, json: { a } });
  expect(faultsOf(await update([text(500_000)]))).toEqual([422, 'too-costly /a/0']);
  expect((await update([text(300)])).status).toBe(200);
});

test('422 — a stored type whose patterns take too long refuses writes and can be read, and doctor names it (rule 101)', async () => {
  expect((await put({ properties: { a: { pattern: 'a' } } })).status).toBe(201);
  const { body } = await create({ a: 'a' });
  const document = { properties: { a: { pattern: `(?i)${'[a-\uffff]'.repeat(2_000)}|a` } } };
  await storeDocument(service().db, name, document, 'api');
  const replica = await service().replica();
  const call = (method: string, path: string, json?: object) =>
    replica.call<ProblemBody & Entity>(method, `/rest/entity/${name}${path}`, { cookie, ...(json && { json }) });
  // A busy machine may need several attempts.
  await expect.poll(async () => faultsOf(await call('POST', '', { a: 'a' })), { timeout: 60_000 }).toEqual([422, 'type-too-costly ']);
  expect(faultsOf(await call('POST', `/${body.key}`, { a: 'b' }))).toEqual([422, 'type-too-costly ']);
  expect((await call('GET', `/${body.key}`)).body).toMatchObject({ fields: { a: 'a' } });
  expect((await call('GET', '?filter={"a":"a"}')).status).toBe(200);
  const reported: string[] = [];
  await new TypeRegistry(service().db, { entityTypes: 'open' }, (each, { code }) => reported.push(each, code)).find(name);
  expect(reported).toEqual([name, 'type-too-costly']);
  const { stdout } = await new AdminCommand(service().databaseUrl).run(['doctor']);
  expect(stdout).toContain(`the patterns of the entity type ${name} take too long to compile`);
});

test('422 — a stored type that an earlier version accepted and this one cannot check refuses writes and can be read (rule 151)', async () => {
  expect((await put({ properties: { at: { type: 'string' } } })).status).toBe(201);
  const { body } = await create({ at: '2026-11-26T10:00:00Z' });
  const document = { properties: { at: { type: 'string', format: 'date-time', formatMinimum: '2020-01-01' } } };
  expect(
    faultsOf(await service().call('PUT', `/rest/entity-type/${name}`, { cookie, json: document, headers: { 'if-match': '*' } })),
  ).toEqual([422, 'invalid-value /properties/at/formatMinimum']);
  await storeDocument(service().db, name, document, 'api');
  const replica = await service().replica();
  const call = (method: string, path: string, json?: object) =>
    replica.call<ProblemBody & Entity>(method, `/rest/entity/${name}${path}`, { cookie, ...(json && { json }) });
  expect(faultsOf(await call('POST', '', { at: '2026-11-26T10:00:00Z' }))).toEqual([422, 'type-not-supported ']);
  expect(faultsOf(await call('POST', `/${body.key}`, { at: '2026-11-26T11:00:00Z' }))).toEqual([422, 'type-not-supported ']);
  expect((await call('GET', `/${body.key}`)).body).toMatchObject({ fields: { at: '2026-11-26T10:00:00Z' }, version: 1 });
  expect((await call('GET', '?filter={"at":{"$gte":"2026-11-26T10:00:00Z"}}')).body).toMatchObject({ items: [{ key: body.key }] });
  const reported: unknown[] = [];
  await new TypeRegistry(service().db, { entityTypes: 'open' }, (...each) => reported.push(each)).find(name);
  expect(reported).toEqual([[name, { code: 'type-not-supported', pointers: ['/properties/at/formatMinimum'] }]]);
});

test.for<[document: object, place: string]>([
  [{ properties: { at: { allOf: {} } }, 'x-soft-delete': true }, '/properties/at/allOf'],
  [{ properties: { at: { type: 'string' } }, 'x-unique': 5, 'x-soft-delete': true }, '/x-unique'],
  [{ dependencies: { at: ['by'] }, 'x-soft-delete': true }, '/dependencies'],
])(
  '422 — a stored type with a keyword that this version does not read refuses writes, can be read, and goes on as it says: %j (rule 151)',
  async ([document, place]) => {
    expect((await put({ properties: { at: { type: 'string' } } })).status).toBe(201);
    const { body } = await create({ at: 'x' });
    await storeDocument(service().db, name, document, 'api');
    const replica = await service().replica();
    const call = (method: string, path: string, json?: object) =>
      replica.call<ProblemBody & Entity>(method, `/rest/entity/${name}${path}`, { cookie, ...(json && { json }) });
    expect(faultsOf(await call('POST', '', { at: 'y' }))).toEqual([422, 'type-not-supported ']);
    expect((await call('GET', '?filter={"at":"x"}')).body).toMatchObject({ items: [{ key: body.key }] });
    const reported: unknown[] = [];
    await new TypeRegistry(service().db, { entityTypes: 'open' }, (...each) => reported.push(each)).find(name);
    expect(reported).toEqual([[name, { code: 'type-not-supported', pointers: [place] }]]);
    expect((await call('DELETE', `/${body.key}`)).status).toBe(204);
    expect((await call('GET', '?deleted=only')).body).toMatchObject({ items: [{ key: body.key }] });
    expect(
      (
        await service().call('PUT', `/rest/entity-type/${name}`, {
          cookie,
          json: { properties: { at: { type: 'string' } } },
          headers: { 'if-match': '*' },
        })
      ).status,
    ).toBe(200);
  },
);
