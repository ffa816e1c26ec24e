/** `rights test`, and `rights apply --cases`: cases run in a scratch database by the statements of requests. */
import { beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { declareType } from '../support/entities.ts';
import { rightsDirectory, writeRights } from '../support/rights-directory.ts';
import { useService } from '../support/service.ts';

const service = useService();
let admin: AdminCommand;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  const key = { type: 'string', format: 'int64' };
  await declareType(service(), 'customer', { properties: { name: { type: 'string' } } });
  await declareType(service(), 'order', {
    properties: {
      region: { type: 'string' },
      state: { type: 'string' },
      margin: { type: 'string', format: 'decimal' },
      note: { type: 'string' },
      customer: key,
    },
    additionalProperties: false,
    'x-references': { customer: { to: 'customer' } },
  });
});

const region = { region: { $in: { $var: 'user.regions' } } };
const rights = {
  'attributes.yaml': { user: { regions: { type: 'array', items: { type: 'string' } } } },
  'profiles/sales.yaml': { label: 'Sales', roles: ['clerk'] },
  'roles/clerk.yaml': {
    description: 'Works on the orders of some regions',
    grants: [
      { entity: 'customer', actions: ['label'] },
      { entity: 'order', name: 'region', actions: ['read', 'update'], filter: region, read: ['*', '-margin'], write: ['note'] },
      {
        entity: 'order',
        name: 'submit',
        actions: ['update'],
        filter: { state: 'draft', ...region },
        check: { state: 'submitted' },
        write: ['state'],
      },
      { entity: 'order', name: 'new', actions: ['create'], check: region },
    ],
  },
};

const ada = { name: 'ada', attributes: { regions: ['north'] } };
const given = {
  customer: { c1: { name: 'Acme' } },
  order: { o1: { region: 'north', state: 'draft', margin: '5', customer: 'c1' }, o2: { region: 'south', state: 'draft' } },
};
const expectations = [
  { read: 'order/o1', shows: ['region', 'state', 'customer'], hides: ['margin'] },
  { read: 'order/o2', is: 404 },
  { update: 'order/o1', set: { region: 'south' }, is: 403, at: '/region' },
  { update: 'order/o1', set: { note: 'x' } },
  { update: 'order/o1', set: { state: 'submitted' } },
  { update: 'order/o1', set: { state: 'draft' }, is: 403 },
  { update: 'order/o2', set: { note: 'x' }, is: 404 },
  { create: 'order', set: { region: 'south' }, is: 403 },
  { create: 'order', set: { region: 'north', customer: 'c1' } },
  { delete: 'order/o1', is: 403 },
  { list: 'customer', is: 403 },
];
const aCase = { name: 'a clerk works in the own region', profile: 'sales', user: ada, given, expect: expectations };

/** The outcome of `rights test` on the server of the tests. */
async function testOf(cases: unknown, ...words: string[]) {
  const directory = await rightsDirectory({ ...rights, 'cases/order.yaml': cases });
  const { code, stdout, stderr } = await admin.run([
    'rights',
    'test',
    directory,
    ...(words.length > 0 ? words : ['--scratch', service().databaseUrl]),
  ]);
  return { code, stdout, stderr };
}

const databases = async () =>
  (
    await service()
      .db.selectFrom('pg_database' as never)
      .select('datname' as never)
      .where('datname' as never, 'like', 'entity_cases_%' as never)
      .execute()
  ).length;

test('0 — reads, writes and refusals of a case are those of requests, and the database gets no row of it (rule 175)', async () => {
  expect(await testOf([aCase])).toEqual({ code: 0, stdout: '1 of 1 cases hold.\n', stderr: '' });
  expect(await service().db.selectFrom('entity').select('key').execute()).toEqual([]);
  expect(await service().db.selectFrom('role').select('id').where('name', '=', 'clerk').execute()).toEqual([]);
  expect(await databases()).toBe(0);
});

test('0 — an embedded server serves without --scratch, and each case begins without the rows of others', async () => {
  const list = {
    name: 'a list',
    profile: 'sales',
    user: ada,
    given: { order: { o3: { region: 'north' }, o4: { region: 'south' } } },
    expect: [{ list: 'order', finds: ['o3'] }],
  };
  const directory = await rightsDirectory({ ...rights, 'cases/order.yaml': [aCase, list, { ...list, name: 'the same again' }] });
  expect(await admin.say(['rights', 'test', directory])).toBe('3 of 3 cases hold.\n');
});

test.each<[string, object, string]>([
  ['a wrong status', { read: 'order/o2', is: 200 }, '/expect/0 read order/o2: expected 200, but it is 404'],
  ['a field that is hidden', { read: 'order/o1', shows: ['margin'] }, 'expected to show margin, but it shows'],
  ['a field that is shown', { read: 'order/o1', hides: ['state'] }, 'expected to hide state, but it shows'],
  [
    'another place',
    { update: 'order/o1', set: { region: 'south' }, is: 403, at: '/state' },
    'expected a fault at /state, but there are /region',
  ],
  ['a list with others', { list: 'order', finds: ['o1', 'o2'] }, 'expected to find o1, o2, but it finds'],
  ['an allowed change', { update: 'order/o1', set: { note: 'x' }, is: 403 }, 'expected 403, but it is 200'],
])('1 — %s fails the case, with what happened', async (_, expectation, reason) => {
  const { code, stdout, stderr } = await testOf([{ ...aCase, expect: [expectation] }]);
  expect([code, stderr]).toEqual([1, 'error: 1 case fails\n']);
  expect(stdout).toContain('cases/order.yaml: a clerk works in the own region: ');
  expect(stdout).toContain(reason);
  expect(stdout).toContain('0 of 1 cases hold.\n');
});

test('1 — a given entity that its type refuses fails the case', async () => {
  const { code, stdout } = await testOf([
    { ...aCase, given: { order: { o1: { regoin: 'north' } } }, expect: [{ read: 'order/o1', is: 200 }] },
  ]);
  expect([code, stdout]).toEqual([1, expect.stringContaining('the given order/o1 cannot be placed: validation-failed')]);
});

describe('a case that cannot fail is a fault (rule 175)', () => {
  test.each<[string, object | object[], string]>([
    ['no case', [], ': This is too short.'],
    ['no expectation', [{ ...aCase, expect: [] }], '/0/expect: This is too short.'],
    ['a read without an expectation', [{ ...aCase, expect: [{ read: 'order/o1' }] }], '/0/expect/0/is: This is required.'],
    ['an entity that is not given', [{ ...aCase, expect: [{ read: 'order/o9', is: 404 }] }], '/0/expect/0/read: This does not exist.'],
    [
      'a hidden field that the entity lacks',
      [{ ...aCase, expect: [{ read: 'order/o2', hides: ['margin'] }] }],
      '/0/expect/0/hides/0: This does not exist.',
    ],
    [
      'a list of nothing that is given',
      [{ ...aCase, given: {}, expect: [{ list: 'order', finds: [] }] }],
      '/0/expect/0/list: This does not exist.',
    ],
    ['a list without an expectation', [{ ...aCase, expect: [{ list: 'order' }] }], '/0/expect/0/finds: This is required.'],
    ['an update of nothing', [{ ...aCase, expect: [{ update: 'order/o1', set: {} }] }], '/0/expect/0/set: This value is not accepted.'],
    ['an unknown operation', [{ ...aCase, expect: [{ reed: 'order/o1' }] }], '/0/expect/0/read: This is required.'],
    ['an unknown profile', [{ ...aCase, profile: 'selas' }], '/0/profile: This does not exist. There is no profile selas.'],
    ['an unknown user', [{ ...aCase, user: 'nobody' }], '/0/user: This does not exist. There is no user nobody.'],
    [
      'a misspelt attribute',
      [{ ...aCase, user: { name: 'ada', attributes: { regoins: ['north'] } } }],
      '/0/user/attributes/regoins: This name is not known here.',
    ],
    [
      'an attribute of another type',
      [{ ...aCase, user: { name: 'ada', attributes: { regions: 'north' } } }],
      '/0/user/attributes/regions: This value is of the wrong type.',
    ],
  ])('1 — %s', async (_, cases, line) => {
    const { code, stdout, stderr } = await testOf(cases);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`rights: cases/order.yaml: ${line}`.replace(': :', ':'));
  });

  test('1 — a directory without cases', async () => {
    expect(await admin.refusal(['rights', 'test', await rightsDirectory(rights)])).toBe('the directory has no cases');
  });
});

test('0 — a user alone has the attributes of the database', async () => {
  const directory = await rightsDirectory({ ...rights, 'cases/order.yaml': [{ ...aCase, user: 'bea' }] });
  await admin.say(['rights', 'apply', directory]);
  await service().createUser('bea', null);
  await admin.say(['user', 'update', 'bea', '--attribute', 'regions=["south"]']);
  const failing = await admin.run(['rights', 'test', directory, '--scratch', service().databaseUrl]);
  expect([failing.code, failing.stdout]).toEqual([1, expect.stringContaining('/expect/0 read order/o1: expected 200, but it is 404')]);
  await admin.say(['user', 'update', 'bea', '--attribute', 'regions=["north"]']);
  expect(await admin.say(['rights', 'test', directory, '--scratch', service().databaseUrl])).toBe('1 of 1 cases hold.\n');
});

test('1 — with a failing case nothing is applied; 0 — with cases that hold it is (check 32 of rights)', async () => {
  const clerk = { ...rights['roles/clerk.yaml'], description: 'Applied with cases' };
  const failing = { ...aCase, expect: [{ read: 'order/o2', is: 200 }] };
  const directory = await rightsDirectory({ ...rights, 'roles/clerk.yaml': clerk, 'cases/order.yaml': [failing] });
  const description = async () =>
    (await service().db.selectFrom('role').select('description').where('name', '=', 'clerk').executeTakeFirst())?.description;
  const before = await description();
  const refused = await admin.run(['rights', 'apply', directory, '--cases']);
  expect([refused.code, refused.stderr]).toEqual([1, 'error: nothing was applied, since a case fails\n']);
  expect(refused.stdout).toContain('expected 200, but it is 404');
  expect(await description()).toBe(before);
  await writeRights(directory, { 'cases/order.yaml': [aCase] });
  expect((await admin.run(['rights', 'apply', directory, '--cases'])).code).toBe(0);
  expect(await description()).toBe('Applied with cases');
});
