/** Attempts of a clerk to find a hidden row: each answer is the same for such a row and for a missing one (rules 64, 115, 154 and 178). */
import { describe, expect, test } from 'vitest';
import { attackedWorld, encoded, missingKey, spoken, type Row, type Send } from '../support/attacked-world.ts';

const world = attackedWorld();

type Attempt = (send: Send, row: Row) => Promise<unknown>;
const path = ({ key }: Row) => `entity/order/${key}`;
const withTest = (row: Row, test: object) => encoded({ number: row.number, ...test });
const one = (operation: object): [string, string, object] => ['POST', 'batch', { operations: [operation] }];

const attempts: Readonly<Record<string, Attempt>> = {
  get: (send, row) => send('GET', path(row)),
  'get with If-None-Match': (send, row) => send('GET', path(row), undefined, { headers: { 'if-none-match': '"1"' } }),
  'get with If-None-Match: *': (send, row) => send('GET', path(row), undefined, { headers: { 'if-none-match': '*' } }),
  'get of a version': (send, row) => send('GET', `${path(row)}?version=1`),
  'get of a late version': (send, row) => send('GET', `${path(row)}?version=99`),
  'get as of now': (send, row) => send('GET', `${path(row)}?asOf=${encodeURIComponent(new Date().toISOString())}`),
  'get of the trash': (send, row) => send('GET', `${path(row)}?deleted=only`),
  'get with include': (send, row) => send('GET', `${path(row)}?include=self`),
  history: (send, row) => send('GET', `${path(row)}/history`),
  list: (send, row) => send('GET', `entity/order?filter=${withTest(row, {})}`),
  'list by $key': (send, row) => send('GET', `entity/order?filter=${encoded({ $key: row.key })}`),
  'list sorted': (send, row) => send('GET', `entity/order?sort=-total&filter=${withTest(row, {})}`),
  'list with a negation': (send, row) => send('GET', `entity/order?filter=${withTest(row, { $not: { state: 'none' } })}`),
  'list through a reference': (send, row) => send('GET', `entity/order?filter=${encoded({ self: { $match: { number: row.number } } })}`),
  'list through a referring one': (send, row) =>
    send('GET', `entity/order?filter=${encoded({ $some: { 'order.self': { number: row.number } } })}`),
  'list of the trash': (send, row) => send('GET', `entity/order?deleted=only&filter=${withTest(row, {})}`),
  'count: exact': (send, row) => send('GET', `entity/order?count=exact&filter=${withTest(row, {})}`),
  'count: capped': (send, row) => send('GET', `entity/order?count=capped&filter=${withTest(row, {})}`),
  'count: estimated': (send, row) => send('GET', `entity/order?count=estimated&filter=${withTest(row, {})}`),
  query: (send, row) => send('POST', 'entity/order/query', { filter: { number: row.number } }),
  aggregate: (send, row) =>
    send('POST', 'entity/order/aggregate', { filter: { number: row.number }, groupBy: ['region'], measures: { n: { $sum: 'total' } } }),
  export: (send, row) => send('GET', `entity/order/export?filter=${withTest(row, {})}`),
  'export as CSV': (send, row) => send('GET', `entity/order/export?format=csv&filter=${withTest(row, {})}`),
  'export by query': (send, row) => send('POST', 'entity/order/export', { filter: { number: row.number } }),
  update: (send, row) => send('POST', path(row), { note: 'x' }),
  'update of nothing': (send, row) => send('POST', path(row), {}),
  'update of a hidden field': (send, row) => send('POST', path(row), { margin: '5' }),
  'update that the type refuses': (send, row) => send('POST', path(row), { note: 5 }),
  'update to an unknown field': (send, row) => send('POST', path(row), { nosuch: 5 }),
  'update with a right If-Match': (send, row) => send('POST', path(row), { note: 'x' }, { headers: { 'if-match': '"1"' } }),
  'update with a wrong If-Match': (send, row) => send('POST', path(row), { note: 'x' }, { headers: { 'if-match': '"9"' } }),
  'update with a key of repeats': (send, row) =>
    send('POST', path(row), { note: 'x' }, { headers: { 'idempotency-key': `"row ${row.key}"` } }),
  'restore of a version': (send, row) => send('POST', `${path(row)}/restore?version=1`),
  'restore of a late version': (send, row) => send('POST', `${path(row)}/restore?version=99`),
  'restore of a version with a patch': (send, row) => send('POST', `${path(row)}/restore?version=1`, { region: 'north' }),
  'restore of a present one': (send, row) => send('POST', `${path(row)}/restore`),
  delete: (send, row) => send('DELETE', path(row)),
  'delete with a wrong If-Match': (send, row) => send('DELETE', path(row), undefined, { headers: { 'if-match': '"9"' } }),
  purge: (send, row) => send('DELETE', `${path(row)}?purge=1`),
  'batch: get': (send, { key }) => send(...one({ op: 'get', name: 'order', key })),
  'batch: update': (send, { key }) => send(...one({ op: 'update', name: 'order', key, fields: { note: 'x' } })),
  'batch: update with ifMatch': (send, { key }) => send(...one({ op: 'update', name: 'order', key, fields: { note: 'x' }, ifMatch: '9' })),
  'batch: delete': (send, { key }) => send(...one({ op: 'delete', name: 'order', key })),
  'batch: reference': (send, { key }) => send(...one({ op: 'create', name: 'order', fields: { region: 'north', self: key } })),
  'batch without a transaction': (send, { key }) =>
    send('POST', 'batch', {
      atomic: false,
      operations: [
        { op: 'get', name: 'order', key },
        { op: 'delete', name: 'order', key },
      ],
    }),
  'create with a reference': (send, { key }) => send('POST', 'entity/order', { region: 'north', self: key }),
  'bulk with a reference': (send, { key }) => send('POST', 'entity/order/bulk', [{ region: 'north', self: key }]),
  'upsert with a reference': (send, { key }) =>
    send('POST', 'entity/order/upsert?by=number', { number: 'fixed', region: 'north', self: key }),
  'import with a reference': (send, { key }) => send('POST', 'entity/order/import', [{ region: 'north', self: key }]),
  'dry import with a reference': (send, { key }) => send('POST', 'entity/order/import?dryRun=true', [{ region: 'north', self: key }]),
  'import by $key': (send, { key }) => send('POST', 'entity/order/import?by=$key&mode=merge', [{ $key: key, note: 'x' }]),
  'import by $key that replaces': (send, { key }) => send('POST', 'entity/order/import?by=$key&mode=replace', [{ $key: key, note: 'x' }]),
  'a question for a read': (send, { key }) => send('POST', '/auth/permissions/check', { entity: 'order', key, action: 'read' }),
  'a question for an update': (send, { key }) =>
    send('POST', '/auth/permissions/check', { entity: 'order', key, action: 'update', set: { note: 'x' } }),
  'a question for a delete': (send, { key }) => send('POST', '/auth/permissions/check', { entity: 'order', key, action: 'delete' }),
};

const missing: Row = { key: missingKey, number: 'no such number' };
const statusIn = (told: unknown) => JSON.stringify(told).match(/"status":\d/g);

describe.each(Object.entries(attempts))('%s', (_, attempt) => {
  test('4xx or 200 — tells no hidden row (rule 64)', async () => {
    const { clerk, order } = world();
    const row = await order({ region: 'south', total: '9', margin: '5' });
    const told = spoken(await attempt(clerk, row), row);
    expect(told).toEqual(spoken(await attempt(clerk, missing), missing));
    expect(statusIn(told)).not.toContain('"status":5');
  });
});

const customerRoads: Readonly<Record<string, (send: Send, customer: string) => Promise<unknown>>> = {
  create: (send, customer) => send('POST', 'entity/order', { region: 'north', customer }),
  bulk: (send, customer) => send('POST', 'entity/order/bulk', [{ region: 'north', customer }]),
  update: async (send, customer) => send('POST', path(await world().order({ region: 'north' })), { customer }),
  upsert: (send, customer) => send('POST', 'entity/order/upsert?by=number', { number: 'fixed', region: 'north', customer }),
  import: (send, customer) => send('POST', 'entity/order/import', [{ region: 'north', customer }]),
  'a question': (send, customer) =>
    send('POST', '/auth/permissions/check', { entity: 'order', action: 'create', set: { region: 'north', customer } }),
  'get of the target': (send, customer) => send('GET', `entity/customer/${customer}`),
  'a filter': (send, customer) => send('GET', `entity/order?filter=${encoded({ customer: { $match: { $key: customer } } })}`),
};

test.each(Object.entries(customerRoads))('4xx or 200 — %s tells no hidden target of a reference (rules 115 and 178)', async (_, road) => {
  const { clerk, customer } = world();
  const key = await customer({ agent: 'clerk', isVisible: false, secret: 's' });
  const told = spoken(await road(clerk, key), { key, number: 'fixed' });
  expect(told).toEqual(spoken(await road(clerk, missingKey), { key: missingKey, number: 'fixed' }));
});

test('200 — the same attempts find the row for a caller whose grants cover it', async () => {
  const { chief, order } = world();
  const silent = [];
  for (const [name, attempt] of Object.entries(attempts)) {
    const row = await order({ region: 'south', total: '9', margin: '5' });
    const told = JSON.stringify(spoken(await attempt(chief, row), row));
    if (told === JSON.stringify(spoken(await attempt(chief, missing), missing))) silent.push(name);
  }
  // These look for a fault alone.
  expect(silent).toEqual([
    'get of a late version',
    'get as of now',
    'get of the trash',
    'list through a reference',
    'list through a referring one',
    'list of the trash',
    'aggregate',
    'restore of a late version',
    'import by $key',
    'import by $key that replaces',
  ]);
});
