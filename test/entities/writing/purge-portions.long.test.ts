/** A purge of an entity to which more than 1,000 others refer: these are deleted or changed in portions, each a transaction of its own. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import { addReferrers, companionRows, declareWithRules } from '../../support/companions.ts';
import { whileWaiting, type Entity } from '../../support/entities.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';
import { waitingProcesses } from '../../support/waiting.ts';

const service = useService();
const tables = new Map<string, Companion>();
let [ada, officer] = ['', ''];
const reference = { type: ['string', 'null'], format: 'int64' };

async function declare(name: string, references: Record<string, object>, more = {}) {
  const fields = Object.fromEntries(Object.keys(references).map((field) => [field, reference]));
  tables.set(name, await declareWithRules(service(), name, { properties: { ...fields, n: {} }, 'x-references': references, ...more }));
}

beforeAll(async () => {
  ada = await service().openSession((await service().createUser('ada')).id);
  officer = await service().openSession((await service().createUser('officer', { customer: ['delete', 'purge'] })).id);
  await declare('customer', { parent: { to: 'customer', onDelete: 'set-null' } });
  await declare('order', { customer: { to: 'customer', onDelete: 'cascade' } }, { 'x-soft-delete': true });
  await declare('line', { order: { to: 'order', onDelete: 'cascade' } });
  await declare('visit', { customer: { to: 'customer', onDelete: 'set-null' } });
  await declare('folder', { customer: { to: 'customer', onDelete: 'cascade' }, parent: { to: 'folder' } });
  await declare('invoice', { line: { to: 'line' } });
});

type Body = Entity & ProblemBody;
const made = async (name: string, json: object = {}): Promise<string> => {
  const { status, body, text } = await service().call<Body>('POST', `/rest/entity/${name}`, { cookie: ada, json });
  expect(status, text).toBe(201);
  return body.key;
};
const add = async (name: string, field: string, target: string, number: number): Promise<string[]> => {
  const table = tables.get(name);
  return table ? await addReferrers(service(), table, { name, field, target, count: number }) : [];
};
const remove = (key: string, rest: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>('DELETE', `/rest/entity/customer/${key}`, { cookie: officer, ...rest });
const purge = (key: string, rest: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>('DELETE', `/rest/entity/customer/${key}?purge=1`, { cookie: officer, ...rest });
const count = async (name: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from entity where name = ${name}`.execute(service().db);
  return rows[0]?.count ?? 0;
};
const faultsOf = ({ body }: Answer<Body>) => (body.errors ?? []).map(({ code }) => code);
/** The events of the request that has purged the entity. */
const eventsOf = async (key: string) => {
  const { rows } = await sql<{ event: string; count: number }>`
    select event, count(*)::int as count from audit_event
    where request_id = (select request_id from audit_event where event = 'entity.purged' and detail ->> 'key' = ${key})
    group by event order by event`.execute(service().db);
  return rows;
};

describe('deleteEntity', () => {
  test.for([999, 1_000, 1_001, 2_500])(
    '204 — a purge deletes %i entities with cascade, and puts null into as many with set-null',
    async (number) => {
      const customer = await made('customer');
      const [orders, visits] = [await add('order', 'customer', customer, number), await add('visit', 'customer', customer, number)];
      const before = { order: await count('order'), visit: await count('visit') };
      const refusal = await remove(customer);
      expect([refusal.status, ...faultsOf(refusal)]).toEqual([409, 'too-many-referrers']);
      expect({ order: await count('order'), visit: await count('visit') }).toEqual(before);
      const answer = await purge(customer);
      expect(answer.status, answer.text).toBe(204);
      expect(await count('order')).toBe(before.order - orders.length);
      expect(await count('visit')).toBe(before.visit);
      const { rows } = await sql<{ fields: object; version: string }>`
      select distinct fields, version from entity where key = any(${visits}::bigint[])`.execute(service().db);
      expect(rows).toEqual([{ fields: { customer: null }, version: '2' }]);
      const visitTable = tables.get('visit');
      const cleared = visitTable ? await companionRows(service(), visitTable) : [];
      const column = visitTable?.columns[0]?.name ?? '';
      expect(cleared.filter((row) => visits.includes(String(row['key']))).map((row) => row[column])).toEqual(visits.map(() => null));
      expect(await eventsOf(customer)).toEqual([
        { event: 'entity.deleted', count: number + 1 },
        { event: 'entity.purged', count: 1 },
        { event: 'entity.updated', count: number },
      ]);
      const trash = await sql<{ count: number }>`
      select count(*)::int as count from entity_trash where key = any(${orders}::bigint[])`.execute(service().db);
      expect(trash.rows[0]?.count).toBe(number);
    },
  );

  test('204 — two entities with 1,200 of their own each, and a tree of 1,500 that refer to one another', async () => {
    const customer = await made('customer');
    for (let n = 0; n < 2; n++) await add('line', 'order', await made('order', { customer }), 1_200);
    const folders = await add('folder', 'customer', customer, 1_500);
    const parent = tables.get('folder')?.columns.find(({ field }) => field[0] === 'parent')?.name ?? '';
    // Each but the first is in the one before it.
    await sql`update ${sql.table(`entity_data.${tables.get('folder')?.table}`)} set ${sql.ref(parent)} = key - 1
      where key = any(${folders.slice(1)}::bigint[])`.execute(service().db);
    const answer = await purge(customer, { headers: { 'idempotency-key': 'tree' } });
    expect(answer.status, answer.text).toBe(204);
    expect([await count('line'), await count('folder')]).toEqual([0, 0]);
    const again = await purge(customer, { headers: { 'idempotency-key': 'tree' } });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([204, 'true']);
  });

  test('204 — what restricts the purge is searched for in a turn among heavy writes', async () => {
    const customer = await made('customer');
    await add('order', 'customer', customer, 1_001);
    // Only that search uses the table, since the first try ends with too many orders.
    const locked = sql`lock table ${sql.table(`entity_data.${tables.get('invoice')?.table}`)} in access exclusive mode`;
    const answer = await whileWaiting(
      service(),
      locked,
      () => purge(customer),
      async () => {
        const turns = service().context.admission.figures.find(({ name }) => name === 'heavy-write');
        expect(turns?.running).toBe(1);
      },
    );
    expect(answer.status, answer.text).toBe(204);
  });

  test('503 and 204 — a connection that is killed between portions: the answer has the number of those that are gone, and a repeat does the rest (rule 77)', async () => {
    const customer = await made('customer');
    const orders = await add('order', 'customer', customer, 2_500);
    const before = await count('order');
    let answer: Answer<Body> | undefined;
    await service()
      .db.transaction()
      .execute(async (trx) => {
        // The first try locks the oldest 1,001, and the first portion takes the newest 1,000.
        await sql`select from entity where key = ${orders[1_200]}::bigint for update`.execute(trx);
        const answering = purge(customer).then((received) => (answer = received));
        await expect.poll(async () => (await waitingProcesses.execute(service().db)).rows.length, { timeout: 20_000 }).toBe(1);
        expect(await count('order')).toBe(before - 1_000);
        for (const { pid } of (await waitingProcesses.execute(trx)).rows) await sql`select pg_terminate_backend(${pid})`.execute(trx);
        await answering;
      });
    expect([answer?.status, answer?.body.code], answer?.text).toEqual([503, 'outcome-unknown']);
    const detail = expect.stringMatching(/1,000\. The same request goes on with the rest in \d seconds?\.$/) as string;
    expect(answer?.body.errors?.[0]).toMatchObject({ code: 'partly-done', detail });
    const { rows } = await sql`select from entity where key = ${customer}::bigint`.execute(service().db);
    expect(rows).toHaveLength(1);
    expect((await purge(customer)).status).toBe(204);
    expect(await count('order')).toBe(before - 2_500);
  });

  test('409, 412 and 403 — nothing is deleted: before what restricts it, under another version, and without the right (rules 62 and 64)', async () => {
    const customer = await made('customer');
    const order = await made('order', { customer });
    const lines = await add('line', 'order', order, 1_500);
    const invoice = await made('invoice', { line: lines[0] });
    const before = await count('line');
    const refusal = await purge(customer);
    expect([refusal.status, refusal.body.code, ...faultsOf(refusal)]).toEqual([409, 'still-referenced']);
    const reader = await service().openSession(
      (await service().createUser('reader', { customer: ['delete', 'purge'], invoice: ['read'] })).id,
    );
    const named = await purge(customer, { cookie: reader });
    expect(named.body.errors).toMatchObject([{ code: 'referenced', detail: expect.stringContaining('invoice: 1') as string }]);
    expect(await count('line')).toBe(before);
    expect((await service().call('DELETE', `/rest/entity/invoice/${invoice}`, { cookie: ada })).status).toBe(204);
    expect((await purge(customer, { headers: { 'if-match': '"2"' } })).status).toBe(412);
    const deleter = await service().openSession((await service().createUser('deleter', { customer: ['delete'] })).id);
    expect((await purge(customer, { cookie: deleter })).status).toBe(403);
    expect(await count('line')).toBe(before);
    expect((await purge(customer, { headers: { 'if-match': '"1"' } })).status).toBe(204);
    expect(await count('line')).toBe(before - 1_500);
  });
});
