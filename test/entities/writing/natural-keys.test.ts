/** References by the values of a unique rule of their target, `{"customer": {"number": "C-1"}}`: they hold in a database with other keys. */
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, type Entity } from '../../support/entities.ts';
import { faultsIn } from '../../support/lists.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';

const service = useService();
const all = ['create' as const, 'update' as const, 'read' as const];
type Body = Entity & ProblemBody & { results: { status: number; entity: Entity }[] };
let ada: Call;
/** Reads own customers alone. */
let owner: Call;
/** Reads no customer. */
let blind: Call;
/** Reads all customers, but not with this key. */
let scoped: Call;
const customers: Record<string, string> = {};

const as = async (name: string, grants: Parameters<ReturnType<typeof service>['createUser']>[1]): Promise<Call> => ({
  cookie: await service().openSession((await service().createUser(name, grants)).id),
});
const send = (who: Call, path: string, json: object): Promise<Answer<Body>> =>
  service().call<Body>('POST', `/rest/${path}`, { ...who, json });

beforeAll(async () => {
  const { id } = await service().createUser('ada', { '*': all });
  ada = { cookie: await service().openSession(id) };
  scoped = { headers: { 'x-api-key': await service().createKey(id, { scopes: [{ entity: 'order', actions: all }] }) } };
  const order = { actions: all, condition: 'any' as const };
  owner = await as('owner', { order, customer: { actions: all, condition: 'own' } });
  blind = await as('blind', { order, customer: ['create'] });
  await declareType(service(), 'customer', {
    type: 'object',
    properties: {
      number: { type: 'string' },
      site: { type: 'string' },
      tax: { type: 'object', properties: { id: { type: 'string', format: 'int64' } } },
    },
    'x-unique': [{ fields: ['number'] }, { fields: ['site', 'tax.id'] }],
  });
  const reference = { type: ['string', 'null'], format: 'int64' };
  await declareType(service(), 'order', {
    type: 'object',
    properties: { number: { type: 'string' }, customer: reference, ship: { type: 'object', properties: { to: reference } }, lines: {} },
    'x-unique': [{ fields: ['number'] }],
    'x-references': { customer: { to: 'customer' }, 'ship.to': { to: 'customer' } },
  });
  for (const number of ['C-1', 'C-2'])
    customers[number] = (await send(ada, 'entity/customer', { number, site: number, tax: { id: '7' } })).body.key;
  customers['own'] = (await send(owner, 'entity/customer', { number: 'own' })).body.key;
});

let count = 0;
const roads: Record<string, (who: Call, fields: object) => Promise<Answer<Body>>> = {
  'an upsert that creates': (who, fields) => send(who, 'entity/order/upsert?by=number', { number: `U-${++count}`, ...fields }),
  'an upsert that updates': async (who, fields) => {
    const number = `V-${++count}`;
    await send(ada, 'entity/order', { number });
    return await send(who, 'entity/order/upsert?by=number', { number, ...fields });
  },
  'a create of a batch': async (who, fields) =>
    inBatch(await send(who, 'batch', { operations: [{ op: 'create', name: 'order', fields }] })),
  'an update of a batch': async (who, fields) => {
    const { key } = (await send(ada, 'entity/order', { number: `B-${++count}` })).body;
    return inBatch(await send(who, 'batch', { operations: [{ op: 'update', name: 'order', key, fields }] }));
  },
};

describe('an import', () => {
  const importAs = async (who: Call, type: string, raw: string, query = '') => {
    const answer = await service().call('POST', `/rest/entity/order/import${query}`, { ...who, headers: { 'content-type': type }, raw });
    return {
      status: answer.status,
      lines: answer.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { row: number; created?: number; updated?: number; failed?: number } & ProblemBody),
    };
  };
  const customerOf = async (number: string) => {
    const filter = encodeURIComponent(JSON.stringify({ number }));
    const { body } = await service().call<{ items: Entity[] }>('GET', `/rest/entity/order?filter=${filter}`, ada);
    return body.items[0]?.fields['customer'];
  };

  test('CSV: a column customer.number stores the key of the customer, in new orders and in those that exist', async () => {
    const first = await importAs(ada, 'text/csv', 'number,customer.number\nI-1,C-1\nI-2,C-2\nI-3,\nI-4,C-9\n');
    expect(first.lines.at(-1)).toMatchObject({ created: 3, failed: 1 });
    expect(first.lines.find(({ errors }) => errors)).toMatchObject({
      row: 5,
      errors: [{ pointer: '/customer', code: 'reference-not-found' }],
    });
    expect([await customerOf('I-1'), await customerOf('I-2'), await customerOf('I-3')]).toEqual([
      customers['C-1'],
      customers['C-2'],
      undefined,
    ]);
    const second = await importAs(ada, 'text/csv', 'number,customer.number\nI-1,C-2\n', '?by=number');
    expect(second.lines.at(-1)).toMatchObject({ updated: 1 });
    expect(await customerOf('I-1')).toBe(customers['C-2']);
    const dry = await importAs(ada, 'text/csv', 'number,customer.number\nI-1,C-1\nI-9,C-9\n', '?by=number&dryRun=true');
    expect(dry.lines.at(-1)).toMatchObject({ updated: 1, failed: 1 });
    expect(await customerOf('I-1')).toBe(customers['C-2']);
  });

  test('CSV: the target declares how such a column is read: a number is no text', async () => {
    const rules = [{ fields: ['nr'] }, { fields: ['place.row', 'place.isTop'] }];
    const place = { type: 'object', properties: { row: { type: 'number' }, isTop: { type: 'boolean' } } };
    await declareType(service(), 'shelf', { type: 'object', properties: { nr: { type: 'integer' }, place }, 'x-unique': rules });
    const reference = { type: ['string', 'null'], format: 'int64' };
    await declareType(service(), 'box', {
      type: 'object',
      properties: { shelf: reference, at: { type: 'object', properties: { shelf: reference } } },
      'x-references': { shelf: { to: 'shelf' }, 'at.shelf': { to: 'shelf' } },
    });
    const { body } = await send(ada, 'entity/shelf', { nr: 12, place: { row: 1.5, isTop: true } });
    const headers = { 'content-type': 'text/csv' };
    const file = 'shelf.nr,at.shelf.place.row,at.shelf.place.isTop\n12,,\n,1.50,TRUE\n13,,\nx,,\n';
    const answer = await service().call('POST', '/rest/entity/box/import', { ...ada, headers, raw: file });
    const lines = answer.text
      .trimEnd()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as ProblemBody).errors ?? []);
    expect(lines).toMatchObject([
      { pointer: '/shelf', code: 'reference-not-found' },
      { pointer: '/shelf/nr', code: 'invalid-value' },
    ]);
    const boxes = await service().call<{ items: Entity[] }>('GET', '/rest/entity/box?sort=$key', ada);
    expect(boxes.body.items.map(({ fields }) => fields)).toEqual([{ shelf: body.key }, { at: { shelf: body.key } }]);
  });

  test('CSV: empty cells of all columns below a reference remove it', async () => {
    const fields = async (number: string) => {
      const filter = encodeURIComponent(JSON.stringify({ number }));
      return (await service().call<{ items: Entity[] }>('GET', `/rest/entity/order?filter=${filter}`, ada)).body.items[0]?.fields;
    };
    await importAs(ada, 'text/csv', 'number,customer.number,ship.to.site,ship.to.tax.id\nE-1,C-1,C-2,7\n');
    const all = { number: 'E-1', customer: customers['C-1'], ship: { to: customers['C-2'] } };
    expect(await fields('E-1')).toEqual(all);
    // A part of the values names no target.
    const half = await importAs(ada, 'text/csv', 'number,ship.to.site,ship.to.tax.id\nE-1,C-2,\n', '?by=number');
    expect([half.lines.at(-1), await fields('E-1')]).toMatchObject([{ failed: 1 }, all]);
    const dry = await importAs(ada, 'text/csv', 'number,customer.number\nE-1,\n', '?by=number&dryRun=true');
    expect([dry.lines.at(-1), await fields('E-1')]).toMatchObject([{ updated: 1, removedFields: 1 }, all]);
    const one = await importAs(ada, 'text/csv', 'number,customer.number\nE-1,\n', '?by=number');
    expect(one.lines.at(-1)).toMatchObject({ updated: 1, removedFields: 1 });
    expect(await fields('E-1')).toEqual({ number: 'E-1', ship: { to: customers['C-2'] } });
    await importAs(ada, 'text/csv', 'number,ship.to.site,ship.to.tax.id\nE-1,,\n', '?by=number');
    expect(await fields('E-1')).toEqual({ number: 'E-1' });
  });

  test('NDJSON: an object of the values does', async () => {
    const rows = [
      { number: 'J-1', customer: { number: 'C-1' } },
      { number: 'J-2', customer: { site: 'C-2', tax: { id: '7' } } },
    ];
    const { lines } = await importAs(ada, 'application/x-ndjson', rows.map((row) => JSON.stringify(row)).join('\n'));
    expect(lines.at(-1)).toMatchObject({ created: 2, failed: 0 });
    expect([await customerOf('J-1'), await customerOf('J-2')]).toEqual([customers['C-1'], customers['C-2']]);
  });

  test('a column below a field that is no reference is unknown, and one of no rule is refused in each row', async () => {
    const unknown = await importAs(ada, 'text/csv', 'number,number.x\nK-1,1\n');
    expect(unknown.lines[0]).toMatchObject({ row: 1, errors: [{ code: 'unknown-field' }] });
    const { lines } = await importAs(ada, 'text/csv', 'number,customer.name\nK-1,C-1\n');
    expect(lines.find(({ errors }) => errors)).toMatchObject({ row: 2, errors: [{ pointer: '/customer', code: 'invalid-value' }] });
  });
});

/** The answer as that of the only operation. */
function inBatch(answer: Answer<Body>): Answer<Body> {
  const entity = answer.body.results?.[0]?.entity;
  const faults = answer.body.errors?.map((fault) => ({ ...fault, pointer: fault.pointer?.replace('/operations/0/fields', '') }));
  return { ...answer, body: { ...answer.body, ...entity, ...(faults && { errors: faults }) } as Body };
}

describe.for(Object.entries(roads))('%s', ([, road]) => {
  test('stores the key of the entity with these values, of one field and of several, beside others as they were sent', async () => {
    const answer = await road(ada, { customer: { number: 'C-2' }, ship: { to: { site: 'C-1', tax: { id: '7' } } }, lines: [1.5] });
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(answer.body.fields).toMatchObject({ customer: customers['C-2'], ship: { to: customers['C-1'] }, lines: [1.5] });
  });

  test('422 — for values that no entity has, each with its pointer', async () => {
    const answer = await road(ada, { customer: { number: 'C-9' }, ship: { to: { site: 'C-1', tax: { id: '8' } } } });
    expect([answer.status, ...faultsIn(answer)]).toEqual([422, '/customer reference-not-found', '/ship/to reference-not-found']);
  });

  test('422 — for fields of no unique rule, and for values of another type', async () => {
    const answer = await road(ada, { customer: { name: 'C-1' } });
    expect([answer.status, ...faultsIn(answer)]).toEqual([422, '/customer invalid-value']);
    expect(answer.body.errors?.[0]?.detail).toContain('number');
    const mistyped = await road(ada, { customer: { number: 1 }, ship: { to: { site: 'C-1', tax: { id: 'seven' } } } });
    expect([mistyped.status, ...faultsIn(mistyped)]).toEqual([422, '/customer/number invalid-value', '/ship/to/tax/id invalid-value']);
  });

  test('422 — as for a missing entity, with a key whose scopes do not read the target: values are found by reading (rule 116)', async () => {
    expect((await road(scoped, { customer: customers['C-1'] })).body.fields).toMatchObject({ customer: customers['C-1'] });
    for (const values of [{ number: 'C-1' }, { number: 'C-9' }, { name: 'C-1' }]) {
      const answer = await road(scoped, { customer: values });
      expect([answer.status, ...faultsIn(answer)]).toEqual([422, '/customer reference-not-found']);
    }
  });

  test('422 — as for a missing entity, for one that the caller may not refer to (rule 115)', async () => {
    expect((await road(owner, { customer: { number: 'own' } })).body.fields).toMatchObject({ customer: customers['own'] });
    for (const [who, fields] of [
      [owner, { number: 'C-1' }],
      [blind, { number: 'C-1' }],
      [blind, { name: 'C-1' }],
    ] as const) {
      const answer = await road(who, { customer: fields });
      expect([answer.status, ...faultsIn(answer)]).toEqual([422, '/customer reference-not-found']);
    }
  });
});

test('422 — values that a rule does not take as they are written find no entity beside them: digits beyond microseconds, another spelling', async () => {
  const at = '2026-11-26T10:00:00.123456Z';
  const id = '9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17';
  await declareType(service(), 'event', {
    properties: { s: { type: 'string' }, at: { type: 'string', format: 'date-time' }, id: { type: 'string', format: 'uuid' } },
    'x-unique': [{ fields: ['s', 'at'] }, { fields: ['id'] }],
  });
  await declareType(service(), 'ticket', {
    properties: { event: { type: ['string', 'null'], format: 'int64' }, number: { type: 'string' } },
    'x-unique': [{ fields: ['number'] }],
    'x-references': { event: { to: 'event' } },
  });
  const { key } = (await send(ada, 'entity/event', { s: 'x', at, id })).body;
  const create = (event: object) => send(ada, 'batch', { operations: [{ op: 'create', name: 'ticket', fields: { event } }] });
  expect((await create({ s: 'x', at })).body.results[0]?.entity.fields).toEqual({ event: key });
  expect((await create({ s: 'x', at: '2026-11-26T11:00:00.123456+01:00' })).status).toBe(200);
  for (const [event, place] of [
    [{ s: 'x', at: '2026-11-26T10:00:00.1234562Z' }, 'at'],
    [{ id: id.toUpperCase() }, 'id'],
  ] as const) {
    const answer = await create(event);
    expect([answer.status, ...faultsIn(answer)]).toEqual([422, `/operations/0/fields/event/${place} invalid-value`]);
    const upserted = await send(ada, 'entity/ticket/upsert?by=number', { number: 'T', event });
    expect([upserted.status, ...faultsIn(upserted)]).toEqual([422, `/event/${place} invalid-value`]);
  }
});

test('200 — a batch with an Idempotency-Key finds its references with the one connection of a process, all in their places', async () => {
  const single = await service().replica({ DATABASE_POOL_SIZE: '1' });
  const operations = ['C-1', 'C-2', 'C-1'].map((number) => ({ op: 'create', name: 'order', fields: { customer: { number } } }));
  const run = (key: string, more: object[] = []) =>
    single.call<Body>('POST', '/rest/batch', {
      ...ada,
      headers: { 'idempotency-key': `"${key}"` },
      json: { operations: [...operations, ...more] },
    });
  const { status, body } = await run('natural');
  expect(status).toBe(200);
  expect(body.results.map(({ entity }) => entity.fields['customer'])).toEqual([customers['C-1'], customers['C-2'], customers['C-1']]);
  const wrong = [{ op: 'create', name: 'order', fields: { customer: { number: 'C-9' } } }];
  const refused = await run('unnatural', wrong);
  expect([refused.status, ...faultsIn(refused)]).toEqual([422, '/operations/3/fields/customer reference-not-found']);
});
