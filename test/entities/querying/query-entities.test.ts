import { beforeAll, describe, expect, test } from 'vitest';
import { faultsIn, keysIn, list, listPath, pagesOf, queryBy, seedMany, writeTypes, type ListQuery } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const customer = {
  type: 'object',
  additionalProperties: false,
  properties: {
    company: { type: 'string' },
    city: { type: ['string', 'null'] },
    credit: { type: 'number' },
    account: { type: 'string', format: 'int64' },
    since: { type: 'string', format: 'date-time' },
    active: { type: 'boolean' },
    address: { type: 'object', additionalProperties: false, properties: { zip: { type: 'string' } } },
  },
};
const service = useService({ ENTITY_TYPES_DIR: await writeTypes({ customer }) });
let ada: { cookie: string };
let keys: string[];

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  keys = await seedMany(
    service(),
    'customer',
    [
      { company: 'A', city: 'London', credit: 9, account: '9007199254740993', since: '2026-01-01T12:00:00+02:00' },
      { company: 'B', city: 'Paris', credit: 10, account: '9007199254740992', since: '2026-01-01T10:00:00Z' },
      { company: 'C', city: null, active: true, address: { zip: 'W1' } },
      { company: 'D' },
    ],
    'ada',
  );
});

const found = async (query: ListQuery) => keysIn([(await queryBy(service(), ada, 'customer', query)).body]).map((key) => keys.indexOf(key));
const refused = async (query: ListQuery) => {
  const answer = await queryBy<ProblemBody>(service(), ada, 'customer', query);
  return [answer.status, ...faultsIn(answer)];
};

describe('queryEntities', () => {
  test('200 — the same page as listEntities, byte for byte, and its cursors serve both', async () => {
    const query = { filter: { city: { $ne: 'Paris' } }, sort: ['-company'], limit: 2, fields: ['company'], count: 'exact' };
    const [get, post] = [await list(service(), ada, 'customer', query), await queryBy(service(), ada, 'customer', query)];
    expect(post.text).toBe(get.text);
    expect(post.headers.get('etag')).toBe(get.headers.get('etag'));
    expect(post.body.items.map(({ fields }) => fields)).toEqual([{ company: 'D' }, { company: 'C' }]);
    const next = { ...query, cursor: get.body.next ?? '' };
    expect((await queryBy(service(), ada, 'customer', next)).text).toBe(
      (await service().call('GET', listPath('customer', next), ada)).text,
    );
  });

  test('200 — an empty object is a query for everything', async () => {
    expect(await found({})).toEqual([0, 1, 2, 3]);
    expect(await found({ filter: {} })).toEqual([0, 1, 2, 3]);
  });

  test.for<[ListQuery, number[]]>([
    [{ filter: { account: '9007199254740993' } }, [0]],
    [{ filter: { since: '2026-01-01T10:00:00.000Z' } }, [0, 1]],
    [{ filter: { credit: { $gt: 9 } } }, [1]],
    [{ filter: { address: { zip: { $prefix: 'W' } } } }, [2]],
    [{ filter: { city: null } }, [2]],
    [{ filter: { city: { $exists: false } } }, [3]],
    [{ filter: { city: { $empty: true } } }, [2, 3]],
    [{ filter: { $not: { active: true } } }, [0, 1, 3]],
    [{ sort: ['credit'] }, [0, 1, 2, 3]],
    [{ sort: ['-credit'] }, [3, 2, 1, 0]],
    [{ sort: ['since', '-account'] }, [0, 1, 3, 2]],
    [{ sort: ['address.zip', '$key'] }, [2, 0, 1, 3]],
  ])('200 — %j', async ([query, expected]) => {
    expect(await found(query)).toEqual(expected);
  });

  test('200 — 1,000 values of $in, and 422 for 1,001', async () => {
    const filter = (count: number) => ({ company: { $in: Array.from({ length: count }, (_, index) => `x${index}`) } });
    expect(await found({ filter: filter(1_000) })).toEqual([]);
    expect(await refused({ filter: filter(1_001) })).toEqual([422, '/filter/company/$in invalid-value']);
  });

  test.for<[ListQuery, string]>([
    [{ filter: { credit: '5' } }, '/filter/credit invalid-type'],
    [{ filter: { account: 5 } }, '/filter/account invalid-type'],
    [{ filter: { $or: [{ credit: 1 }, { since: { $gte: 'now' } }] } }, '/filter/$or/1/since/$gte invalid-value'],
    [{ filter: { active: { $gt: true } } }, '/filter/active/$gt invalid-type'],
    [{ filter: { address: { city: 'x' } } }, '/filter/address/city unknown-field'],
    [{ filter: { nme: 'x' } }, '/filter/nme unknown-field'],
    [{ filter: { company: { $prefx: 'x' } } }, '/filter/company/$prefx unknown-operator'],
    [{ filter: { $or: {} } }, '/filter/$or invalid-type'],
    [{ filter: [] }, '/filter invalid-type'],
    [{ sort: ['company', 'nme'] }, '/sort/1 unknown-field'],
    [{ sort: ['address'] }, '/sort/0 not-filterable'],
    [{ sort: ['a', 'b', 'c', 'd', 'e'] }, '/sort invalid-value'],
    [{ fields: ['company', 'address.city'] }, '/fields/1 unknown-field'],
    [{ limit: 0 }, '/limit invalid-value'],
    [{ count: 'all' }, '/count invalid-value'],
  ])('422 — %j', async ([query, fault]) => {
    expect(await refused(query)).toEqual([422, fault]);
  });

  test('400 — a body that is not exact JSON', async () => {
    const answer = await service().call('POST', '/rest/entity/customer/query', {
      ...ada,
      headers: { 'content-type': 'application/json' },
      raw: '{"filter":{"account":9007199254740993}}',
    });
    expect([answer.status, ...faultsIn(answer)]).toEqual([400, '/filter/account number-not-exact']);
  });

  test('400 — a cursor of another query, by its pointer', async () => {
    expect(await refused({ cursor: 'q1.AAAA' })).toEqual([400, '/cursor invalid-cursor']);
  });

  test('200 — all pages, forwards and backwards, by a sort with equal and missing values', async () => {
    const forwards = await pagesOf(service(), ada, 'customer', { sort: ['city'], limit: 1 }, queryBy);
    expect(keysIn(forwards).map((key) => keys.indexOf(key))).toEqual([0, 1, 2, 3]);
    for (const [index, { prev }] of forwards.entries()) {
      if (index === 0) continue;
      expect(keysIn([(await queryBy(service(), ada, 'customer', { sort: ['city'], limit: 1, cursor: prev ?? '' })).body])).toEqual([
        keys[index - 1],
      ]);
    }
  });
});
