/** What a list includes by the rights of its caller: examples, and random cases against a model. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { keysIncluded, list, queryBy, seedMany } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';
import { createCaller, declareShop } from '../../support/shop.ts';

const service = useService();
let ada: { cookie: string };
let agents: string[];
let customers: string[];
let orders: string[];

beforeAll(async () => {
  ada = await createCaller(service(), 'ada');
  await service().createUser('bob');
  agents = await seedMany(service(), 'agent', [{ name: 'Ann' }, { name: 'Ben' }], 'ada', 'bob');
  const rows = agents.map((agent, n) => ({ company: `C${n}`, agent }));
  customers = await seedMany(service(), 'customer', rows, 'ada', 'bob');
  const sold = customers.map((customer, n) => ({ number: `A-${n}`, customer, seller: agents[1] }));
  orders = await seedMany(service(), 'order', sold, 'ada');
  await declareShop(service());
});

describe('the rights of the caller', () => {
  test('decide over each entity: own rows come, those of others are withheld like missing ones (rule 64)', async () => {
    const rob = await createCaller(service(), 'rob', { order: ['read'], customer: { actions: ['read'], condition: 'own' } });
    const [own] = await seedMany(service(), 'customer', [{ company: 'mine' }], 'rob');
    const targets = [customers[0], own, '7000000'];
    const rows = targets.map((customer) => ({ number: 'r', customer }));
    const [first] = await seedMany(service(), 'order', rows, 'ada');
    const query = { include: ['customer'], filter: { number: 'r' } };
    expect(keysIncluded((await list(service(), ada, 'order', query)).body)).toEqual({ customer: [customers[0], own] });
    const { body } = await list(service(), rob, 'order', query);
    expect([keysIncluded(body), body.withheld]).toEqual([
      { customer: [own] },
      [
        { name: 'customer', key: customers[0] },
        { name: 'customer', key: '7000000' },
      ],
    ]);
    const scoped = await list(service(), rob, 'order', {
      ...query,
      include: ['customer.agent'],
      filter: { $key: first },
    });
    expect([scoped.body.included, scoped.body.withheld]).toEqual([{}, [{ name: 'customer', key: customers[0] }]]);
  });

  test('without read on the name withhold all of it, and tell nothing about its type (rule 64)', async () => {
    const sam = await createCaller(service(), 'sam', { order: ['read'], customer: ['create', 'update'], agent: ['read'] });
    const filter = { $key: orders[0] };
    const withheld = [{ name: 'customer', key: customers[0] }];
    for (const include of ['customer', 'customer.agent', 'customer.nothing']) {
      const { body } = await list(service(), sam, 'order', { include: [include, 'seller'], filter });
      expect([keysIncluded(body), body.withheld], include).toEqual([{ agent: [agents[1]] }, withheld]);
    }
    expect((await list<ProblemBody>(service(), sam, 'customer')).status).toBe(403);
  });

  test('and the scopes of a key narrow what is included (rule 59)', async () => {
    const { id } = await service().createUser('kim', { '*': ['read'] });
    const key = await service().createKey(id, { scopes: [{ entity: 'order', actions: ['read'] }] });
    const caller = { headers: { 'x-api-key': key } };
    const { body } = await list(service(), caller, 'order', { include: ['customer'], limit: 1 });
    expect([body.items.length, body.included, body.withheld?.length]).toEqual([1, {}, 1]);
  });

  test('count on the second step as well (rule 64)', async () => {
    const tom = await createCaller(service(), 'tom', {
      order: ['read'],
      customer: ['read'],
      agent: { actions: ['read'], condition: 'own' },
    });
    const { body } = await list(service(), tom, 'order', { include: ['customer.agent'], filter: { $key: orders[1] } });
    expect([keysIncluded(body), body.withheld]).toEqual([{ customer: [customers[1]] }, [{ name: 'agent', key: agents[1] }]]);
  });
});

describe('random rows, references, projections and rights', () => {
  /** The references of shop types that a request can follow, as the ways through them. */
  const ways: Record<string, string[]> = {
    customer: ['customer'],
    seller: ['seller'],
    'ship.to': ['ship.to'],
    'customer.agent': ['customer', 'agent'],
    'customer.parent': ['customer', 'parent'],
    'ship.to.parent': ['ship.to', 'parent'],
    'ship.to.agent': ['ship.to', 'agent'],
  };
  const targets: Record<string, string> = {
    customer: 'customer',
    seller: 'agent',
    'ship.to': 'customer',
    agent: 'agent',
    parent: 'customer',
  };
  const keyIn = (fields: object, name: string): unknown =>
    name.split('.').reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], fields);

  const index = fc.option(fc.nat(7), { nil: undefined });
  const caseOf = fc.record({
    agents: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
    customers: fc.array(fc.record({ own: fc.boolean(), agent: index, parent: index }), { minLength: 1, maxLength: 6 }),
    orders: fc.array(fc.record({ customer: index, seller: index, ship: index }), { minLength: 1, maxLength: 8 }),
    include: fc.uniqueArray(fc.constantFrom(...Object.keys(ways)), { minLength: 1, maxLength: 5 }),
    fields: fc.option(fc.uniqueArray(fc.constantFrom('customer', 'seller', 'ship', 'ship.to', 'number'), { minLength: 1, maxLength: 3 }), {
      nil: undefined,
    }),
    rights: fc.record({ customer: fc.constantFrom('any', 'own', 'none'), agent: fc.constantFrom('any', 'own', 'none') }),
  });

  interface SeededRow {
    name: string;
    own: boolean;
    fields: object;
  }
  let nextKey = 1_000_000_000;
  async function insertAll(rows: ReadonlyMap<string, SeededRow>, user: string): Promise<void> {
    const all = [...rows].map(([key, { name, own, fields }]) => ({ key, name, fields, owner: own ? user : 'owner' }));
    await sql`
      insert into entity (name, key, fields, created_by, updated_by) overriding system value
      select name, key, fields, owner, owner
      from jsonb_to_recordset(${JSON.stringify(all)}::jsonb) as row (name text, key bigint, fields jsonb, owner text)`.execute(
      service().db,
    );
  }

  test('give what a model without SQL says (rule 64)', { timeout: 60_000 }, async () => {
    await service().createUser('owner');
    const callers = new Map<string, { cookie: string }>();
    const callerWith = async (rights: Record<string, string>) => {
      const name = Object.values(rights).join('-');
      const grants = Object.entries(rights).flatMap(([entity, condition]) =>
        condition === 'none' ? [] : [[entity, { actions: ['read'], condition }]],
      );
      const caller = callers.get(name) ?? (await createCaller(service(), name, { order: ['read'], ...Object.fromEntries(grants) }));
      callers.set(name, caller);
      return { caller, name };
    };
    await fc.assert(
      fc.asyncProperty(caseOf, async ({ agents, customers, orders, include, fields, rights }) => {
        const { caller, name: user } = await callerWith(rights);
        const rows = new Map<string, SeededRow>();
        const add = (row: SeededRow) => {
          const key = String(nextKey++);
          rows.set(key, row);
          return key;
        };
        // A reference beyond the last entity leads to none.
        const at = (keys: readonly string[], n: number | undefined) => (n === undefined ? undefined : (keys[n] ?? String(7_000_000 + n)));
        const agentKeys = agents.map((own) => add({ name: 'agent', own, fields: {} }));
        const customerKeys: string[] = [];
        for (const { own, agent, parent } of customers)
          customerKeys.push(add({ name: 'customer', own, fields: { agent: at(agentKeys, agent), parent: at(customerKeys, parent) } }));
        const orderKeys = orders.map(({ customer, seller, ship }) => {
          const fields = { customer: at(customerKeys, customer), seller: at(agentKeys, seller), ship: { to: at(customerKeys, ship) } };
          return add({ name: 'order', own: false, fields });
        });
        await insertAll(rows, user);

        const isVisible = (key: string, name: string) => {
          const row = rows.get(key);
          const right = rights[name as keyof typeof rights];
          return row?.name === name && (right === 'any' || (right === 'own' && row.own));
        };
        const included = new Set<string>();
        const withheld = new Set<string>();
        for (const order of orderKeys)
          for (const way of include)
            (ways[way] ?? []).reduce<string | undefined>((from, step, depth) => {
              const name = targets[step] ?? '';
              const key = from === undefined ? undefined : keyIn(rows.get(from)?.fields ?? {}, step);
              if (typeof key !== 'string') return undefined;
              if (isVisible(key, name)) included.add(`${name}/${key}`);
              else if (depth > 0 || !fields || fields.some((field) => step === field || step.startsWith(`${field}.`)))
                withheld.add(`${name}/${key}`);
              return isVisible(key, name) ? key : undefined;
            }, order);
        for (const by of [list, queryBy]) {
          const { body } = await by(service(), caller, 'order', {
            include,
            filter: { $key: { $in: orderKeys } },
            ...(fields && { fields }),
          });
          expect(body.items.map(({ key }) => key)).toEqual(orderKeys);
          const found = Object.entries(body.included ?? {}).flatMap(([name, entities]) =>
            Object.keys(entities).map((key) => `${name}/${key}`),
          );
          expect(new Set(found)).toEqual(included);
          expect(new Set(body.withheld?.map(({ name, key }) => `${name}/${key}`))).toEqual(withheld);
          expect([found.length, body.withheld?.length]).toEqual([included.size, withheld.size]);
        }
      }),
      { numRuns: 40 },
    );
  });
});
