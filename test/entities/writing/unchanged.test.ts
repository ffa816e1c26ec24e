/** A change that changes nothing writes nothing, whatever road it takes (rule 114). */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, type Entity } from '../../support/entities.ts';
import { race } from '../../support/races.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';

const service = useService();
let cookie: string;
const json = { 'content-type': 'application/json' };

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  const text = { type: 'string' };
  const properties = { code: text, note: text, rates: { type: 'array' }, at: { type: ['object', 'null'] } };
  await declareType(service(), 'part', { type: 'object', properties, 'x-unique': [{ fields: ['code'] }] });
  await declareType(service(), 'guarded', { type: 'object', properties: { n: { type: 'integer' } }, 'x-if-match': 'required' });
});

type Body = Entity & ProblemBody & { results?: { status: number; entity: Entity }[] };
const send = (method: string, path: string, call: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, path, { cookie, ...call });
const raw = (text: string) => ({ raw: text, headers: json });
const pathOf = ({ name, key }: Entity) => `/rest/entity/${name}/${key}`;

/** All that a write would leave: the row with its transaction, its versions, its events. */
async function tracesOf({ name, key }: Entity) {
  const { rows } = await sql`
    select version, updated_at::text, updated_by, xmin::text, xmax::text, ctid::text, fields::text,
      (select count(*)::int from entity_change where entity_change.name = entity.name and entity_change.key = entity.key) as versions,
      (select count(*)::int from audit_event where detail ->> 'key' = entity.key::text) as events
    from entity where name = ${name} and key = ${key}`.execute(service().db);
  return rows[0];
}

let count = 0;
/** Fields as JSON text. `size` makes an entity that goes alone. */
const fieldsOf = (size: number) =>
  `{"code":"c${++count}","note":"${'x'.repeat(size)}","rates":[1.50,1,0,{"a":null}],"at":{"b":{"c":1}},"open":1.0}`;
const created = async (name: string, text: string): Promise<Entity> => (await send('POST', `/rest/entity/${name}`, raw(text))).body;
const batch = (...operations: object[]) => send('POST', '/rest/batch', { json: { operations } });

/** Roads of a change, each with the entity and its fields as JSON text. */
const roads: Record<string, (entity: Entity, text: string) => Promise<Answer<Body>>> = {
  'an empty update': (entity) => send('POST', pathOf(entity), raw('{}')),
  'an update with what is there': (entity, text) => send('POST', pathOf(entity), raw(text)),
  'an update of a part, deep inside': (entity) =>
    send('POST', pathOf(entity), raw('{"at":{"b":{"c":1,"none":null},"x":null},"none":null}')),
  'an update with If-Match': (entity) => send('POST', pathOf(entity), { ...raw('{"open":1.0}'), headers: { ...json, 'if-match': '"1"' } }),
  'an update with an Idempotency-Key': (entity) =>
    send('POST', pathOf(entity), { ...raw('{}'), headers: { ...json, 'idempotency-key': entity.key } }),
  'an upsert': (entity, text) => send('POST', `/rest/entity/${entity.name}/upsert?by=code`, raw(text)),
  'an upsert with an Idempotency-Key': (entity, text) =>
    send('POST', `/rest/entity/${entity.name}/upsert?by=code`, { raw: text, headers: { ...json, 'idempotency-key': entity.key } }),
  'a batch': (entity) => batch({ op: 'update', name: entity.name, key: entity.key, fields: { code: entity.fields['code'] } }),
  'an operation of a batch that is no transaction': (entity) =>
    send('POST', '/rest/batch', {
      json: { atomic: false, operations: [{ op: 'update', name: entity.name, key: entity.key, fields: {} }] },
    }),
  'a restore of the present version': (entity) => send('POST', `${pathOf(entity)}/restore?version=1`),
  'a restore with an Idempotency-Key': (entity) =>
    send('POST', `${pathOf(entity)}/restore?version=1`, { headers: { 'idempotency-key': `r${entity.key}` } }),
};
const sizes: [what: string, size: number][] = [
  ['small', 10],
  ['heavy', 20_000],
];

describe.for(Object.keys(roads))('%s that changes nothing', (road) => {
  test.for(sizes)('200 — answers with the present version of a %s entity, and writes nothing (rule 114)', async ([, size]) => {
    const names = road.includes('upsert') ? ['part'] : ['part', 'free'];
    for (const name of names) {
      const text = fieldsOf(size);
      const entity = await created(name, text);
      const before = await tracesOf(entity);
      for (let round = 0; round < 2; round++) {
        const answer = await roads[road]?.(entity, text);
        expect(answer?.status, answer?.text.slice(0, 500)).toBe(200);
        const after = answer?.body.results?.[0]?.entity ?? answer?.body;
        expect(after).toEqual(entity);
        if (!answer?.body.results) expect(answer?.headers.get('etag')).toBe('"1"');
        expect(await tracesOf(entity)).toEqual(before);
      }
    }
  });
});

test('200 — an empty update of an entity of almost a megabyte leaves no trace (rule 114)', async () => {
  const entity = await created('free', fieldsOf(900_000));
  const before = await tracesOf(entity);
  for (let round = 0; round < 3; round++) expect((await send('POST', pathOf(entity), { json: {} })).body.version).toBe(1);
  expect(await tracesOf(entity)).toEqual(before);
});

test('200 — other digits, another order of a list and a null that removes are changes; the order of members is none (rule 114)', async () => {
  const entity = await created('free', '{"n":1.50,"list":[1,2],"o":{"a":1,"b":2},"gone":1,"empty":{}}');
  const unchanged = [
    '{"n":1.50}',
    '{"o":{"b":2,"a":1}}',
    '{"o":{}}',
    '{"empty":{}}',
    '{"list":[1,2]}',
    '{"no":null}',
    '{"empty":{"x":null}}',
  ];
  for (const patch of unchanged) expect((await send('POST', pathOf(entity), raw(patch))).body.version, patch).toBe(1);
  const changes = [
    '{"n":1.5}',
    '{"n":1.50}',
    '{"list":[2,1]}',
    '{"list":[2]}',
    '{"list":[2,2]}',
    '{"gone":null}',
    '{"empty":[]}',
    '{"new":{}}',
  ];
  for (const [index, patch] of changes.entries())
    expect((await send('POST', pathOf(entity), raw(patch))).body.version, patch).toBe(index + 2);
});

test('404, 403, 412, 422 and 428 — rights, preconditions, rules and keys hold for a change that changes nothing (rule 114)', async () => {
  const entity = await created('guarded', '{"n":1}');
  const stranger = await service().openSession(
    (await service().createUser('eve', { '*': { actions: ['read', 'update'], condition: 'own' } })).id,
  );
  const reader = await service().openSession((await service().createUser('rita', { '*': ['read'] })).id);
  const key = { 'idempotency-key': 'once', 'if-match': '"1"' };
  const refused: [number, string, Call][] = [
    [428, 'precondition-required', { json: {} }],
    [412, 'precondition-failed', { json: {}, headers: { 'if-match': '"2"' } }],
    [404, 'not-found', { json: {}, headers: { 'if-match': '"1"' }, cookie: stranger }],
    [403, 'forbidden', { json: {}, headers: { 'if-match': '"1"' }, cookie: reader }],
  ];
  for (const [status, code, call] of refused) {
    const answer = await send('POST', pathOf(entity), call);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  }
  expect((await send('POST', pathOf(entity), { json: {}, headers: key })).status).toBe(200);
  const other = await send('POST', pathOf(entity), { json: { n: 1 }, headers: key });
  expect([other.status, other.body.code]).toEqual([422, 'idempotency-key-reused']);
  // The present fields do not fit the type any more.
  const old = await created('later', '{"n":"text"}');
  await service().call('PUT', '/rest/entity-type/later?allowUnfit=1', {
    headers: { 'if-none-match': '*', ...(await typeKey()) },
    json: { type: 'object', properties: { n: { type: 'integer' } } },
  });
  const unfit = await send('POST', pathOf(old), { json: {} });
  expect([unfit.status, unfit.body.errors?.[0]?.pointer]).toEqual([422, '/n']);
  expect((await send('POST', pathOf(old), { json: { n: 2 } })).body.version).toBe(2);
});

const typeKey = async () => {
  const { id } = await service().createUser('typist', { '*': ['read', 'type'] });
  return { 'x-api-key': await service().createKey(id) };
};

test('200 — of equal updates at once one writes, together with others and alone (rule 114)', async () => {
  for (const size of [1, 20_000]) {
    const entity = await created('free', fieldsOf(size));
    const answers = await race(12, (n) => send('POST', pathOf(entity), raw(n % 3 ? '{"state":"done"}' : '{}')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await tracesOf(entity)).toMatchObject({ version: '2', versions: 2, events: 2 });
    for (const [n, { body }] of answers.entries()) if (n % 3) expect([body.version, body.fields['state']]).toEqual([2, 'done']);
  }
});

test('200 — an update that waits for a row, and finds it as it wants it, writes nothing (rule 114)', async () => {
  const entity = await created('free', '{"state":"new"}');
  let answer: Promise<Answer<Body>> | undefined;
  await service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`update entity set fields = fields || '{"state":"done"}', version = 2 where key = ${entity.key}`.execute(trx);
      answer = send('POST', pathOf(entity), { json: { state: 'done' } });
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await waiting.execute(service().db)).rows.length).toBe(1);
    });
  expect((await answer)?.body).toMatchObject({ version: 2, fields: { state: 'done' } });
  expect(await tracesOf(entity)).toMatchObject({ version: '2', versions: 1, events: 1 });
});
