/** Filters that compare with variables, other fields and times, and combinations of tests inside of a field. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType } from '../../support/entities.ts';
import { faultsIn, list, queryBy, seedMany } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const service = useService();
let ada: { cookie: string };
let bob: { cookie: string };
const profile = 'sales';

const day = 86_400_000;
const start = Date.now();
const ago = (days: number) => new Date(start - days * day).toISOString();
const format = (name: string) => ({ type: 'string', format: name });

beforeAll(async () => {
  const { id } = await service().createUser('ada', null);
  await service().createProfile(id, profile, { '*': ['create', 'read'] }, true);
  ada = { cookie: await service().openSession(id) };
  bob = { cookie: await service().openSession((await service().createUser('bob')).id) };
  await declareType(service(), 'bill', {
    type: 'object',
    additionalProperties: false,
    properties: {
      nr: { type: 'string' },
      agent: { type: 'string' },
      state: { enum: ['open', 'paid'] },
      was: { enum: ['open', 'paid'] },
      total: format('decimal'),
      paid: format('decimal'),
      placedAt: format('date-time'),
      sentAt: format('date-time'),
      day: format('date'),
      watchers: { type: 'array', items: { type: 'string' } },
      address: { type: 'object', additionalProperties: false, properties: { city: { type: 'string' }, zip: { type: 'string' } } },
    },
    'x-index': [['agent'], ['placedAt'], ['day']],
  });
  const bills = [
    {
      nr: 'A',
      agent: 'ada',
      total: '9',
      paid: '10',
      placedAt: ago(0.5),
      sentAt: ago(0.5),
      day: ago(0).slice(0, 10),
      watchers: ['bob', 'ada'],
    },
    { nr: 'B', agent: 'bob', total: '10.0', paid: '10', placedAt: ago(1.5), sentAt: ago(0), day: ago(10).slice(0, 10), watchers: ['bob'] },
    { nr: 'C', agent: profile, total: '100', paid: '9', placedAt: ago(40), day: ago(40).slice(0, 10), address: { zip: 'W1' } },
    { nr: 'D', total: '100', state: 'open', was: 'open', address: { zip: 'W2', city: 'W2' } },
    { nr: 'E', paid: '1', state: 'open', was: 'paid', address: { zip: 'E1', city: 'London' } },
  ];
  await seedMany(service(), 'bill', bills, 'ada', 'bob');
  await seedMany(service(), 'note', [{ a: 1, b: 1, who: 'ada' }, { a: 'x', b: 'x' }, { a: 2, b: '2' }, { a: 3, b: 2 }, { b: 1 }], 'ada');
});

const found = async (filter: unknown, caller = ada) => {
  const answer = await queryBy(service(), caller, 'bill', { filter, sort: ['nr'] });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.items.map(({ fields }) => fields['nr']).join('');
};
const faultsOf = async (filter: unknown, name = 'bill') => {
  const answer = await list<ProblemBody>(service(), ada, name, { filter });
  expect(answer.status, answer.text).toBe(422);
  return faultsIn(answer);
};

describe('$var', () => {
  test.each<[object, string]>([
    [{ agent: { $var: 'user.name' } }, 'A'],
    [{ agent: { $ne: { $var: 'user.name' } } }, 'BCDE'],
    [{ agent: { $in: [{ $var: 'user.name' }, 'bob', null] } }, 'AB'],
    [{ agent: { $prefix: { $var: 'user.name' } } }, 'A'],
    [{ watchers: { $contains: { $var: 'user.name' } } }, 'A'],
    [{ $createdBy: { $var: 'user.name' } }, 'BD'],
    [{ day: { $var: 'today' } }, 'A'],
    [{ placedAt: { $lt: { $var: 'now' } } }, 'ABC'],
    [{ $createdAt: { $gt: { $var: 'now' } } }, ''],
  ])('200 — %j finds the bills %s', async (filter, bills) => {
    expect(await found(filter)).toBe(bills);
  });

  test('200 — has the profile that the session has, and the values of each caller', async () => {
    expect(await found({ agent: { $var: 'profile.name' } })).toBe('C');
    expect(await found({ agent: { $var: 'user.name' } }, bob)).toBe('B');
  });

  test('200 — attributes: a list, and one that the caller lacks', async () => {
    const regions = { type: 'array' as const, items: { type: 'string' as const } };
    await sql`insert into attribute (owner, name, schema) values ('user', 'agents', ${JSON.stringify(regions)}::json)`.execute(
      service().db,
    );
    await service().settle();
    const answers = async (values: object) => {
      const { id } = await service().createUser(`reader${Object.keys(values).length}${JSON.stringify(values).length}`);
      await sql`update user_account set attributes = ${JSON.stringify(values)}::jsonb where id = ${id}`.execute(service().db);
      const caller = { cookie: await service().openSession(id) };
      const list = { $var: 'user.agents' };
      return [await found({ agent: { $in: list } }, caller), await found({ agent: { $nin: list } }, caller)];
    };
    expect(await answers({ agents: ['ada', 'bob'] })).toEqual(['AB', 'CDE']);
    expect(await answers({ agents: [] })).toEqual(['', 'ABCDE']);
    expect(await answers({ agents: null })).toEqual(['', '']);
    expect(await answers({ agents: 'ada' })).toEqual(['', '']);
    expect(await answers({})).toEqual(['', '']);
    await sql`delete from attribute`.execute(service().db);
    await service().settle();
  });

  test('200 — today is the day in the time zone of the caller', async () => {
    const dayIn = (timeZone: string) => new Intl.DateTimeFormat('sv', { timeZone }).format(Date.now());
    // Their days differ at any time.
    const zones = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'];
    await seedMany(
      service(),
      'note',
      zones.map((zone) => ({ zone, day: dayIn(zone) })),
      'bob',
    );
    for (const [index, zone] of zones.entries()) {
      const { id } = await service().createUser(`traveller${index}`);
      await service().db.updateTable('user_account').set({ time_zone: zone }).where('id', '=', id).execute();
      const caller = { cookie: await service().openSession(id) };
      const { body } = await queryBy(service(), caller, 'note', { filter: { day: { $var: 'today' } } });
      expect(body.items.map(({ fields }) => fields['zone'])).toEqual([zone]);
    }
  });

  test('200 — in a name without a declared type, by the type of the variable', async () => {
    const { body } = await list(service(), ada, 'note', { filter: { who: { $var: 'user.name' } } });
    expect(body.items).toHaveLength(1);
  });

  test('422 unknown-variable lists the declared ones, at its place', async () => {
    const filter = { $or: [{ agent: { $in: ['a', { $var: 'user.nmae' }] } }] };
    const { body } = await queryBy<ProblemBody>(service(), ada, 'bill', { filter });
    expect(body.errors).toMatchObject([
      {
        pointer: '/filter/$or/0/agent/$in/1/$var',
        code: 'unknown-variable',
        expected: 'one of user.name, profile.name, now, today',
      },
    ]);
  });

  test.each<[object, string]>([
    [{ total: { $var: 'user.name' } }, '/total invalid-type'],
    [{ placedAt: { $lt: { $var: 'today' } } }, '/placedAt/$lt invalid-type'],
    [{ day: { $var: 'now' } }, '/day invalid-type'],
    [{ agent: { $in: { $var: 'user.name' } } }, '/agent/$in invalid-type'],
    [{ agent: { $var: 5 } }, '/agent/$var invalid-type'],
    [{ agent: { $exists: { $var: 'user.name' } } }, '/agent/$exists invalid-type'],
    [{ agent: { $var: 'user.name', $ne: 'x' } }, '/agent/$var unknown-operator'],
    [{ address: { $var: 'user.name' } }, '/address not-filterable'],
    [{ total: { $gt: { $ago: 'P1D' } } }, '/total/$gt invalid-type'],
    [{ placedAt: { $gt: { $ago: '1 day' } } }, '/placedAt/$gt/$ago invalid-value'],
    [{ placedAt: { $gt: { $ago: 'P1001Y' } } }, '/placedAt/$gt/$ago invalid-value'],
    [{ paid: { $lt: { $field: 'nr' } } }, '/paid/$lt invalid-type'],
    [{ paid: { $lt: { $field: 'nothing' } } }, '/paid/$lt/$field unknown-field'],
    [{ paid: { $in: { $field: 'total' } } }, '/paid/$in invalid-type'],
    [{ state: { $gt: { $field: 'was' } } }, '/state/$gt not-filterable'],
  ])('422 — refuses %j: %s', async (filter, fault) => {
    expect(await faultsOf(filter)).toEqual([`filter ${fault}`]);
  });

  test('422 — having takes values alone', async () => {
    const json = { measures: { n: { $count: true } }, having: { n: { $gt: { $field: 'n' } } } };
    const answer = await service().call('POST', '/rest/entity/bill/aggregate', { ...ada, json });
    expect([answer.status, faultsIn(answer)]).toEqual([422, ['/having/n/$gt invalid-type']]);
  });
});

describe('$field', () => {
  test.each<[object, string]>([
    [{ paid: { $lt: { $field: 'total' } } }, 'C'],
    [{ paid: { $gt: { $field: 'total' } } }, 'A'],
    [{ paid: { $field: 'total' } }, 'B'],
    [{ $not: { paid: { $lt: { $field: 'total' } } } }, 'ABDE'],
    [{ state: { $field: 'was' } }, 'D'],
    [{ state: { $ne: { $field: 'was' } } }, 'ABCE'],
    [{ address: { zip: { $field: 'address.city' } } }, 'D'],
    [{ sentAt: { $gt: { $field: 'placedAt' } } }, 'B'],
    [{ sentAt: { $gt: { $field: '$createdAt' } } }, 'AB'],
    [{ $createdAt: { $gte: { $field: 'placedAt' } } }, ''],
    [{ $createdAt: { $lt: { $field: '$updatedAt' } } }, 'ABCDE'],
    [{ placedAt: { $gt: { $field: '$updatedAt' } } }, 'ABC'],
  ])('200 — %j finds the bills %s', async (filter, bills) => {
    expect(await found(filter)).toBe(bills);
  });

  test('200 — of a name without a declared type: values of one JSON type', async () => {
    const { body } = await list(service(), ada, 'note', { filter: { a: { $field: 'b' } } });
    expect(body.items.map(({ fields }) => fields['a'])).toEqual([1, 'x']);
    const greater = await list(service(), ada, 'note', { filter: { a: { $gt: { $field: 'b' } } } });
    expect(greater.body.items.map(({ fields }) => fields['a'])).toEqual([3]);
  });

  test('200 — sorts what it compares, since an equality with a field leaves many values', async () => {
    const answer = await queryBy(service(), ada, 'note', { filter: { a: { $field: 'b' } }, sort: ['-a'] });
    expect(answer.body.items.map(({ fields }) => fields['a'])).toEqual(['x', 1]);
  });
});

describe('$ago', () => {
  test.each<[object, string]>([
    [{ placedAt: { $gte: { $ago: 'P1D' } } }, 'A'],
    [{ placedAt: { $gte: { $ago: 'PT36H1M' } } }, 'AB'],
    [{ placedAt: { $gte: { $ago: 'P1W' }, $lt: { $ago: 'P1D' } } }, 'B'],
    [{ placedAt: { $lt: { $ago: '-P7D' } } }, 'ABC'],
    [{ sentAt: { $gt: { $ago: 'P1D' } } }, 'AB'],
    [{ day: { $gt: { $ago: 'P10D' } } }, 'A'],
    [{ day: { $gte: { $ago: 'P10D' } } }, 'AB'],
    [{ day: { $ago: 'P10D' } }, 'B'],
    [{ $updatedAt: { $gt: { $var: 'now' } } }, ''],
  ])('200 — %j finds the bills %s', async (filter, bills) => {
    expect(await found(filter)).toBe(bills);
  });
});

describe('combinations inside of a field', () => {
  test.each<[object, string]>([
    [{ address: { $or: [{ zip: 'W1' }, { $not: { zip: { $prefix: 'W' } } }] } }, 'ABCE'],
    [{ address: { zip: { $or: ['W1', 'W2'] } } }, 'CD'],
    [{ total: { $or: [{ $lt: '10' }, { $gt: '50' }] } }, 'ACD'],
    [{ total: { $not: { $lt: '50' } } }, 'CDE'],
    [{ total: { $not: '9', $exists: true } }, 'BCD'],
    [{ total: { $and: [{ $gt: '9' }, { $lt: '100' }] } }, 'B'],
    [{ agent: { $or: [{ $var: 'user.name' }, 'bob'] } }, 'AB'],
    [{ address: { city: 'London', $not: { zip: 'W1' } } }, 'E'],
  ])('200 — %j finds the bills %s', async (filter, bills) => {
    expect(await found(filter)).toBe(bills);
  });

  test('422 — an unknown operator there lists $and, $or and $not among those expected', async () => {
    const { body } = await list<ProblemBody>(service(), ada, 'bill', { filter: { address: { zip: { $or: [{ $prefx: 'W' }] } } } });
    expect(body.errors).toMatchObject([{ pointer: '/address/zip/$or/0/$prefx', code: 'unknown-operator' }]);
    expect(body.errors?.[0]?.expected).toMatch(/\$prefix.*\$and, \$or, \$not$/);
  });
});
