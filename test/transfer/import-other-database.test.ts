/** `POST /rest/entity/{name}/import` of a file that another database has exported: its keys lead to other entities here (rule 148). */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { readServiceSecrets } from '../../src/database/service-secrets.ts';
import { databaseNameOf } from '../../src/transfer/database-name.ts';
import { declareType, rowsOf } from '../support/entities.ts';
import { importFile, refusalsOf } from '../support/imports.ts';
import { useService } from '../support/service.ts';

const service = useService();
let ada: string;
let cookie: string;
beforeAll(async () => {
  ada = (await service().createUser('ada')).id;
  cookie = await service().openSession(ada);
});

let number = 0;
let [customer, order] = ['', ''];
beforeEach(async () => {
  number += 1;
  [customer, order] = [`customer${number}`, `order${number}`];
  const [text, key] = [{ type: 'string' }, { type: ['string', 'null'], format: 'int64' }];
  await declareType(service(), customer, {
    properties: { number: text, country: text, best: key },
    'x-unique': [{ fields: ['country', 'number'] }],
    'x-references': { best: { to: customer } },
  });
  await declareType(service(), order, {
    properties: { number: text, customer: key, billing: { type: 'object', properties: { payer: key } } },
    'x-unique': [{ fields: ['number'] }],
    'x-references': { customer: { to: customer }, 'billing.payer': { to: customer } },
  });
});

const types = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;
type Format = keyof typeof types;
const send = (name: string, file: string, query = '', type: string = types.ndjson) =>
  importFile(service(), name, file, { query, type, cookie });
const exported = async (name: string, format: Format) =>
  (await service().call('GET', `/rest/entity/${name}/export?format=${format}`, { cookie })).text;
/** The file as another database would have written it. */
const elsewhere = (file: string) => file.replaceAll(/db[0-9a-f]{16}/g, 'db0123456789abcdef');
const fieldsOf = async (name: string) => (await rowsOf(service(), name)).map(({ fields }) => JSON.parse(fields) as Record<string, unknown>);
const seed = async () => {
  await send(customer, '{"number":"C-1","country":"GB"}');
  const key = (await rowsOf(service(), customer))[0]?.key ?? '';
  await send(order, `{"number":"1","customer":"${key}"}\n{"number":"2","billing":{"payer":"${key}"}}\n{"number":"3","customer":null}`);
  return key;
};

test.each<Format>(['ndjson', 'csv'])(
  '422 — %s: references by key of another database are refused, and the columns to write instead are named',
  async (format) => {
    await seed();
    const [file, before] = [elsewhere(await exported(order, format)), await rowsOf(service(), order)];
    await send(order, '{"number":"0"}');
    const all = await rowsOf(service(), order);
    const first = format === 'csv' ? 2 : 1;
    for (const query of ['?by=number&mode=replace', '?by=number&mode=replace&dryRun=true', '?by=number']) {
      const { refused, end } = await send(order, file, query, types[format]);
      expect(refusalsOf(refused)).toEqual([`${first} 422 other-database /customer`, `${first + 1} 422 other-database /billing/payer`]);
      const { errors } = refused[0] as { errors?: { detail: string }[] };
      expect(errors?.[0]?.detail).toContain('customer.country, customer.number');
      expect(end).toMatchObject({ failed: 2, unchanged: 1 });
    }
    expect(await rowsOf(service(), order)).toEqual(all);
    expect(before).toHaveLength(3);
  },
);

test('200 — the same file counts in its own database, and elsewhere with keys=keep or references by values', async () => {
  const key = await seed();
  for (const format of ['ndjson', 'csv'] as const) {
    const file = await exported(order, format);
    expect((await send(order, file, '?by=number', types[format])).end).toMatchObject({ unchanged: 3, failed: 0 });
    expect((await send(order, elsewhere(file), '?by=number&keys=keep', types[format])).end).toMatchObject({ unchanged: 3, failed: 0 });
    expect((await send(order, elsewhere(file), '?by=number&keys=refuse', types[format])).end).toMatchObject({ unchanged: 1, failed: 2 });
  }
  const file = elsewhere('number,customer.country,customer.number,$database=db0000000000000000\n4,GB,C-1,\n');
  expect((await send(order, file, '', types.csv)).end).toMatchObject({ created: 1, failed: 0 });
  expect((await fieldsOf(order)).at(-1)).toEqual({ number: '4', customer: key });
});

test('200 — two exported names into a database without their entities: no order belongs to a customer of the same key', async () => {
  const key = await seed();
  const [customers, orders] = [elsewhere(await exported(customer, 'ndjson')), elsewhere(await exported(order, 'ndjson'))];
  const [customerElsewhere, orderElsewhere] = [customer, order].map((name) => `${name}x`);
  await declareType(service(), `${customer}x`, { properties: { number: { type: 'string' }, country: { type: 'string' } } });
  await declareType(service(), `${order}x`, {
    properties: { number: { type: 'string' }, customer: { type: 'string', format: 'int64' } },
    'x-references': { customer: { to: customer } },
  });
  expect((await send(customerElsewhere ?? '', customers)).end).toMatchObject({ created: 1, failed: 0 });
  // The key exists here, so nothing else would refuse it.
  expect((await rowsOf(service(), customer)).map((row) => row.key)).toEqual([key]);
  const { refused } = await send(orderElsewhere ?? '', orders);
  expect(refusalsOf(refused)[0]).toBe('1 422 other-database /customer');
  expect((await fieldsOf(orderElsewhere ?? '')).some((fields) => 'customer' in fields && fields['customer'] !== null)).toBe(false);
});

test('422 — with by=$key the key of another database is refused, and so is a version that is a condition', async () => {
  await seed();
  const before = await rowsOf(service(), customer);
  for (const format of ['ndjson', 'csv'] as const) {
    const file = elsewhere((await exported(customer, format)).replace('C-1', 'C-9'));
    const { refused } = await send(customer, file, '?by=$key', types[format]);
    expect(refusalsOf(refused)).toEqual([expect.stringMatching(/^[12] 422 other-database \/\$key\b/)]);
  }
  const versioned = `$version,country,number,$database=db0123456789abcdef\n1,GB,C-1,\n`;
  expect(refusalsOf((await send(customer, versioned, '?by=country,number', types.csv)).refused)).toEqual([
    '2 422 other-database /$version',
  ]);
  expect(await rowsOf(service(), customer)).toEqual(before);
  expect((await send(customer, versioned, '?by=country,number&keys=keep', types.csv)).end).toMatchObject({ unchanged: 1 });
});

test('the name is another one in each database, and that of before a rotation counts until the next one', async () => {
  const secrets = await readServiceSecrets(service().db);
  const name = databaseNameOf(secrets);
  expect(name).toMatch(/^db[0-9a-f]{16}$/);
  expect(await exported(customer, 'csv')).toContain(`$database=${name}`);
  expect(databaseNameOf(new Map([['cursor', Buffer.alloc(32)]]))).not.toBe(name);
});

test('422 — a header with two databases, and a cell in the column of the database', async () => {
  const twice = await send(order, 'number,$database=db1,$database=db2\n1,,\n', '', types.csv);
  expect(refusalsOf(twice.refused)).toEqual([expect.stringContaining('repeated #3')]);
  const filled = await send(order, 'number,$database=db1\n1,x\n2,\n3\n', '', types.csv);
  expect(refusalsOf(filled.refused)).toEqual(['2 400 unnamed-column #2']);
  expect(filled.end).toMatchObject({ created: 2 });
});

test.each<[member: string, change: object, place: string]>([
  ['a database that is no text', { database: 5 }, '/database'],
  ['a database that is null', { database: null }, '/database'],
  ['a database that is a list of one', { database: ['db0123456789abcdef'] }, '/database'],
  ['a key that is null', { key: null }, '/key'],
  ['a version that is an object', { version: {} }, '/version'],
])('422 — a line of an export with %s, whose keys do not count (rule 148)', async (_title, change, place) => {
  await seed();
  const before = await rowsOf(service(), order);
  const [line = ''] = (await exported(order, 'ndjson')).split('\n');
  const file = JSON.stringify({ ...(JSON.parse(line) as object), ...change });
  const { refused, end } = await send(order, `${file}\n{"number":"4"}`);
  expect(refusalsOf(refused)).toEqual([`1 422 invalid-type ${place}`]);
  expect(end).toMatchObject({ failed: 1, created: 1 });
  expect((await rowsOf(service(), order)).slice(0, before.length)).toEqual(before);
});

test('422 — the caller who may not read the targets learns nothing of their rules (rule 116)', async () => {
  await seed();
  const stranger = await service().createUser('eve', { [order]: ['create', 'read', 'update'] });
  const by = await service().openSession(stranger.id);
  const { refused } = await importFile(service(), order, elsewhere(await exported(order, 'ndjson')), {
    query: '',
    type: types.ndjson,
    cookie: by,
  });
  expect(refusalsOf(refused)[0]).toBe('1 422 other-database /customer');
  expect(JSON.stringify(refused)).not.toContain('country');
});
