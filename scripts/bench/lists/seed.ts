/** Customers and orders in any number, and their types, whose indexes are built afterwards. */
import { Client } from 'pg';
import { theService } from '../../../src/audit/actor.ts';
import type { Store } from '../../../src/database/port.ts';
import { applyChange } from '../../../src/entity-types/apply.ts';
import { findStoredType } from '../../../src/entity-types/store.ts';
import { seed, seedKey } from '../../lib/seed.ts';

/** The names of the entities of one size. */
export interface Size {
  /** Customers and orders together. */
  entities: number;
  customers: string;
  orders: string;
}

/** Rows of one INSERT. */
const batch = 20_000;
/** The number of customers of one city. */
export const perCity = 50;

export function sizeOf(entities: number): Size {
  return { entities, customers: `customer-${entities}`, orders: `order-${entities}` };
}

/** The API key of a user who may read everything. The users of an earlier run stay. */
export async function callerKey(databaseUrl: string): Promise<string> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from user_account where name = $1', ['bench-0']);
    return rowCount === 0 ? (await seed(databaseUrl)).apiKey : await seedKey(databaseUrl, 'bench-0');
  } finally {
    await client.end();
  }
}

/** Whether an earlier run has made all entities of the size and their indexes. Throws if it was interrupted. */
export async function areDeclared({ db }: Store, { customers, orders, entities }: Size): Promise<boolean> {
  if ((await findStoredType(db, orders)).companion?.state === 'ready') return true;
  const isBegun = await db.selectFrom('entity').where('name', 'in', [customers, orders]).select('key').limit(1).executeTakeFirst();
  if (isBegun) throw new Error(`an earlier run was interrupted while it made ${entities} entities: remove the directory`);
  return false;
}

/** Inserts half of the entities as customers and half as orders. Calls `onRows` with the number of rows after each statement. */
export async function seedSize(databaseUrl: string, { entities, customers, orders }: Size, onRows: (rows: number) => void): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const count = Math.floor(entities / 2);
    // A prime, so that values are not in the order of the keys.
    const credit = `((n * 7919) % ${count})::text`;
    const customer = `jsonb_build_object('company', 'Analytical Engines ' || n || ' Ltd', 'city', 'City ' || n / ${perCity}, 'credit', ${credit})`;
    const first = await insertRows(client, customers, customer, count, onRows);
    const order = `jsonb_build_object('customer', (${first} + (n * 7919) % ${count})::text, 'total', ${credit}, 'state', 'open')`;
    await insertRows(client, orders, order, count, onRows);
    await client.query('vacuum analyze entity');
  } finally {
    await client.end();
  }
}

/** Returns the key of the first row; the others follow without a gap. */
async function insertRows(client: Client, name: string, fields: string, count: number, onRows: (rows: number) => void): Promise<string> {
  let first: string | undefined;
  for (let from = 0; from < count; from += batch) {
    const to = Math.min(count, from + batch);
    const { rows } = await client.query<{ key: string }>(
      `with inserted as (
         insert into entity (name, fields, created_by, updated_by)
         select $1, ${fields}, 'bench-0', 'bench-0' from generate_series(${from}::bigint, ${to - 1}) as n returning key
       ) select min(key)::text as key from inserted`,
      [name],
    );
    first ??= rows[0]?.key;
    onRows(to - from);
  }
  return first ?? '0';
}

/** Declares both types with the indexes that the lists need, and waits until these are built. */
export async function declareTypes(store: Store, { customers, orders }: Size): Promise<void> {
  const text = { type: 'string', maxLength: 200 };
  const decimal = { type: 'string', format: 'decimal' };
  const closed = { type: 'object', additionalProperties: false };
  await declare(store, customers, {
    ...closed,
    properties: { company: text, city: text, credit: decimal },
    'x-index': [['city'], ['credit']],
  });
  await declare(store, orders, {
    ...closed,
    properties: { customer: { type: 'string', format: 'int64' }, total: decimal, state: { enum: ['open', 'paid'] } },
    'x-index': [['total']],
    'x-references': { customer: { to: customers } },
  });
}

async function declare(store: Store, name: string, document: Record<string, unknown>): Promise<void> {
  await applyChange(store, theService, { name, document, source: 'command' });
}
