import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { liveKeysPerUser } from '../../src/api-keys/store.ts';
import { AdminCommand } from '../support/admin.ts';
import { useService } from '../support/service.ts';

interface KeyDocument {
  id: string;
  key: string;
  expiresAt: string;
}

const service = useService();
let admin: AdminCommand;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  await service().createUser('ada');
});

async function events(id: string) {
  const rows = await service().db.selectFrom('audit_event').select(['event', 'user_name', 'detail']).orderBy('id').execute();
  return rows.filter(({ event, detail }) => event.startsWith('api_key.') && detail['by'] === 'administrator' && detail['key'] === id);
}

describe('key create, list, revoke', () => {
  test('a key works in the running service from its creation to its revocation (rules 58 and 60)', async () => {
    const made = await admin.json<KeyDocument>(['key', 'create', 'ada', '--name', 'nightly']);
    expect(Object.keys(made)).toEqual(['id', 'key', 'expiresAt']);
    expect(made.key.startsWith(`esk_${made.id}_`)).toBe(true);
    const days = (Date.parse(made.expiresAt) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(89.9);
    expect(days).toBeLessThan(90.1);
    const create = () => service().call('POST', '/rest/entity/note', { headers: { 'x-api-key': made.key }, json: { a: 1 } });
    expect((await create()).status).toBe(201);
    expect(await admin.say(['key', 'revoke', made.id])).toBe(`Revoked the key ${made.id} of ada.\n`);
    await service().settle();
    expect((await create()).status).toBe(401);
    expect(await admin.json(['key', 'revoke', made.id])).toEqual({ id: made.id, user: 'ada', changed: false });
    expect((await events(made.id)).map(({ event, user_name }) => [event, user_name])).toEqual([
      ['api_key.created', 'ada'],
      ['api_key.revoked', 'ada'],
    ]);
    expect(JSON.stringify(await events(made.id))).not.toContain(made.key);
  });

  test('a key for one profile has the rights of that profile', async () => {
    const { id } = await service().createUser('bob');
    await service().createProfile(id, 'reader', { note: ['read'] });
    const words = ['key', 'create', 'bob', '--name', 'reads', '--profile', 'reader', '--expires-days', '365'];
    const [, key = ''] = /It is shown this once:\n\n {2}(esk_\S+)\n/.exec(await admin.say(words)) ?? [];
    const call = (method: string, path: string, json?: unknown) => service().call(method, path, { headers: { 'x-api-key': key }, json });
    expect((await call('GET', '/auth')).body).toMatchObject({ profile: { name: 'reader' } });
    expect((await call('POST', '/rest/entity/note', {})).status).toBe(403);
  });

  test('a key with scopes may do only what they name, and none is made for what its profile does not grant (rule 58)', async () => {
    const { id } = await service().createUser('greta', null);
    await service().createProfile(id, 'desk', { customer: ['create', 'read'], order: ['read'] }, true);
    const words = (...scopes: string[]) => ['key', 'create', 'greta', '--name', 'x', ...scopes.flatMap((scope) => ['--scope', scope])];
    const { key, id: keyId } = await admin.json<KeyDocument>(words('customer:read', 'order:read'));
    const call = async (method: string, path: string, json?: unknown) =>
      (await service().call(method, path, { headers: { 'x-api-key': key }, json })).status;
    expect(await call('GET', '/rest/entity/customer/999')).toBe(404);
    expect(await call('POST', '/rest/entity/customer', {})).toBe(403);
    expect(await admin.say(['key', 'list', 'greta'])).toMatch(new RegExp(`^${keyId} .* customer:read order:read `, 'm'));
    const missing = (holder: string) =>
      `${holder} does not grant customer:update, note:read, so the key could not do it either: grant it first, or leave it out`;
    expect(await admin.refusal(words('customer:read,update', 'note:read'))).toBe(missing('the default profile of "greta"'));
    expect(await admin.refusal([...words('customer:read,update', 'note:read'), '--profile', 'desk'])).toBe(missing('the profile "desk"'));
    expect((await admin.json<unknown[]>(['key', 'list', 'greta'])).length).toBe(1);
  });

  test.each(['customer', 'customer:', ':read', 'customer:read:update', '1st:read', 'customer:write'])(
    'the scope %j is wrong usage',
    async (scope) => {
      await admin.refusal(['key', 'create', 'ada', '--name', 'x', '--scope', scope], '', 2);
    },
  );

  test('the list shows the owners and the last uses of keys, and no secret (rule 58)', async () => {
    await service().createUser('carla');
    const { id, key } = await admin.json<KeyDocument>(['key', 'create', 'carla', '--name', 'import', '--profile', 'carla']);
    const { id: old } = await admin.json<KeyDocument>(['key', 'create', 'carla', '--name', 'old', '--expires-days', '1']);
    await service()
      .db.updateTable('api_key')
      .set({ expires_at: new Date('2020-01-01T00:00:00Z') })
      .where('id', '=', old)
      .execute();
    await service().call('GET', '/auth', { headers: { 'x-api-key': key } });
    const document = await admin.json<Record<string, unknown>[]>(['key', 'list', 'carla']);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    expect(document).toMatchObject([
      {
        id,
        user: 'carla',
        name: 'import',
        profile: 'carla',
        scopes: null,
        createdAt: time,
        expiresAt: time,
        lastUsedAt: time,
        expired: false,
      },
      { id: old, user: 'carla', name: 'old', profile: null, lastUsedAt: null, expired: true },
    ]);
    const { id: other } = await admin.json<KeyDocument>(['key', 'create', 'ada', '--name', 'other']);
    const table = await admin.say(['key', 'list']);
    expect(table).toMatch(/^ID +USER +NAME +PROFILE +SCOPES +CREATED +LAST USED +EXPIRES$/m);
    expect(table).toMatch(new RegExp(`^${old} +carla +old +\\(default\\) .* 2020-01-01 00:00:00Z \\(expired\\)$`, 'm'));
    expect(table).toMatch(new RegExp(`^${other} +ada +other `, 'm'));
    expect(table + JSON.stringify(document)).not.toContain(key.slice(17));
  });

  test('the list starts with the oldest key of a user', async () => {
    await service().createUser('fred');
    const names = ['1 hour', '2 hours', '3 hours'];
    for (const name of names) await admin.json(['key', 'create', 'fred', '--name', name]);
    await sql`update api_key set created_at = now() - name::interval where name = any(${names})`.execute(service().db);
    const listed = await admin.json<{ name: string }[]>(['key', 'list', 'fred']);
    expect(listed.map(({ name }) => name)).toEqual(names.toReversed());
  });

  test('a user has at most twenty-five live keys (rule 60)', async () => {
    await service().createUser('dora');
    const create = ['key', 'create', 'dora', '--name', 'x'];
    const first = await admin.json<KeyDocument>(create);
    for (let made = 1; made < liveKeysPerUser; made++) await admin.json(create);
    expect(await admin.refusal(create)).toBe('"dora" has 25 live API keys, and more are not allowed: revoke one first');
    await admin.say(['key', 'revoke', first.id]);
    await admin.json(create);
  });

  test('no key is made for a disabled user, or for a profile that the user does not have', async () => {
    await service().createUser('emil');
    expect(await admin.refusal(['key', 'create', 'emil', '--name', 'x', '--profile', 'ada'])).toBe('"emil" has no profile called "ada"');
    await admin.say(['user', 'disable', 'emil']);
    expect(await admin.refusal(['key', 'create', 'emil', '--name', 'x'])).toBe('the user "emil" is disabled, so the key would not work');
    expect(await admin.refusal(['key', 'create', 'nobody', '--name', 'x'])).toBe('there is no user called "nobody"');
    expect(await admin.say(['key', 'list', 'emil'])).toBe('There are no API keys.\n');
    expect(await admin.refusal(['key', 'revoke', '000000000000'])).toBe('there is no API key with the id 000000000000');
  });

  test('a whole key on the command line is refused without being repeated (rule 87)', async () => {
    const { id, key } = await admin.json<KeyDocument>(['key', 'create', 'ada', '--name', 'x']);
    const refused = await admin.refusal(['key', 'revoke', key], '', 2);
    expect(refused).toContain(`its id is ${id}`);
    expect(refused).not.toContain(key);
    const cut = key.slice(0, -1);
    expect(await admin.refusal(['key', 'revoke', cut], '', 2)).not.toContain(cut);
    expect((await service().call('GET', '/auth', { headers: { 'x-api-key': key } })).status).toBe(200);
  });

  test.each(['0', '366', '1.5', '-1', 'x'])('a lifetime of %s days is wrong usage', async (days) => {
    await admin.refusal(['key', 'create', 'ada', '--name', 'x', '--expires-days', days], '', 2);
  });
});
