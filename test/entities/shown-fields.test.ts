/** Each road that answers with the fields of an entity needs `read` of it, also one that changes the entity (rule 116). */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, rowsOf, type Entity } from '../support/entities.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

const service = useService();
/** The caller may change all entities, and read its own. */
let caller: Call;
let admin: Call;
const changes = ['create' as const, 'update' as const, 'delete' as const, 'purge' as const];

beforeAll(async () => {
  const { id } = await service().createUser('half', { '*': { actions: ['read'], condition: 'own' }, note: changes });
  caller = { cookie: await service().openSession(id) };
  admin = { cookie: await service().openSession((await service().createUser('ada')).id) };
  const properties = { code: { type: 'string' }, parent: { type: ['string', 'null'], format: 'int64' } };
  const rules = { 'x-unique': [{ fields: ['code'] }], 'x-references': { parent: { to: 'note' } } };
  await declareType(service(), 'note', { type: 'object', properties, ...rules, 'x-soft-delete': true });
});

const send = (who: Call, method: string, path: string, call: Call = {}): Promise<Answer<Entity & ProblemBody>> =>
  service().call<Entity & ProblemBody>(method, `/rest/${path}`, { ...who, ...call });
let count = 0;
/** An entity of another user, in version 2. */
async function theirs(): Promise<Entity> {
  const json = { code: `c${++count}`, text: 'confidential' };
  const { body } = await send(admin, 'POST', 'entity/note', { json });
  return (await send(admin, 'POST', `entity/note/${body.key}`, { json: { n: 1 } })).body;
}
async function trashed(): Promise<Entity> {
  const entity = await theirs();
  await send(admin, 'DELETE', `entity/note/${entity.key}`);
  return entity;
}
const at = ({ key }: Entity) => `entity/note/${key}`;
const batch = (operations: object[], rest = {}) => send(caller, 'POST', 'batch', { json: { ...rest, operations } });
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

/** The status of the answers of an operation, or of one of its roads; 404 of any other. */
const statuses: Readonly<Record<string, number>> = {
  listEntities: 200,
  queryEntities: 200,
  upsertEntity: 409,
  'what a reference of an own entity leads to': 422,
  'each update': 200,
};

/** What the caller does to an entity of another user, for each operation of the contract whose answer has fields; an empty list with the reason. */
const roads: Record<string, Record<string, () => Promise<Answer>> | string> = {
  listEntities: {
    list: async () => (await theirs(), send(caller, 'GET', 'entity/note?limit=1000')),
    trash: async () => (await trashed(), send(caller, 'GET', 'entity/note?deleted=only')),
  },
  queryEntities: { query: async () => (await theirs(), send(caller, 'POST', 'entity/note/query', { json: { limit: 1000 } })) },
  createEntity: 'The fields are those that the caller has sent.',
  upsertEntity: {
    upsert: async () => send(caller, 'POST', 'entity/note/upsert?by=code', { json: { code: (await theirs()).fields['code'] } }),
    'upsert with a change': async () =>
      send(caller, 'POST', 'entity/note/upsert?by=code', { json: { code: (await theirs()).fields['code'], n: 2 } }),
    'upsert with If-Match': async () =>
      send(caller, 'POST', 'entity/note/upsert?by=code', { json: { code: (await theirs()).fields['code'] }, headers: { 'if-match': '*' } }),
  },
  getEntity: {
    get: async () => send(caller, 'GET', at(await theirs())),
    view: async () => send(caller, 'GET', `${at(await theirs())}?fields=text`),
    version: async () => send(caller, 'GET', `${at(await theirs())}?version=1`),
    trash: async () => send(caller, 'GET', `${at(await trashed())}?deleted=only`),
    'what a reference of an own entity leads to': async () => {
      const { key } = await theirs();
      const json = { code: `own${key}`, parent: key };
      // Refused as a reference; nothing is there to include.
      return await send(caller, 'POST', 'entity/note', { json });
    },
  },
  listVersions: { history: async () => send(caller, 'GET', `${at(await theirs())}/history`) },
  restoreEntity: {
    version: async () => send(caller, 'POST', `${at(await theirs())}/restore?version=1`),
    'present version': async () => send(caller, 'POST', `${at(await theirs())}/restore?version=2`),
    trash: async () => send(caller, 'POST', `${at(await trashed())}/restore`),
    'trash with a patch': async () => send(caller, 'POST', `${at(await trashed())}/restore`, { json: { n: 9 } }),
    'trash with an Idempotency-Key': async () => send(caller, 'POST', `${at(await trashed())}/restore`, keyed(`r${++count}`)),
  },
  updateEntity: {
    update: async () => send(caller, 'POST', at(await theirs()), { json: { n: 2 } }),
    'empty update': async () => send(caller, 'POST', at(await theirs()), { json: {} }),
    'heavy update': async () => send(caller, 'POST', at(await theirs()), { json: { more: 'x'.repeat(20_000) } }),
    'update with an Idempotency-Key': async () => send(caller, 'POST', at(await theirs()), { json: {}, ...keyed(`u${++count}`) }),
  },
  runBatch: {
    get: async () => batch([{ op: 'get', name: 'note', key: (await theirs()).key }]),
    update: async () => batch([{ op: 'update', name: 'note', key: (await theirs()).key, fields: {} }]),
    'each update': async () => batch([{ op: 'update', name: 'note', key: (await theirs()).key, fields: { n: 2 } }], { atomic: false }),
  },
};

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}
interface Operation {
  operationId?: string;
  responses?: Record<string, { $ref?: string; content?: Record<string, { schema?: Schema }> }>;
}
const contract = JSON.parse(readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** Whether values of the schema have the fields of entities: a member `fields` beside a `key`, at any depth. */
function hasFields(schema: unknown, passed: readonly string[] = []): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { $ref, properties = {}, ...rest } = schema as Schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return !passed.includes(name) && hasFields(contract.components.schemas[name], [...passed, name]);
  }
  if ('fields' in properties && 'key' in properties) return true;
  return [...Object.values(properties), ...Object.values(rest)].some((inner) => hasFields(inner, passed));
}

test('each operation of the contract whose answer has fields is in the table (rule 116)', () => {
  const operations = Object.values(contract.paths).flatMap((item) => Object.values(item));
  const answering = operations.filter(({ responses = {} }) =>
    Object.entries(responses).some(([status, { content = {} }]) => status.startsWith('2') && hasFields(Object.values(content))),
  );
  expect(new Set(answering.map(({ operationId }) => operationId))).toEqual(new Set(Object.keys(roads)));
});

describe.for(
  Object.entries(roads).flatMap(([operation, some]) =>
    typeof some === 'string' ? [] : Object.entries(some).map(([road, run]) => ({ operation, road, run })),
  ),
)('$operation: $road', ({ operation, road, run }) => {
  test('200, 404, 409 and 422 — shows nothing of an entity that the caller may change and not read, and leaves it as it is (rule 116)', async () => {
    const before = (await rowsOf(service(), 'note')).length;
    const answer = await run();
    expect(answer.status, answer.text).toBe(statuses[road] ?? statuses[operation] ?? 404);
    expect(answer.text).not.toContain('confidential');
    const rows = await rowsOf(service(), 'note');
    expect(rows.filter(({ fields }) => /"n": [29]/.test(fields))).toEqual([]);
    expect(rows.length).toBeLessThanOrEqual(before + 1);
  });
});

test('200, 403 and 404 — own entities are answered; without any `read` a change is 403, and a deletion needs none (rule 116)', async () => {
  const { body: mine } = await send(caller, 'POST', 'entity/note', { json: { code: 'mine', text: 'own' } });
  expect((await send(caller, 'POST', at(mine), { json: { n: 1 } })).body.fields).toMatchObject({ text: 'own', n: 1 });
  expect((await send(caller, 'POST', 'entity/note/upsert?by=code', { json: { code: 'mine', n: 2 } })).body.version).toBe(3);
  const { id } = await service().createUser('writer', { note: changes });
  const writer = { cookie: await service().openSession(id) };
  const entity = await theirs();
  for (const [path, call] of [
    [at(entity), { json: {} }],
    ['entity/note/upsert?by=code', { json: { code: 'new' } }],
    [`${at(entity)}/restore`, {}],
    ['batch', { json: { operations: [{ op: 'update', name: 'note', key: entity.key, fields: {} }] } }],
  ] as const) {
    const refused = await send(writer, 'POST', path, call);
    expect([refused.status, refused.body.code], path).toEqual([403, 'forbidden']);
  }
  const key = { headers: { 'x-api-key': await service().createKey(id, { scopes: null }) } };
  expect((await send(key, 'DELETE', at(entity))).status).toBe(204);
});

test('410 and 403 — the repeat of a request with an Idempotency-Key shows what the caller may read now (rules 79 and 116)', async () => {
  const { id } = await service().createUser('former', { note: [...changes, 'read'] });
  const former = { cookie: await service().openSession(id) };
  const entity = await theirs();
  const other = await trashed();
  const requests: [string, Call][] = [
    [at(entity), { json: { n: 5 }, ...keyed('former-1') }],
    [`${at(other)}/restore`, keyed('former-2')],
    ['entity/note/upsert?by=code', { json: { code: entity.fields['code'], n: 6 }, ...keyed('former-3') }],
  ];
  for (const [path, call] of requests) expect((await send(former, 'POST', path, call)).text).toContain('confidential');
  await service()
    .db.updateTable('role_grant')
    .set({ condition: 'own' })
    .where('action', '=', 'read')
    .where('entity', '=', 'note')
    .execute();
  await service().settle();
  for (const [path, call] of requests) {
    const answer = await send(former, 'POST', path, call);
    expect([answer.status, answer.body.code, answer.text.includes('confidential')], path).toEqual([410, 'answer-gone', false]);
  }
});
