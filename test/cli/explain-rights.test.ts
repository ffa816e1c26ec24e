/** The command `rights explain`. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { AllowingRole } from '../../src/administration/permissions/allowing.ts';
import type { PermissionExplanation } from '../../src/permissions/explain.ts';
import { AdminCommand } from '../support/admin.ts';
import { declareType } from '../support/entities.ts';
import { grantAll, userWith } from '../support/ruled-roles.ts';
import { useService, type Call } from '../support/service.ts';

const service = useService();
let admin: AdminCommand;
let root: Call;

const north = { filter: { region: { $in: { $var: 'user.regions' } } }, read: ['*', '-margin'], write: ['note'] };

async function create(fields: object): Promise<string> {
  const { headers } = await service().call('POST', '/rest/entity/order', { ...root, json: fields });
  return headers.get('location')?.split('/').at(-1) ?? '';
}

type Explained = PermissionExplanation & { user: string; allowedBy?: AllowingRole[] };
const explain = (user: string, ...words: string[]) => admin.json<Explained>(['rights', 'explain', user, '--entity', 'order', ...words]);

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  const text = { type: 'string' };
  const properties = { region: text, state: text, note: text, margin: { type: 'string', format: 'decimal' } };
  await declareType(service(), 'order', { type: 'object', additionalProperties: false, properties });
  await admin.say(['attribute', 'set', 'user', 'regions', '--schema', '{"type":"array","items":{"type":"string"}}']);
  root = await userWith(service(), 'root', { entity: '*', actions: ['create', 'read', 'update', 'delete'] });
  await userWith(service(), 'ada', { entity: 'order', name: 'region', actions: ['read', 'update'], rule: north });
  await grantAll(service(), 'ada', [
    {
      entity: 'order',
      name: 'rich',
      actions: ['update'],
      rule: { filter: { margin: { $gt: '10' } }, check: { state: 'paid' }, write: ['state'] },
    },
  ]);
  await admin.say(['user', 'update', 'ada', '--attribute', 'regions=["north"]']);
});

test('explains with the values of the user, hidden fields included, as the request is answered', async () => {
  const key = await create({ region: 'north', state: 'draft', margin: '50' });
  const found = await explain('ada', '--key', key, '--action', 'update', '--set', '{"state":"open"}');
  expect(found).toEqual({
    user: 'ada',
    action: 'update',
    allowed: false,
    status: 403,
    code: 'field-forbidden',
    faults: [{ pointer: '/state', code: 'value-forbidden' }],
    profile: 'ada',
    grants: [
      { role: 'ada', grant: 'region', covers: true, check: true, failed: [], write: ['note'] },
      { role: 'ada', grant: 'rich', covers: true, check: false, failed: ['/check/state'], write: ['state'] },
    ],
    rows: { $or: [{ region: { $in: ['north'] } }, { margin: { $gt: '10' } }] },
    fields: { readable: ['region', 'state', 'note'], writable: ['state', 'note'] },
    limits: [],
  });
  const poor = await create({ region: 'south', margin: '5' });
  expect(await explain('ada', '--key', poor, '--action', 'update', '--set', '{"note":"x"}')).toMatchObject({
    status: 404,
    grants: [
      { grant: 'region', covers: false, failed: ['/filter/region'] },
      { grant: 'rich', covers: false, failed: ['/filter/margin'] },
    ],
  });
  expect(await admin.say(['rights', 'explain', 'ada', '--entity', 'order', '--key', poor, '--action', 'read'])).toBe(
    [
      'read: refused (404 not-found), profile ada',
      'ROLE  GRANT   COVERS  CHECK  FAILED          WRITE',
      'ada   region  no      -      /filter/region  -',
      'rows: {"region":{"$in":["north"]}}',
      'readable: -',
      'writable: -',
      '',
    ].join('\n'),
  );
});

test('names the variable that the user lacks as a limit', async () => {
  await userWith(service(), 'eve', { entity: 'order', name: 'region', actions: ['read', 'update'], rule: north });
  expect(await explain('eve', '--action', 'read')).toMatchObject({
    allowed: true,
    rows: { region: { $in: { $var: 'user.regions' } } },
    limits: ['missing-variable'],
  });
});

test('--allowed-by names the roles, profiles and users that the request would be allowed to', async () => {
  const key = await create({ region: 'east', state: 'draft' });
  await userWith(service(), 'east', { entity: 'order', name: 'region', actions: ['read', 'update'], rule: north });
  const { id } = await service().createUser('emil', null);
  await admin.say(['user', 'profile', 'add', 'emil', 'east', '--default']);
  await admin.say(['user', 'update', 'emil', '--attribute', 'regions=["east","west"]']);
  await admin.say(['user', 'update', 'east', '--attribute', 'regions=["west"]']);
  const request = ['--key', key, '--action', 'update', '--set', '{"note":"x"}'];
  const { allowedBy } = await explain('ada', ...request, '--allowed-by');
  expect(allowedBy).toEqual([
    { role: 'east', profiles: ['east'], users: ['emil'], more: false },
    { role: 'root', profiles: ['root'], users: ['root'], more: false },
  ]);
  const emil = { headers: { 'x-api-key': await service().createKey(id) } };
  expect((await service().call('POST', `/rest/entity/order/${key}`, { ...emil, json: { note: 'x' } })).status).toBe(200);
  await admin.say(['user', 'disable', 'emil']);
  expect((await explain('ada', ...request, '--allowed-by')).allowedBy?.map(({ role }) => role)).toEqual(['root']);
});

test('--allowed-by asks users who are alike once, and says of which roles it has not asked all', { timeout: 60_000 }, async () => {
  const own = { filter: { $createdBy: { $var: 'user.name' } } };
  await userWith(service(), 'crowd', { entity: 'order', name: 'region', actions: ['read', 'update'], rule: north });
  await userWith(service(), 'mine', { entity: 'order', name: 'own', actions: ['read', 'update'], rule: own });
  for (const [profile, count] of Object.entries({ crowd: 300, mine: 5_000 }))
    await sql`
      with made as (
        insert into user_account (name, display_name, attributes)
        select ${profile} || n, 'x', '{"regions":["far"]}' from generate_series(1, ${count}) as n returning id
      )
      insert into user_profile (user_id, profile_id, is_default) select made.id, profile.id, true from made, profile where name = ${profile}
    `.execute(service().db);
  const key = await create({ region: 'far' });
  const { allowedBy = [] } = await explain('ada', '--key', key, '--action', 'update', '--allowed-by');
  expect(allowedBy.map(({ role, users, more }) => [role, users.length, more])).toEqual([
    ['crowd', 20, true],
    ['mine', 0, true],
    ['root', 1, false],
  ]);
});

test('--credential takes the scopes of a key, and --profile the grants of another profile', async () => {
  const { id } = await service().createUser('kim', { order: ['read', 'update'] });
  await service().createProfile(id, 'reading', { order: ['read'] });
  const key = await service().createKey(id, { scopes: [{ entity: 'order', actions: ['read'] }] });
  const scoped = await explain('kim', '--action', 'update', '--credential', key.slice(4, 16));
  expect(scoped).toMatchObject({ code: 'insufficient-scope', limits: ['scope'] });
  expect(await explain('kim', '--action', 'update')).toMatchObject({ allowed: true, profile: 'kim' });
  expect(await explain('kim', '--action', 'update', '--profile', 'reading')).toMatchObject({ code: 'forbidden', profile: 'reading' });
});

test('refuses what does not exist or fit with a sentence', async () => {
  const refusalOf = (code: number, ...words: string[]) => admin.refusal(['rights', 'explain', ...words], '', code);
  const order = ['--entity', 'order'];
  expect(await refusalOf(1, 'nobody', ...order)).toBe('there is no user called "nobody"');
  expect(await refusalOf(1, 'ada', ...order, '--profile', 'other')).toBe('"ada" has no profile called "other"');
  expect(await refusalOf(1, 'ada', ...order, '--credential', 'x'.repeat(12))).toContain('"ada" has no live API key');
  expect(await refusalOf(2, 'ada', ...order, '--allowed-by')).toBe('--allowed-by is about one action: give --action too');
  expect(await refusalOf(2, 'ada', ...order, '--action', 'update', '--set', '{}')).toBe('give --key too');
  expect(await refusalOf(2, 'ada', ...order, '--action', 'create', '--key', '1')).toBe('the action "create" takes no --key');
  expect(await refusalOf(2, 'ada', ...order, '--action', 'create', '--set', '[]')).toContain('Give a JSON object.');
});
