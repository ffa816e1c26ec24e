/** The rows that `rights plan` counts, against the lists of the same people before and after the change (check 31 of rights). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { planFiles } from '../../src/administration/rights/plan-files.ts';
import { readRightsDirectory } from '../../src/administration/rights/read-directory.ts';
import { AdminCommand } from '../support/admin.ts';
import { declareType } from '../support/entities.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { rightsDirectory, writeRights } from '../support/rights-directory.ts';
import { useService, type Call } from '../support/service.ts';

interface Counted {
  counted: string;
  uncounted: string[];
  rows: { profile: string; entity: string; action: string; groups: { people: number; gained: number; lost: number }[] }[];
}

const corp = await TestIssuer.start('corp');
const service = useService();
let admin: AdminCommand;
const people = ['ada', 'bob', 'cyd', 'dan', 'eve'];
const sessions = new Map<string, Call>();

const text = { type: 'string' };
const attributes = { user: { regions: { type: 'array', items: text } }, profile: { least: { type: 'string', format: 'int64' } } };

/** The files of a profile whose role has the grants. */
const filesOf = (
  grants: readonly object[],
  { least = '0', attributes: declared = attributes }: { least?: string; attributes?: object } = {},
) => ({
  'attributes.yaml': declared,
  'roles/counted.yaml': { description: '', grants },
  'profiles/counted.yaml': { label: 'Counted', roles: ['counted'], attributes: { least } },
});

const read = (filter: object, name = 'rule') => ({ entity: 'order', actions: ['read'], name, filter });
const own = { entity: 'order', actions: ['read'], filter: { $createdBy: { $var: 'user.name' } } };
const region = read({ region: { $in: { $var: 'user.regions' } } });
const ofAgent = read({ customer: { $match: { agent: { $var: 'user.name' } } } }, 'agent');

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  await sql`insert into entity (name, fields, created_by, updated_by)
    select 'customer', jsonb_build_object('agent', (array['ada', 'bob', 'eve'])[n]), 'root', 'root' from generate_series(1, 3) as n`.execute(
    service().db,
  );
  await sql`insert into entity (name, fields, created_by, updated_by)
    select 'order',
      case n % 7 when 0 then '{}' when 1 then '{"region": null}' else jsonb_build_object('region', (array['north', 'south', 'east'])[1 + n % 3]) end
        || case when n % 5 = 0 then '{}' else jsonb_build_object('weight', (n % 11)::text, 'customer', customers.keys[1 + n % 3]::text, 'a.b', 'x') end,
      (array['ada', 'bob', 'root'])[1 + n % 3], 'root'
    from generate_series(1, 90) as n, (select array_agg(key) as keys from entity where name = 'customer') as customers`.execute(
    service().db,
  );
  const int64 = { type: 'string', format: 'int64' };
  await declareType(service(), 'customer', { type: 'object', properties: { agent: text }, 'x-index': [['agent']] });
  await declareType(service(), 'order', {
    type: 'object',
    properties: { region: text, weight: int64, customer: int64, 'a.b': text },
    'x-references': { customer: { to: 'customer' } },
    'x-index': [['region'], ['customer']],
  });
  const empty = await mkdtemp(join(tmpdir(), 'rows-'));
  await writeRights(empty, filesOf([own]));
  await admin.say(['rights', 'apply', empty]);
  await rm(empty, { recursive: true });
  const values: Record<string, readonly string[] | undefined> = { ada: ['north'], bob: ['north', 'south'], cyd: ['north'], dan: [] };
  for (const name of people) {
    const { id } = await service().createUser(name, null);
    await admin.say(['user', 'profile', 'add', name, 'counted']);
    if (values[name]) await admin.say(['user', 'update', name, '--attribute', `regions=${JSON.stringify(values[name])}`]);
    sessions.set(name, { cookie: await service().openSession(id) });
  }
}, 60_000);

const run = async (command: 'plan' | 'apply', directory: string, ...more: string[]) => {
  const { code, stdout, stderr } = await admin.run(['rights', command, directory, '--json', ...more]);
  expect(code, stderr).not.toBe(1);
  return JSON.parse(stdout) as Counted & { digest: string };
};

async function apply(directory: string): Promise<Counted> {
  const planned = await run('plan', directory);
  await run('apply', directory, '--confirm', planned.digest);
  await service().settle();
  return planned;
}

/** The keys that each person lists. */
async function listed(entity = 'order'): Promise<Map<string, ReadonlySet<string>>> {
  const lists = new Map<string, ReadonlySet<string>>();
  for (const [name, caller] of sessions) {
    const { status, body } = await service().call<{ items: { key: string }[] }>('GET', `/rest/entity/${entity}?limit=200`, caller);
    lists.set(name, new Set(status === 200 ? body.items.map(({ key }) => key) : []));
  }
  return lists;
}

type Lists = Awaited<ReturnType<typeof listed>>;

/** The groups that the lists make. */
function groupsOf(before: Lists, after: Lists): string[] {
  const missing = (some: ReadonlySet<string> = new Set(), others: ReadonlySet<string> = new Set()) =>
    [...some].filter((key) => !others.has(key)).length;
  return people.map((name) => `+${missing(after.get(name), before.get(name))} -${missing(before.get(name), after.get(name))}`).toSorted();
}

const expanded = (groups: Counted['rows'][number]['groups'] = []): string[] =>
  groups.flatMap(({ people: number, gained, lost }) => Array.from({ length: number }, () => `+${gained} -${lost}`)).toSorted();

const cases: [string, ReturnType<typeof filesOf>, ReturnType<typeof filesOf>][] = [
  ['own rows to those of a region', filesOf([own]), filesOf([region])],
  ['those of a region to those of the own customers', filesOf([region]), filesOf([ofAgent])],
  ['every row to own ones', filesOf([{ entity: 'order', actions: ['read'] }]), filesOf([own])],
  ['no row to every row', filesOf([]), filesOf([{ entity: 'order', actions: ['read'] }])],
  ['one grant more', filesOf([region]), filesOf([region, own, ofAgent])],
  ['a missing and a null value', filesOf([read({ region: { $exists: true } })]), filesOf([read({ region: { $exists: false } })])],
  ['the opposite', filesOf([region]), filesOf([read({ $not: { region: { $in: { $var: 'user.regions' } } } })])],
  [
    'another value of the profile',
    filesOf([read({ weight: { $gte: { $var: 'profile.least' } } })], { least: '3' }),
    filesOf([read({ weight: { $gte: { $var: 'profile.least' } } })], { least: '8' }),
  ],
  ['times and keys', filesOf([read({ $createdAt: { $lt: { $ago: 'P1D' } } })]), filesOf([read({ $key: { $gt: '40' }, $version: 1 })])],
  [
    'a field that is compared with another',
    filesOf([read({ region: { $eq: { $field: 'a.b' } } })]),
    filesOf([read({ $not: { region: { $lt: { $field: 'a.b' } } } })]),
  ],
  [
    'every customer to those of orders of a region',
    filesOf([{ entity: 'customer', actions: ['read'] }]),
    filesOf([
      {
        entity: 'customer',
        actions: ['read'],
        name: 'some',
        filter: { $some: { 'order.customer': { region: { $in: { $var: 'user.regions' } }, weight: { $gt: '7' } } } },
      },
    ]),
  ],
  ['a grant on every name', filesOf([own]), filesOf([own, { ...own, entity: '*' }])],
];

test.each(cases)('%s: the counts are those of lists', async (_name, before, after) => {
  const directory = await rightsDirectory(before);
  await apply(directory);
  const [orders, customers] = [await listed(), await listed('customer')];
  await writeRights(directory, after);
  const planned = await apply(directory);
  expect(planned.counted).toBe('all');
  const rowsOf = (name: string) => planned.rows.find(({ entity }) => entity === name)?.groups;
  const expected = groupsOf(orders, await listed());
  expect(expanded(rowsOf('order'))).toEqual(rowsOf('order') ? expected : []);
  expect(rowsOf('order') !== undefined || expected.every((each) => each === '+0 -0')).toBe(true);
  expect(expanded(rowsOf('customer') ?? [{ people: people.length, gained: 0, lost: 0 }])).toEqual(
    groupsOf(customers, await listed('customer')),
  );
});

test('names are counted for the action label, with those of readable rows', async () => {
  const directory = await rightsDirectory(filesOf([own]));
  await apply(directory);
  await writeRights(directory, filesOf([own, { entity: 'order', actions: ['label'] }]));
  const { rows } = await run('plan', directory);
  expect(rows.map(({ entity, action, groups }) => [entity, action, groups])).toEqual([
    [
      'order',
      'label',
      [
        { people: 3, gained: 90, lost: 0 },
        { people: 2, gained: 60, lost: 0 },
      ],
    ],
  ]);
});

test('a name whose rule has a claim is not counted, and others are', async () => {
  const issuers = await writeIssuers({ ...corp.entry(), rights: { areas: { claim: 'areas', type: 'array' } } });
  const command = new AdminCommand(service().databaseUrl, { ISSUERS_FILE: issuers });
  const directory = await rightsDirectory(filesOf([own]));
  await apply(directory);
  const ofClaim = read({ region: { $in: { $var: 'claims.areas' } } });
  await writeRights(directory, filesOf([ofClaim, { ...own, entity: 'customer' }]));
  const planned = JSON.parse((await command.run(['rights', 'plan', directory, '--json'])).stdout) as Counted;
  expect(planned).toMatchObject({ counted: 'some', uncounted: ['order'], rows: [{ entity: 'customer' }] });
  await writeRights(directory, filesOf([ofClaim]));
  const { stdout } = await command.run(['rights', 'plan', directory]);
  expect(stdout).toContain('counted: none, without order\n');
});

test('a count ends when its time is over, and the plan stands', async () => {
  const directory = await rightsDirectory(filesOf([own]));
  await apply(directory);
  await writeRights(directory, filesOf([region]));
  const files = await readRightsDirectory(directory, 'rights');
  const request = { files, claims: new Map(), prune: false };
  const hurried = await planFiles(service().store, { ...request, countMs: 0.001 });
  expect(hurried).toMatchObject({ counted: 'none', uncounted: ['order'], rows: [] });
  const whole = await planFiles(service().store, { ...request, countMs: 30_000 });
  expect(whole).toMatchObject({ counted: 'all', uncounted: [], digest: hurried.digest });
  expect(whole.rows.length).toBe(1);
});

test('a statement that takes longer than the time that is left is ended, and the plan stands', async () => {
  const directory = await rightsDirectory(filesOf([own]));
  await apply(directory);
  await writeRights(directory, filesOf([region]));
  const files = await readRightsDirectory(directory, 'rights');
  const request = { files, claims: new Map(), prune: false, allowSlow: true };
  const hindered = await service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`lock table entity in access exclusive mode`.execute(trx);
      return await planFiles(service().store, { ...request, countMs: 1_000 });
    });
  expect(hindered).toMatchObject({ counted: 'none', uncounted: ['order'], rows: [] });
  expect(await planFiles(service().store, { ...request, countMs: 30_000 })).toMatchObject({ counted: 'all', digest: hindered.digest });
});

test('the table has the numbers, and --no-count counts nothing', async () => {
  const directory = await rightsDirectory(filesOf([own]));
  await apply(directory);
  await writeRights(directory, filesOf([region]));
  expect(await run('plan', directory, '--no-count')).toMatchObject({ counted: 'none', rows: [] });
  const { stdout } = await admin.run(['rights', 'plan', directory]);
  expect(stdout).toContain('  ROWS OF  ACTION  CHANGE\n  order    read    ');
  expect(stdout).toContain('counted: all\n');
  expect((await admin.run(['rights', 'plan', directory, '--no-count'])).stdout).toContain('counted: none\n');
});

test('disabled users are no people of a plan, and a plan without changes counts nothing', async () => {
  const directory = await rightsDirectory(filesOf([own]));
  await apply(directory);
  await admin.say(['user', 'disable', 'eve']);
  await writeRights(directory, filesOf([{ entity: 'order', actions: ['read'] }]));
  const planned = await run('plan', directory);
  expect(planned.rows.flatMap(({ groups }) => groups).reduce((sum, { people: number }) => sum + number, 0)).toBe(4);
  await admin.say(['user', 'enable', 'eve']);
  await writeRights(directory, filesOf([own]));
  expect(await run('plan', directory)).toMatchObject({ rows: [], counted: 'all' });
});
