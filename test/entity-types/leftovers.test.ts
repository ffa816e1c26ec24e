/**
 * What a change of a type leaves behind is dropped behind its answer: a transaction that uses the table holds up neither this change nor the next one, and nothing
 * that fails there changes the answer (rule 157).
 */
import { sql, type Kysely } from 'kysely';
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '../../src/database/tables.ts';
import type { Action } from '../../src/rights/vocabulary.ts';
import { Background } from '../../src/background/background.ts';
import { schedulePeriodicWork } from '../../src/background/periodic-work.ts';
import { dropLeftovers } from '../../src/entity-types/leftovers.ts';
import { isNotBeingBuilt } from '../../src/entity-types/transaction.ts';
import { useService, type TestService } from '../support/service.ts';

const service = useService();
let cookie = '';
beforeAll(async () => {
  const grants: Record<string, Action[]> = { '*': ['type', 'create', 'read', 'update', 'delete'] };
  cookie = await service().openSession((await service().createUser('ada', grants)).id);
});

let number = 0;
let name = '';
beforeEach(async () => {
  name = `type${++number}`;
});

const properties = { a: { type: 'string' }, b: { type: 'string' } };
const indexed = (...indexes: string[]) => ({ properties, 'x-index': indexes.map((fields) => fields.split(' ')) });
const referring = (to: string | undefined) => ({
  properties: { to: { type: 'string', format: 'int64' } },
  ...(to && { 'x-references': { to: { to } } }),
});
const put = async (json: object, { of = name, at = service() }: { of?: string; at?: TestService } = {}) => {
  const current = await at.call('GET', `/rest/entity-type/${of}`, { cookie });
  const headers = current.status === 200 ? { 'if-match': current.headers.get('etag') ?? '' } : { 'if-none-match': '*' };
  const { status, text } = await at.call('PUT', `/rest/entity-type/${of}`, { cookie, json, headers: { ...headers } });
  expect(status, text).toBeLessThan(300);
  return status;
};
const remove = async (of = name) => {
  const { body } = await service().call<{ digest: string }>('POST', `/rest/entity-type/${of}/plan`, { cookie, json: {} });
  return (await service().call('DELETE', `/rest/entity-type/${of}?confirm=${body.digest}`, { cookie })).status;
};
const create = async (of = name) => (await service().call('POST', `/rest/entity/${of}`, { cookie, json: { a: 'x' } })).status;
const tableOf = async (of = name) =>
  `x${(await service().db.selectFrom('entity_type').where('name', '=', of).select('id').executeTakeFirst())?.id}`;
const inSchema = (table: string) => sql.table(`entity_data.${table}`);

/** Whether the table is there, and the numbers of its indexes and columns, which include the primary key. */
const sizeOf = async (table: string): Promise<{ indexes: number; columns: number } | undefined> => {
  const { rows } = await sql<{ indexes: number; columns: number }>`
    select (select count(*)::int from pg_index where indrelid = x.oid) as indexes,
      (select count(*)::int from pg_attribute where attrelid = x.oid and attnum > 0 and not attisdropped) as columns
    from pg_class as x where relname = ${table}`.execute(service().db);
  return rows[0];
};
const settled = (table: string) => expect.poll(() => sizeOf(table), { timeout: 20_000, interval: 100 });

/** Runs `work` while a transaction of another connection has used the table and goes on. */
const whileUsed = (table: string, work: () => Promise<void>, use?: (trx: Kysely<Database>) => Promise<unknown>) =>
  service()
    .db.transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await (use ?? ((held) => sql`select from ${inSchema(table)}`.execute(held)))(trx);
      await work();
    });

const writing = (table: string) => (trx: Kysely<Database>) => sql`lock table ${inSchema(table)} in row exclusive mode`.execute(trx);

test.each([
  ['reads', undefined],
  ['writes', writing],
])(
  '200 — an index and a column are dropped while a long transaction %s the table, and so are the next changes (rule 157)',
  async (_what, use) => {
    await put(indexed('a', 'b', 'b a'));
    expect(await create()).toBe(201);
    const table = await tableOf();
    await whileUsed(
      table,
      async () => {
        expect(await put(indexed('a', 'b'))).toBe(200);
        expect(await put({ ...indexed('a', 'b'), title: 'next' })).toBe(200);
        expect(await put(indexed('a'))).toBe(200);
        expect(await create()).toBe(201);
        expect(await sizeOf(table)).toMatchObject({ columns: 3 });
      },
      use?.(table),
    );
    await settled(table).toEqual({ indexes: 2, columns: 2 });
    expect(await create()).toBe(201);
  },
);

test('200 and 204 — the last index or the type goes while a long transaction uses the table, which goes afterwards (rule 157)', async () => {
  await put(indexed('a'));
  const deleted = `${name}-deleted`;
  await put(indexed('a'), { of: deleted });
  const [table, tableOfDeleted] = [await tableOf(), await tableOf(deleted)];
  await whileUsed(table, async () => {
    expect(await put({ properties })).toBe(200);
    expect(await put({ properties, title: 'next' })).toBe(200);
    await whileUsed(tableOfDeleted, async () => {
      expect(await remove(deleted)).toBe(204);
      expect(await put({ properties }, { of: deleted })).toBe(201);
    });
    expect(await sizeOf(table)).toEqual({ indexes: 2, columns: 2 });
  });
  await settled(table).toBeUndefined();
  await settled(tableOfDeleted).toBeUndefined();
});

test('200 — the last reference goes while a long transaction uses the table of its target (rule 157)', async () => {
  const target = `${name}-target`;
  await put({ properties }, { of: target });
  await put(referring(target));
  const table = await tableOf(target);
  await whileUsed(table, async () => expect(await put(referring(undefined))).toBe(200));
  await settled(table).toBeUndefined();
});

test.each([
  ['the table of the type', 'from'],
  ['the table of its target', 'to'],
] as const)(
  '204 — what a type referred to can be deleted after the change, while a transaction uses %s (rules 14 and 157)',
  async (_what, used) => {
    const target = `${name}-target`;
    await put(indexed('a'), { of: target });
    await put(referring(target));
    const [from, to] = [await tableOf(), await tableOf(target)];
    const entity = (await service().call<{ key: string }>('POST', `/rest/entity/${target}`, { cookie, json: {} })).body.key;
    expect((await service().call('POST', `/rest/entity/${name}`, { cookie, json: { to: entity } })).status).toBe(201);
    const removeTarget = async () => (await service().call('DELETE', `/rest/entity/${target}/${entity}`, { cookie })).status;
    expect(await removeTarget()).toBe(409);
    await whileUsed(used === 'from' ? from : to, async () => {
      expect(await put(referring(undefined))).toBe(200);
      expect(await removeTarget()).toBe(204);
    });
    await settled(from).toBeUndefined();
  },
);

test('a table goes behind another that is to go and refers to it (rule 157)', async () => {
  const target = `${name}-target`;
  await put({ properties });
  await put({ properties }, { of: target });
  const [from, to] = [await tableOf(), await tableOf(target)];
  const { db, context } = service();
  await sql`create table ${inSchema(to)} (key bigint primary key)`.execute(db);
  await sql`create table ${inSchema(from)} (key bigint primary key, c1 bigint references ${inSchema(to)})`.execute(db);
  expect(await dropLeftovers(context.store, target)).toBe(false);
  expect(await dropLeftovers(context.store, name)).toBe(true);
  expect(await dropLeftovers(context.store, target)).toBe(true);
  expect([await sizeOf(from), await sizeOf(to)]).toEqual([undefined, undefined]);
});

test('200 — a table and a column that cannot be dropped: the log has the name of the type, and the change is in force (rule 157)', async () => {
  const warn = vi.spyOn(service().app.log, 'warn').mockReturnValue(undefined);
  onTestFinished(() => warn.mockRestore());
  const lines = () => warn.mock.calls.map(([members]) => members as { type?: string; event?: string; err?: { code?: string } });
  await put(indexed('a', 'b'));
  const table = await tableOf();
  for (const next of [indexed('a'), { properties }]) {
    await sql`create view ${inSchema(`view${number}`)} as select * from ${inSchema(table)}`.execute(service().db);
    warn.mockClear();
    expect(await put(next)).toBe(200);
    await expect
      .poll(lines)
      .toContainEqual(
        expect.objectContaining({ event: 'housekeeping', outcome: 'failed', type: name, err: expect.objectContaining({ code: '2BP01' }) }),
      );
    expect(await put({ ...next, title: 'next' })).toBe(200);
    await sql`drop view ${inSchema(`view${number}`)}`.execute(service().db);
  }
  expect(await put({ properties })).toBe(200);
});

test('a table stays while its type is being changed, which does not end the work, and goes afterwards (rule 157)', async () => {
  await put({ properties });
  const table = await tableOf();
  const { db, context } = service();
  // The rest of a change whose process ended behind its commit.
  await sql`create table ${inSchema(table)} (key bigint primary key)`.execute(db);
  await db.transaction().execute(async (changing) => {
    expect(await isNotBeingBuilt(changing, name)).toBe(true);
    expect(await dropLeftovers(context.store, name)).toBe(false);
    expect(await sizeOf(table)).toEqual({ indexes: 1, columns: 1 });
  });
  expect(await dropLeftovers(context.store, name)).toBe(true);
  expect(await sizeOf(table)).toBeUndefined();
});

test('the housekeeping drops what a process has left, and nothing that a type in force needs (rule 157)', async () => {
  const [emptied, target] = [`${name}-emptied`, `${name}-target`];
  await put(indexed('a'));
  await put({ properties }, { of: emptied });
  await put({ properties }, { of: target });
  await put(referring(target), { of: `${name}-referring` });
  const tables = [await tableOf(), await tableOf(emptied), await tableOf(target)] as const;
  await sql`alter table ${inSchema(tables[0])} add column c77 text, add column c78 text`.execute(service().db);
  await sql`create index ${sql.id(`${tables[0]}_i79`)} on ${inSchema(tables[0])} (c77)`.execute(service().db);
  await sql`create table ${inSchema(tables[1])} (key bigint primary key)`.execute(service().db);

  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const background = new Background();
  onTestFinished(() => background.stop());
  const nothing = async () => undefined;
  schedulePeriodicWork({ ...service().context, background }, { renew: nothing, withdraw: nothing });
  vi.advanceTimersByTime(600_000);
  vi.useRealTimers();
  await settled(tables[0]).toEqual({ indexes: 2, columns: 2 });
  await settled(tables[1]).toBeUndefined();
  expect(await sizeOf(tables[2])).toEqual({ indexes: 1, columns: 1 });
});

test('a process stops while a transaction holds up what it drops, without a failure in its log, and another process drops it (rule 157)', async () => {
  const replica = await service().replica();
  const warn = vi.spyOn(replica.app.log, 'warn').mockReturnValue(undefined);
  await put(indexed('a', 'b'));
  expect(await create()).toBe(201);
  const table = await tableOf();
  await whileUsed(table, async () => {
    expect(await put(indexed('a'), { at: replica })).toBe(200);
    const drops = sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like 'drop index concurrently%'`;
    await expect.poll(async () => (await drops.execute(service().db)).rows, { timeout: 15_000, interval: 20 }).toHaveLength(1);
    await replica.close();
  });
  expect(warn.mock.calls).toEqual([]);
  expect(await put({ ...indexed('a'), title: 'next' })).toBe(200);
  await settled(table).toEqual({ indexes: 2, columns: 2 });
});
