/** `GET /rest/entity/{name}/export`: all entities that the caller may read, as a stream. */
import { sql } from 'kysely';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { exportLimits } from '../../src/entities/querying/export-page.ts';
import { declareType, seed } from '../support/entities.ts';
import { writeTypes } from '../support/lists.ts';
import type { RuleDocument } from '../../src/rights/rule.ts';
import { callerWith } from '../support/rules.ts';
import { useService, type Call } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

let number = 0;
const newName = () => `article${++number}`;
let key = 1_000_000;
const store = async (name: string, fields: object | string, owner = 'ada') => await seed(service(), name, String(++key), fields, owner);
const get = async (path: string, by = cookie, headers: Record<string, string> = {}) =>
  await service().call('GET', `/rest/entity/${path}`, { cookie: by, headers });
const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { key: string; fields: object; $complete: boolean; entities: number; problem?: { code: string } });

test('200 — each line is an entity as GET has it with the name of the database, by key, and the last line says that the export is complete', async () => {
  const name = newName();
  for (let n = 0; n < 3; n++) await store(name, `{"n": ${n}, "price": 1.50}`);
  const { status, headers, text } = await get(`${name}/export`);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  const [first = '', ...others] = text.trimEnd().split('\n');
  const [, database = ''] = /,"database":"(db[0-9a-f]{16})"\}$/.exec(first) ?? [];
  expect(first.replace(`,"database":"${database}"}`, '}')).toBe((await get(`${name}/${linesOf(first)[0]?.key}`)).text);
  expect(first).toContain('"price": 1.50');
  expect(others.at(-1)).toMatch(/^\{"\$complete":true,"entities":3(,"position":"\d+")?,"database":"db[0-9a-f]{16}"\}$/);
  expect(others.at(-1)).toContain(database);
  expect(
    linesOf(text)
      .slice(0, -1)
      .map(({ fields }) => fields),
  ).toEqual([0, 1, 2].map((n) => ({ n, price: 1.5 })));
});

test('200 — a filter and fields as in lists, over several parts', async () => {
  const name = newName();
  await service()
    .db.insertInto('entity')
    .values(
      Array.from({ length: 2_500 }, (_, n) => ({
        name,
        fields: JSON.stringify({ n, odd: n % 2 === 1 }),
        created_by: 'ada',
        updated_by: 'ada',
      })),
    )
    .execute();
  const all = linesOf((await get(`${name}/export`)).text);
  expect([all.length, all.at(-1)]).toMatchObject([2_501, { $complete: true, entities: 2_500 }]);
  const filter = encodeURIComponent('{"odd":true}');
  const odd = linesOf((await get(`${name}/export?filter=${filter}&fields=n`)).text);
  expect(odd.slice(0, -1).map(({ fields }) => fields)).toEqual(Array.from({ length: 1_250 }, (_, n) => ({ n: 2 * n + 1 })));
});

test('200 — a part that takes PostgreSQL too long ends the export with busy in its last line, not with a fault of the service', async () => {
  const name = newName();
  await store(name, { n: 1 });
  const filter = encodeURIComponent('{"n":1}');
  const usual = exportLimits.timeMs;
  exportLimits.timeMs = 50;
  onTestFinished(() => void (exportLimits.timeMs = usual));
  const last = await service().store.transaction(async (trx) => {
    await sql`lock table entity in access exclusive mode`.execute(trx);
    return linesOf((await get(`${name}/export?filter=${filter}`)).text);
  });
  expect(last).toMatchObject([{ $complete: false, entities: 0, problem: { code: 'busy', errors: [{ code: 'time-limit' }] } }]);
  exportLimits.timeMs = usual;
  expect(linesOf((await get(`${name}/export?filter=${filter}`)).text).at(-1)).toMatchObject({ $complete: true, entities: 1 });
});

const text = { type: 'string' };
const order = {
  type: 'object',
  properties: {
    title: text,
    total: { type: 'string', format: 'decimal' },
    count: { type: 'integer' },
    paid: { type: 'boolean' },
    address: { type: 'object', properties: { city: text, zip: text } },
    tags: { type: 'array', items: text },
    'a.b': text,
  },
};

test('200 — CSV has a column for each declared field, and what has none in the last column', async () => {
  const name = newName();
  await declareType(service(), name, order);
  await store(name, {
    title: 'a "b"\r\nc',
    total: '1.50',
    count: 3,
    paid: false,
    address: { city: 'London', zip: '007' },
    tags: ['x', 'y'],
  });
  await store(name, '{"title": "", "total": null, "count": 10.00, "address": {}, "a.b": "dot", "more": [1.0]}');
  await store(name, { title: '\\N', address: { city: 'Paris', more: 1 }, count: 'unfit' });
  const { headers, text } = await get(`${name}/export?format=csv`);
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(text.replaceAll(/^\d+/gm, 'KEY').replace(/db[0-9a-f]{16}/, 'DB')).toBe(
    [
      '$key,title,total,count,paid,address.city,address.zip,tags,$fields,$database=DB',
      'KEY,"a ""b""\r\nc",1.50,3,false,London,007,"[""x"", ""y""]",,',
      'KEY,"",\\N,10.00,,,,,"{""a.b"":""dot"",""more"":[1.0],""address"":{}}",',
      'KEY,"\\N",,,,Paris,,,"{""count"":""unfit"",""address"":{""more"":1}}",',
      '',
    ].join('\r\n'),
  );
});

test('200 — CSV of a name without a type has all fields in one column, and with fields one for each', async () => {
  const name = newName();
  await store(name, { a: 'text', b: { c: 1 } });
  expect((await get(`${name}/export?format=csv`)).text).toMatch(
    /^\$key,\$fields,\$database=\w+\r\n\d+,"{""a"":""text"",""b"":{""c"": 1}}",\r\n$/,
  );
  expect((await get(`${name}/export?format=csv&fields=a,b.c`)).text).toMatch(/^\$key,a,b\.c,\$database=\w+\r\n\d+,text,1,\r\n$/);
});

test('200 — csvSafe puts an apostrophe in front of texts that a spreadsheet would take for a formula, and of no number', async () => {
  const name = newName();
  await declareType(service(), name, order);
  for (const title of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', "'=1", 'plain']) await store(name, { title, count: -1 });
  const titles = async (query: string) =>
    (await get(`${name}/export?fields=title,count&format=csv${query}`)).text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.replace(/^\d+,/, '').replace(/,$/, ''));
  expect(await titles('')).toEqual(['=1+1,-1', '+1,-1', '-1,-1', '@SUM(A1),-1', '"\t=1",-1', "'=1,-1", 'plain,-1']);
  expect(await titles('&csvSafe=true')).toEqual(["'=1+1,-1", "'+1,-1", "'-1,-1", "'@SUM(A1),-1", '"\'\t=1",-1', "''=1,-1", 'plain,-1']);
});

test('200, 406 — Accept chooses the format, and format goes before it', async () => {
  const name = newName();
  const typeFor = async (accept: string, query = '') => {
    const answer = await get(`${name}/export${query}`, cookie, { accept });
    return answer.status === 200 ? answer.headers.get('content-type')?.split(';')[0] : answer.status;
  };
  expect(await typeFor('*/*')).toBe('application/x-ndjson');
  expect(await typeFor('text/csv')).toBe('text/csv');
  expect(await typeFor('text/*;q=0.5, application/x-ndjson;q=0.4')).toBe('text/csv');
  expect(await typeFor('text/csv', '?format=ndjson')).toBe('application/x-ndjson');
  expect(await typeFor('application/json')).toBe(406);
  expect(await typeFor('text/csv;q=0, */*')).toBe('application/x-ndjson');
});

test('200 — a caller who reads own entities gets those alone (rule 64)', async () => {
  const name = newName();
  const user = await service().createUser('owner', { [name]: { actions: ['read'], condition: 'own' } });
  const owner = await service().openSession(user.id);
  await store(name, { of: 'ada' });
  await store(name, { of: 'owner' }, 'owner');
  expect(linesOf((await get(`${name}/export`)).text)).toHaveLength(3);
  expect(linesOf((await get(`${name}/export`, owner)).text)).toMatchObject([{ fields: { of: 'owner' } }, { $complete: true, entities: 1 }]);
  expect((await get(`${name}/export?format=csv`, owner)).text.split('\r\n')).toHaveLength(3);
});

test('200 — the last line says `partial` to a caller whose grants do not cover all entities, as a page does, and to no other', async () => {
  const name = newName();
  await store(name, { region: 'north', margin: '5' });
  const ruled = (user: string, rule: RuleDocument) => callerWith(service(), `${user}-${name}`, [{ entity: name, actions: ['read'], rule }]);
  const [regional, masked] = [await ruled('regional', { filter: { region: 'north' } }), await ruled('masked', { read: ['*', '-margin'] })];
  const whole = { $complete: true, entities: 1 };
  const lastOf = async ({ cookie }: Call) => linesOf((await get(`${name}/export`, cookie)).text).at(-1);
  for (const [caller, isPartial] of [
    [regional, true],
    [masked, false],
  ] as const) {
    expect(await lastOf(caller)).toMatchObject({ ...whole, ...(isPartial && { partial: true }) });
    expect('partial' in ((await lastOf(caller)) ?? {})).toBe(isPartial);
    expect(JSON.parse((await get(name, caller.cookie)).text).partial).toBe(isPartial || undefined);
  }
});

test('200, 403 — an export is in the audit trail with its caller and the name, once a minute; a refused one is there as refused', async () => {
  const name = newName();
  const reader = await service().openSession((await service().createUser('exporter', { [name]: ['read'] })).id);
  for (const path of [`${name}/export`, `${name}/export`, `${name}/export?format=csv`, 'payroll/export']) await get(path, reader);
  const { rows } = await sql<object>`select event, outcome, detail from audit_event where user_name = 'exporter' order by id`.execute(
    service().db,
  );
  expect(rows).toEqual([
    { event: 'entity.exported', outcome: 'ok', detail: { entity: name, format: 'ndjson' } },
    { event: 'entity.exported', outcome: 'ok', detail: { entity: name, format: 'csv', leftOut: 1 } },
    { event: 'permission.denied', outcome: 'refused', detail: expect.objectContaining({ entity: 'payroll' }) as object },
  ]);
});

test('403 — a caller who may not read the entities gets none', async () => {
  const name = newName();
  await store(name, {});
  const writer = await service().openSession((await service().createUser('writer', { '*': ['create', 'update', 'delete'] })).id);
  expect((await get(`${name}/export`)).status).toBe(200);
  expect((await get(`${name}/export`, writer)).status).toBe(403);
});

test('400, 422 — a filter that is no JSON, and fields and filters that are not accepted', async () => {
  const name = newName();
  await declareType(service(), name, { ...order, additionalProperties: false });
  expect((await get(`${name}/export?fields=title`)).status).toBe(200);
  expect((await get(`${name}/export?filter={`)).status).toBe(400);
  expect((await get(`${name}/export?format=xml`)).status).toBe(400);
  expect((await get(`${name}/export?filter=${encodeURIComponent('{"nothing":1}')}`)).status).toBe(422);
  expect((await get(`${name}/export?fields=nothing`)).status).toBe(422);
});

test('404 — a name without a type, where only declared names exist', async () => {
  const strict = await service().replica({
    ENTITY_TYPES: 'declared',
    ENTITY_TYPES_DIR: await writeTypes({ exported: { type: 'object' } }),
  });
  try {
    expect((await strict.call('GET', '/rest/entity/exported/export', { cookie })).status).toBe(200);
    expect((await strict.call('GET', `/rest/entity/${newName()}/export`, { cookie })).status).toBe(404);
  } finally {
    await strict.close();
  }
});
