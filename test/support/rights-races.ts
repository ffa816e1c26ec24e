/** Races of writes under rules with transactions that take the rows out of these rules. Only the other transaction may have written afterwards. */
import { sql, type Transaction } from 'kysely';
import { expect } from 'vitest';
import type { Database } from '../../src/database/tables.ts';
import { declareType, type Entity } from './entities.ts';
import { callerWith } from './rules.ts';
import type { Call, TestService } from './service.ts';
import { waitingProcesses } from './waiting.ts';

const reference = { type: 'string', format: 'int64' };
const actions = ['read', 'update', 'delete', 'purge'] as const;
const rules = {
  /** Of the order alone (check 9). */
  own: { filter: { region: 'north' } },
  /** Of the order and its customer (check 10). */
  agent: { filter: { customer: { $match: { agent: { $var: 'user.name' } } } } },
  /** The same with the referring entities of the customer. */
  badge: { filter: { customer: { $match: { $some: { 'badge.customer': { user: { $var: 'user.name' } } } } } } },
};
export type RacedRule = keyof typeof rules;

interface Round {
  /** The orders that the other transaction takes out of the rule. */
  orders: Entity[];
  /** The other changes of that transaction. */
  others: (trx: Transaction<Database>) => Promise<void>;
  /** The fields of the orders that it changes. */
  change: object;
}

type Send = (method: string, path: string, json?: object) => Promise<{ status: number; text: string }>;

const each = async <T>(one: Promise<T>): Promise<T[]> => [await one];

/** The writes that race. */
const writes: Readonly<Record<string, (send: Send, orders: readonly Entity[]) => Promise<{ status: number; text: string }[]>>> = {
  update: (send, [order]) => each(send('POST', `entity/order/${order?.key}`, { note: 'ada' })),
  'grouped updates': (send, orders) => Promise.all(orders.map(({ key }) => send('POST', `entity/order/${key}`, { note: 'ada' }))),
  delete: (send, [order]) => each(send('DELETE', `entity/order/${order?.key}`)),
  purge: (send, [order]) => each(send('DELETE', `entity/order/${order?.key}?purge=1`)),
  'batch of updates': (send, orders) =>
    each(send('POST', 'batch', { operations: orders.map(({ key }) => ({ op: 'update', name: 'order', key, fields: { note: 'ada' } })) })),
  'batch of one deletion': (send, [order]) =>
    each(send('POST', 'batch', { operations: [{ op: 'delete', name: 'order', key: order?.key }] })),
  'batch of deletions': (send, orders) =>
    each(send('POST', 'batch', { operations: orders.map(({ key }) => ({ op: 'delete', name: 'order', key })) })),
};
export const racedWrites = Object.keys(writes);

export class RightsRaces {
  readonly #service: TestService;
  readonly #root: Call;
  readonly #callers: ReadonlyMap<RacedRule, Call>;

  private constructor(service: TestService, root: Call, callers: ReadonlyMap<RacedRule, Call>) {
    this.#service = service;
    this.#root = root;
    this.#callers = callers;
  }

  static async open(service: TestService): Promise<RightsRaces> {
    const typeOf = (properties: object, more: object = {}) => ({ type: 'object', properties, additionalProperties: false, ...more });
    const text = { type: 'string' };
    await declareType(service, 'customer', typeOf({ agent: text }));
    await declareType(
      service,
      'badge',
      typeOf({ customer: reference, user: text }, { 'x-references': { customer: { to: 'customer' } }, 'x-index': [['customer', 'user']] }),
    );
    await declareType(
      service,
      'order',
      typeOf({ customer: reference, region: text, note: text }, { 'x-references': { customer: { to: 'customer' } } }),
    );
    const root = { cookie: await service.openSession((await service.createUser('root')).id) };
    const callers = new Map<RacedRule, Call>();
    for (const [name, rule] of Object.entries(rules) as [RacedRule, (typeof rules)[RacedRule]][])
      callers.set(name, await callerWith(service, `ada-${name}`, [{ entity: 'order', actions: [...actions], rule }]));
    return new RightsRaces(service, root, callers);
  }

  async #made(name: string, fields: object): Promise<Entity> {
    const { body, status, text } = await this.#service.call<Entity>('POST', `/rest/entity/${name}`, { ...this.#root, json: fields });
    expect(status, text).toBe(201);
    return body;
  }

  async #round(rule: RacedRule): Promise<Round> {
    const me = `ada-${rule}`;
    const made = (fields: object) => Promise.all([0, 1, 2].map(() => this.#made('order', { note: 'root', ...fields })));
    const nothing = () => Promise.resolve();
    if (rule === 'own') return { orders: await made({ region: 'north' }), others: nothing, change: { region: 'south' } };
    const [from, to] = [await this.#made('customer', { agent: me }), await this.#made('customer', { agent: me })];
    const orders = await made({ customer: from.key });
    const change = { customer: to.key };
    if (rule === 'agent') return { orders, change, others: (trx) => this.#merge(trx, 'customer', to.key, { agent: 'bob' }) };
    await this.#made('badge', { customer: from.key, user: me });
    const badge = await this.#made('badge', { customer: to.key, user: me });
    return { orders, change, others: (trx) => this.#merge(trx, 'badge', badge.key, { user: 'bob' }) };
  }

  async #merge(trx: Transaction<Database>, name: string, key: string, fields: object): Promise<void> {
    const companion = (await this.#service.context.entityTypes.find(name))?.companion;
    await sql`update entity set fields = fields || ${JSON.stringify(fields)}::jsonb, version = version + 1 where name = ${name} and key = ${key}`.execute(
      trx,
    );
    for (const [field, value] of Object.entries(fields)) {
      const column = companion?.columns.find((each) => each.field[0] === field);
      if (companion && column)
        await sql`update ${sql.table(`entity_data.${companion.table}`)} set ${sql.ref(column.name)} = ${value} where key = ${key}`.execute(
          trx,
        );
    }
  }

  /**
   * Another transaction moves orders out of the rule, and changes what the rule would find at their new places. It waits until the write of the caller waits for it. The
   * rule held before, and does not afterwards; it does for the new orders beside the old entities.
   */
  async run(rule: RacedRule, write: string): Promise<void> {
    const { orders, others, change } = await this.#round(rule);
    const send: Send = (method, path, json) =>
      this.#service.call(method, `/rest/${path}`, { ...this.#callers.get(rule), ...(json && { json }) });
    let answers: Promise<{ status: number; text: string }[]> | undefined;
    await this.#service.db.transaction().execute(async (trx) => {
      for (const { key } of orders) await this.#merge(trx, 'order', key, change);
      await others(trx);
      answers = writes[write]?.(send, orders);
      await expect.poll(async () => (await waitingProcesses.execute(this.#service.db)).rows.length, { interval: 2 }).toBeGreaterThan(0);
    });
    for (const { status, text } of (await answers) ?? []) expect(status, text).toBe(404);
    for (const { key } of orders) {
      const { body } = await this.#service.call<Entity>('GET', `/rest/entity/order/${key}`, this.#root);
      expect(body).toMatchObject({ version: 2, fields: { note: 'root', ...change } });
    }
  }
}
