/** The same lists of the peers, over the same customers and orders. They have no cursors, so a deep page has an offset. */
import { Client } from 'pg';
import { request } from '../../lib/scenarios.ts';
import { directus, signedIn as signedInToDirectus } from '../peers/directus.ts';
import { parseServer, signedIn as signedInToParse } from '../peers/parse-server.ts';
import type { Peer } from '../peers/peer.ts';
import { cityOf, deepPageOf, pageSize } from './scenarios.ts';
import { perCity, type Size } from './seed.ts';

/** The request of each list, by its {@link listKey}. */
export type PeerLists = ReadonlyMap<string, Buffer>;

/** Of a list that the service has under this name. */
export const listKey = (entities: number, name: string): string => `${entities} ${name.replace(/page [0-9]+/, 'deep page')}`;

const orderColumns = '"customer", total, state';

interface Tables {
  customers: string;
  orders: string;
}

/** The names of classes must not have signs. */
const tablesOf = ({ entities }: Size): Tables => ({ customers: `customer${entities}`, orders: `order${entities}` });

/** How a peer writes its tables and its lists. */
interface Dialect {
  /** The type of the keys, and the key of row number `n` as SQL. */
  key: { column: string; type: string; of: (n: string) => string };
  /** Further columns that every row has, with their values as SQL. */
  columns: Readonly<Record<string, string>>;
  path: (table: string) => string;
  query: (list: { skip?: number; sort?: string; city?: string; includes?: boolean }) => Record<string, string>;
}

const directusDialect: Dialect = {
  key: { column: 'id', type: 'integer', of: (n) => `${n} + 1` },
  columns: {},
  path: (table) => `/items/${table}`,
  query: ({ skip, sort, city, includes }) => ({
    limit: String(pageSize),
    sort: sort ?? 'id',
    ...(skip !== undefined && { offset: String(skip) }),
    ...(city !== undefined && { filter: JSON.stringify({ city: { _eq: city } }) }),
    ...(includes && { fields: '*,customer.*' }),
  }),
};

const parseDialect: Dialect = {
  key: { column: '"objectId"', type: 'text', of: (n) => `lpad((${n})::text, 10, '0')` },
  columns: { '"createdAt"': 'now()', '"updatedAt"': 'now()' },
  path: (table) => `/parse/classes/${table}`,
  query: ({ skip, sort, city, includes }) => ({
    limit: String(pageSize),
    order: sort ?? 'objectId',
    ...(skip !== undefined && { skip: String(skip) }),
    ...(city !== undefined && { where: JSON.stringify({ city }) }),
    ...(includes && { include: 'customer' }),
  }),
};

export function directusLists(sizes: readonly Size[]): Peer<PeerLists> {
  const id = { field: 'id', type: 'integer', meta: {}, schema: { is_primary_key: true, has_auto_increment: true } };
  const credit = { type: 'decimal', schema: { numeric_precision: 20, numeric_scale: 0 } };
  const collections = sizes.map(tablesOf).flatMap(({ customers, orders }) => [
    {
      collection: customers,
      fields: [id, { field: 'company', type: 'string' }, { field: 'city', type: 'string' }, { field: 'credit', ...credit }],
    },
    {
      collection: orders,
      fields: [id, { field: 'customer', type: 'integer' }, { field: 'total', ...credit }, { field: 'state', type: 'string' }],
    },
  ]);
  return {
    ...directus,
    async setUp(site) {
      const relations = sizes
        .map(tablesOf)
        .map(({ customers, orders }) => ({ collection: orders, field: 'customer', related_collection: customers }));
      const session = await signedInToDirectus(site, collections, relations);
      await insertAll(site.databaseUrl, directusDialect, sizes);
      return listsOf(directusDialect, session, sizes);
    },
  };
}

export function parseLists(sizes: readonly Size[]): Peer<PeerLists> {
  const [text, number] = [{ type: 'String' }, { type: 'Number' }];
  const classes = sizes.map(tablesOf).flatMap(({ customers, orders }) => [
    [customers, { company: text, city: text, credit: number }],
    [orders, { customer: { type: 'Pointer', targetClass: customers }, total: number, state: text }],
  ]);
  return {
    ...parseServer,
    async setUp(site) {
      const session = await signedInToParse(site, Object.fromEntries(classes) as Record<string, object>);
      await insertAll(site.databaseUrl, parseDialect, sizes);
      return listsOf(parseDialect, session, sizes);
    },
  };
}

/** Inserts the rows that the service has, and makes the same indexes. */
async function insertAll(databaseUrl: string, { key, columns }: Dialect, sizes: readonly Size[]): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const more = (texts: readonly string[]) => texts.map((text) => `, ${text}`).join('');
    for (const size of sizes) {
      const { customers, orders } = tablesOf(size);
      const count = Math.floor(size.entities / 2);
      const other = `(n * 7919) % ${count}`;
      const rows = `from generate_series(0::bigint, ${count - 1}) as n`;
      await client.query(
        `insert into "${customers}" (${key.column}${more(Object.keys(columns))}, company, city, credit)
         select ${key.of('n')}${more(Object.values(columns))}, 'Analytical Engines ' || n || ' Ltd', 'City ' || n / ${perCity}, ${other} ${rows}`,
      );
      await client.query(
        `insert into "${orders}" (${key.column}${more(Object.keys(columns))}, ${orderColumns})
         select ${key.of('n')}${more(Object.values(columns))}, ${key.of(other)}, ${other}, 'open' ${rows}`,
      );
      for (const [table, column] of [
        [customers, 'city'],
        [customers, 'credit'],
        [orders, 'total'],
        [orders, 'customer'],
      ])
        await client.query(`create index on "${table}" ("${column}", ${key.column})`);
    }
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

function listsOf({ path, query }: Dialect, session: string, sizes: readonly Size[]): PeerLists {
  return new Map(
    sizes.flatMap((size) => {
      const { customers, orders } = tablesOf(size);
      const skip = (deepPageOf(size) - 1) * pageSize;
      const ask = (table: string, list: Parameters<Dialect['query']>[0]) =>
        request('GET', `${path(table)}?${new URLSearchParams(query(list)).toString()}`, session);
      const lists: Record<string, Buffer> = {
        'first page by key': ask(customers, {}),
        'deep page by key': ask(customers, { skip }),
        'first page by an index': ask(customers, { sort: '-credit' }),
        'deep page by an index': ask(customers, { sort: '-credit', skip }),
        filtered: ask(customers, { city: cityOf(size) }),
        'with include': ask(orders, { includes: true }),
      };
      return Object.entries(lists).map(([name, bytes]) => [listKey(size.entities, name), bytes] as const);
    }),
  );
}
