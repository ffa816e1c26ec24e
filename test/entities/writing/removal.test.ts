/** The deletion of an entity to which others refer: `onDelete` of their types decides what happens to them, in one transaction. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import { addReferrers, companionRows, declareWithRules } from '../../support/companions.ts';
import { rowsOf, type Entity } from '../../support/entities.ts';
import { useService, type Answer, type ProblemBody } from '../../support/service.ts';
import { waitingProcesses } from '../../support/waiting.ts';

const service = useService();
let cookie: string;
const tables = new Map<string, Companion>();

const reference = { type: ['string', 'null'], format: 'int64' };

/** Declares a type whose fields refer to entities of other names. */
async function declare(
  name: string,
  references: Record<string, { to: string; onDelete?: 'restrict' | 'cascade' | 'set-null' }>,
  more = {},
) {
  const fields = Object.fromEntries(Object.keys(references).map((field) => [field, reference]));
  const document = { properties: { ...fields, n: {} }, 'x-references': references, ...more };
  tables.set(name, await declareWithRules(service(), name, document));
}

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  await declare('customer', { parent: { to: 'customer', onDelete: 'set-null' } });
  await declare('order', { customer: { to: 'customer', onDelete: 'cascade' }, payer: { to: 'customer', onDelete: 'set-null' } });
  await declare('line', { order: { to: 'order', onDelete: 'cascade' }, customer: { to: 'customer', onDelete: 'cascade' } });
  await declare('part', { line: { to: 'line', onDelete: 'cascade' } });
  await declare('label', { part: { to: 'part', onDelete: 'cascade' } });
  await declare('invoice', { order: { to: 'order' } });
});

type Body = Entity & ProblemBody;
const made = async (name: string, json: object): Promise<string> => {
  const { status, body } = await service().call<Body>('POST', `/rest/entity/${name}`, { cookie, json });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.key;
};
const remove = (name: string, key: string, as = cookie, headers = {}): Promise<Answer<Body>> =>
  service().call<Body>('DELETE', `/rest/entity/${name}/${key}`, { cookie: as, headers });
const read = async (name: string, key: string) => (await service().call<Body>('GET', `/rest/entity/${name}/${key}`, { cookie })).body;
const keysOf = async (name: string) => (await rowsOf(service(), name)).map(({ key }) => key);
const rowKeysOf = async (name: string) => {
  const companion = tables.get(name);
  return companion ? (await companionRows(service(), companion)).map((row) => row['key']) : [];
};
const events = async (keys: readonly string[]) => {
  const { rows } = await sql<{ event: string; key: string; user: string; version: string; request: string }>`
    select event, detail ->> 'key' as key, user_name as "user", detail ->> 'version' as version, request_id as request
    from audit_event where event <> 'entity.created' and detail ->> 'key' = any(${keys}) order by key`.execute(service().db);
  return rows;
};

describe('deleteEntity', () => {
  test('204 — along a chain of four references with cascade, each with its event under the request of the caller, who needs no right on them (rule 85)', async () => {
    const customer = await made('customer', {});
    const order = await made('order', { customer });
    const line = await made('line', { order, customer });
    const part = await made('part', { line });
    const label = await made('label', { part });
    const other = await made('line', {});
    const bob = await service().openSession((await service().createUser('bob', { customer: ['delete'] })).id);
    const answer = await remove('customer', customer, bob);
    expect(answer.status).toBe(204);
    const keys = [customer, order, line, part, label];
    for (const [name, key] of [
      ['customer', customer],
      ['order', order],
      ['line', line],
      ['part', part],
      ['label', label],
    ] as const) {
      expect(await keysOf(name)).not.toContain(key);
      expect(await rowKeysOf(name)).not.toContain(key);
    }
    expect(await keysOf('line')).toContain(other);
    const written = await events(keys);
    expect(written.map(({ event, user, version }) => [event, user, version])).toEqual(keys.map(() => ['entity.deleted', 'bob', '1']));
    expect(new Set(written.map(({ request }) => request)).size).toBe(1);
  });

  test('204 — puts null in place of references with set-null: a new version, an event, and the companion row (rule 85)', async () => {
    const customer = await made('customer', {});
    const child = await made('customer', { parent: customer });
    const order = await made('order', { payer: customer, n: { exact: '1.50' } });
    expect((await remove('customer', customer)).status).toBe(204);
    expect(await read('order', order)).toMatchObject({ version: 2, updatedBy: 'ada', fields: { payer: null, n: { exact: '1.50' } } });
    expect(await read('customer', child)).toMatchObject({ version: 2, fields: { parent: null } });
    expect((await events([order, child])).map(({ event, version }) => [event, version])).toEqual([
      ['entity.updated', '2'],
      ['entity.updated', '2'],
    ]);
    expect((await remove('customer', child)).status).toBe(204);
  });

  test('204 — an entity that refers in two ways is deleted once, and one that refers to itself too', async () => {
    const customer = await made('customer', {});
    const order = await made('order', { customer, payer: customer });
    await made('line', { order, customer });
    expect((await remove('customer', customer)).status).toBe(204);
    expect((await events([order])).map(({ event }) => event)).toEqual(['entity.deleted']);
    const alone = await made('customer', {});
    expect((await service().call('POST', `/rest/entity/customer/${alone}`, { cookie, json: { parent: alone } })).status).toBe(200);
    expect((await remove('customer', alone)).status).toBe(204);
  });

  test('409 — if the chain leads to an entity that another one restricts, and nothing is deleted', async () => {
    const customer = await made('customer', {});
    const order = await made('order', { customer });
    await made('line', { order });
    const invoice = await made('invoice', { order });
    const refusal = await remove('customer', customer);
    expect(refusal.status).toBe(409);
    expect(refusal.body).toMatchObject({ code: 'still-referenced', errors: [{ pointer: '', code: 'referenced' }] });
    expect(refusal.body.errors?.[0]?.detail).toContain('called invoice: 1');
    expect(await keysOf('order')).toContain(order);
    expect(await events([customer, order, invoice])).toEqual([]);
    expect((await remove('invoice', invoice)).status).toBe(204);
    expect((await remove('customer', customer)).status).toBe(204);
  });

  test('409 and 204 — of 1,001 entities with cascade, and of 1,000', async () => {
    const customer = await made('customer', {});
    const line = tables.get('line');
    if (line) await addReferrers(service(), line, { name: 'line', field: 'customer', target: customer, count: 1_001 });
    const before = await keysOf('line');
    const refusal = await remove('customer', customer);
    expect([refusal.status, refusal.body.code]).toEqual([409, 'still-referenced']);
    expect(refusal.body.errors).toMatchObject([
      { code: 'too-many-referrers', detail: expect.stringContaining('1,000') as string },
      { code: 'referenced', detail: expect.stringContaining('1,001') as string },
    ]);
    expect(await keysOf('line')).toEqual(before);
    expect((await remove('line', before.at(-1) ?? '')).status).toBe(204);
    expect((await remove('customer', customer)).status).toBe(204);
    expect((await keysOf('line')).length).toBe(before.length - 1_001);
  });

  test('409 — if an entity without the reference would not fit its type', async () => {
    await declareWithRules(service(), 'strict', {
      properties: { customer: reference, because: { type: 'string' } },
      dependentSchemas: { because: { properties: { customer: { type: 'string' } } } },
      'x-references': { customer: { to: 'customer', onDelete: 'set-null' } },
    });
    const customer = await made('customer', {});
    const strict = await made('strict', { customer, because: 'it must' });
    expect((await remove('customer', customer)).body.code).toBe('still-referenced');
    expect(await read('strict', strict)).toMatchObject({ version: 1, fields: { customer } });
  });

  test('204 — the version of If-Match is deleted, although an update comes while what refers to it is deleted (rule 78)', async () => {
    const customer = await made('customer', {});
    const order = await made('order', { customer });
    const released = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holding = service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity where key = ${order}::bigint for update`.execute(trx);
        held.resolve();
        await released.promise;
      });
    await held.promise;
    const waiting = async () => (await waitingProcesses.execute(service().db)).rows.length;
    const removed = remove('customer', customer, cookie, { 'if-match': '"1"' });
    await expect.poll(waiting).toBe(1);
    let updated: number | undefined;
    const update = service()
      .call<Body>('POST', `/rest/entity/customer/${customer}`, { cookie, json: { n: 1 } })
      .then(({ status }) => (updated = status));
    await expect.poll(async () => updated !== undefined || (await waiting()) === 2).toBe(true);
    released.resolve();
    await holding;
    expect(updated).toBeUndefined();
    expect((await removed).status).toBe(204);
    expect(await update).toBe(404);
    expect([await keysOf('customer'), await keysOf('order')].flat()).not.toContain(customer);
  });

  test('412 — under If-Match with another version nothing is deleted, and 404 for an entity of another owner (rules 64 and 78)', async () => {
    const customer = await made('customer', {});
    const order = await made('order', { customer });
    expect((await remove('customer', customer, cookie, { 'if-match': '"2"' })).status).toBe(412);
    const eve = await service().openSession(
      (await service().createUser('eve', { customer: { actions: ['delete'], condition: 'own' } })).id,
    );
    expect((await remove('customer', customer, eve)).status).toBe(404);
    expect(await keysOf('order')).toContain(order);
    expect((await remove('customer', customer, cookie, { 'if-match': '"1"' })).status).toBe(204);
  });
});
