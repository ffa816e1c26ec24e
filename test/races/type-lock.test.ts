/** Whatever takes long in a change of a type happens without the lock of all types: other names are written and changed meanwhile. */
import { sql, type Kysely } from 'kysely';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/database/tables.ts';
import type { Action } from '../../src/rights/vocabulary.ts';
import type { Entity } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();
let [cookie, other] = ['', ''];
beforeAll(async () => {
  const grants: Record<string, Action[]> = { '*': ['type', 'create', 'read', 'update', 'delete'] };
  cookie = await service().openSession((await service().createUser('ada', grants)).id);
  // A user has one change of a type under way.
  other = await service().openSession((await service().createUser('bob', grants)).id);
});

let number = 0;
let name = '';
beforeEach(() => {
  name = `type${++number}`;
});

const document = (...indexes: string[]) => ({
  properties: { a: { type: 'string' }, b: { type: 'string' } },
  'x-index': indexes.map((fields) => fields.split(' ')),
});
const put = async (of: string, json: object, as = cookie) => {
  const current = await service().call('GET', `/rest/entity-type/${of}`, { cookie: as });
  const headers = current.status === 200 ? { 'if-match': current.headers.get('etag') ?? '' } : { 'if-none-match': '*' };
  return await service().call('PUT', `/rest/entity-type/${of}`, { cookie: as, json, headers: { ...headers } });
};
const create = (of: string, json: object) => service().call<Entity>('POST', `/rest/entity/${of}`, { cookie, json });
/** The number of connections that wait for the transaction. */
const waiting = async (trx: Kysely<Database>): Promise<number> => {
  const { rows } = await sql`select distinct pid from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(
    trx,
  );
  return rows.length;
};

/** Takes the name of the next companion table, so that its creation waits for the end of the transaction. */
const holdNewTable = async (trx: Kysely<Database>) => {
  const { rows } = await sql<{ id: string }>`
    select last_value + is_called::int as id from entity_type_id_seq`.execute(trx);
  const table = `entity_data.x${rows[0]?.id}`;
  await sql`create table ${sql.table(table)} (key bigint)`.execute(trx);
  return table;
};
/** Makes and drops of indexes, the latter behind the answer, wait for the end of a transaction that may have written rows. */
const holdIndexes = async (trx: Kysely<Database>) => {
  const { rows } = await sql<{ id: string }>`select id from entity_type where name = ${name}`.execute(trx);
  await sql`lock table ${sql.table(`entity_data.x${rows[0]?.id}`)} in row exclusive mode`.execute(trx);
  return undefined;
};

test.for<[about: string, before: string[], entities: number, after: string[]]>([
  ['a new type has indexes', [], 0, ['a', 'b']],
  ['an index of a type without entities is made', ['a', 'b'], 0, ['a', 'b', 'b a']],
  ['an index of a type without entities is dropped', ['a', 'b', 'a b'], 0, ['a', 'b']],
  ['an index of a type with entities is made', ['a', 'b'], 2, ['a', 'b', 'a b']],
  ['an index of a type with entities is dropped', ['a', 'b', 'a b'], 2, ['a', 'b']],
])('200 and 201 — %s: other names are written, declared and changed meanwhile (rule 147)', async ([, before, entities, after]) => {
  const isNew = before.length === 0;
  const isDrop = after.length < before.length;
  expect((await put(`other${name}`, { properties: { n: { type: 'number' } } })).status).toBe(201);
  if (!isNew) expect((await put(name, document(...before))).status).toBe(201);
  for (let n = 0; n < entities; n++) expect((await create(name, { a: 'x' })).status).toBe(201);
  const answers: Awaited<ReturnType<typeof put>>[] = [];
  const { changing } = await service()
    .db.transaction()
    .execute(async (trx) => {
      const held = isNew ? await holdNewTable(trx) : await holdIndexes(trx);
      const changed = put(name, document(...after)).then((answer) => answers.push(answer));
      await expect.poll(() => waiting(trx)).toBe(1);
      expect((await create(`other${name}`, { n: 1 })).status).toBe(201);
      expect((await put(`other${name}`, { properties: { n: {} } }, other)).status).toBe(200);
      expect((await put(`third${name}`, { properties: { n: {} } }, other)).status).toBe(201);
      if (!isNew) expect((await create(name, { a: 'y' })).status).toBe(201);
      if (!isNew) expect(answers).toHaveLength(isDrop ? 1 : 0);
      if (held) await sql`drop table ${sql.table(held)}`.execute(trx);
      return { changing: changed };
    });
  await changing;
  expect(answers[0]?.status, answers[0]?.text).toBe(isNew ? 201 : 200);
  const indexes = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from pg_indexes join entity_type on tablename = 'x' || id
      where name = ${name} and indexname !~ 'pkey$'`.execute(service().db);
    return rows[0]?.count;
  };
  await expect.poll(indexes, { timeout: 10_000 }).toBe(after.length);
});

test.for(['its transaction', 'a savepoint of it'])(
  '409 — an entity that does not fit is written in %s, which ends after the entities were checked (rule 147)',
  async (place) => {
    expect((await create(name, { a: 1 })).status).toBe(201);
    const { changing } = await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity_type where false for key share`.execute(trx);
        if (place !== 'its transaction') await sql`savepoint step`.execute(trx);
        await sql`insert into entity (name, fields, created_by, updated_by) values (${name}, '{"a": "x"}', 'ada', 'ada')`.execute(trx);
        const changed = put(name, { properties: { a: { type: 'number' } } });
        await expect.poll(() => waiting(trx)).toBe(1);
        return { changing: changed };
      });
    const refused = await changing;
    expect([refused.status, refused.body.code], refused.text).toEqual([409, 'type-conflict']);
  },
);
