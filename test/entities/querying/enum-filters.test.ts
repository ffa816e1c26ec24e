/** Values of filters on fields that are an `enum`. */
import { beforeAll, expect, test } from 'vitest';
import { declareIndexed } from '../../support/companion.ts';
import { declareType, seed } from '../../support/entities.ts';
import { faultsIn, keysIn, list, queryBy } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const service = useService();
let ada: { cookie: string };
beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  await seed(service(), 'order', '1', { state: 'open', tags: ['gift'], priority: 1 }, 'ada');
  await seed(service(), 'order', '2', { state: 'paid', tags: [], previous: '1' }, 'ada');
  await seed(service(), 'order', '3', { state: null }, 'ada');
  const state = { enum: ['open', 'paid', null] };
  await declareIndexed(service(), 'order', {
    properties: {
      state,
      kind: { const: 'order' },
      gone: { const: null },
      tags: { type: 'array', items: { $ref: '#/$defs/tag' } },
      priority: { enum: [1, 2] },
      previous: { type: 'string', format: 'int64' },
    },
    $defs: { tag: { type: 'string', enum: ['gift', 'late'] } },
    'x-index': [['state']],
    'x-references': { previous: { to: 'order' } },
  });
});

const found = async (filter: object) => keysIn([(await list(service(), ada, 'order', { filter })).body]);

test('200 — a text of the enum, and null, find what they did', async () => {
  expect(await found({ state: 'open' })).toEqual(['1']);
  expect(await found({ state: { $in: ['paid', null] } })).toEqual(['2', '3']);
  expect(await found({ state: { $ne: 'open' } })).toEqual(['2', '3']);
  expect(await found({ tags: { $contains: 'gift' }, kind: { $exists: false } })).toEqual(['1']);
  expect(await found({ previous: { $match: { state: 'open' } } })).toEqual(['2']);
  expect(await found({ priority: 3 })).toEqual([]);
  // Its enum has no text that could be misspelt.
  expect(await found({ gone: 'anything' })).toEqual([]);
});

test.for<[filter: object, place: string]>([
  [{ state: 'opne' }, '/state'],
  [{ state: { $eq: 'Open' } }, '/state/$eq'],
  [{ state: { $ne: 'opne' } }, '/state/$ne'],
  [{ state: { $in: ['open', null, 'opne'] } }, '/state/$in/2'],
  [{ $not: { state: { $nin: ['opne'] } } }, '/$not/state/$nin/0'],
  [{ kind: 'invoice' }, '/kind'],
  [{ tags: { $contains: 'gfit' } }, '/tags/$contains'],
  [{ previous: { $match: { state: 'opne' } } }, '/previous/$match/state'],
])('422 — %j names the place of a text that is not in the enum', async ([filter, place]) => {
  expect(faultsIn(await list<ProblemBody>(service(), ada, 'order', { filter }))).toEqual([`filter ${place} invalid-value`]);
  const answer = await queryBy<ProblemBody>(service(), ada, 'order', { filter });
  expect([answer.status, faultsIn(answer)]).toEqual([422, [`/filter${place} invalid-value`]]);
});

test('422 — the detail has the texts of the enum, in an aggregation too', async () => {
  const json = { filter: { state: 'opne' }, measures: { orders: { $count: true } } };
  const answer = await service().call('POST', '/rest/entity/order/aggregate', { ...ada, json });
  expect(answer.status).toBe(422);
  expect(answer.body.errors).toMatchObject([{ pointer: '/filter/state', detail: 'This value is not accepted. Accepted: open, paid.' }]);
});

test('200 — entities whose text the enum has no more are found by $nin, and the new type is in force at once', async () => {
  await declareType(service(), 'invoice', { properties: { state: { enum: ['open', 'paid', 'sent'] } } });
  await seed(service(), 'invoice', '11', { state: 'open' }, 'ada');
  await seed(service(), 'invoice', '12', { state: 'sent' }, 'ada');
  await seed(service(), 'invoice', '13', {}, 'ada');
  const find = (filter: object) => list(service(), ada, 'invoice', { filter });
  expect(keysIn([(await find({ state: 'sent' })).body])).toEqual(['12']);
  await declareType(service(), 'invoice', { properties: { state: { enum: ['open', 'paid'] } } });
  await expect.poll(async () => (await find({ state: 'sent' })).status).toBe(422);
  expect(keysIn([(await find({ state: { $nin: ['open', 'paid'], $empty: false } })).body])).toEqual(['12']);
});
