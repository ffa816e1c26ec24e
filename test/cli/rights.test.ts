import { beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { useService } from '../support/service.ts';

interface RoleDocument {
  name: string;
  description: string;
  grants: { entity: string; actions: string[]; condition: string }[];
  changed: boolean;
}

const service = useService();
let admin: AdminCommand;

beforeAll(() => {
  admin = new AdminCommand(service().databaseUrl);
});

/** The latest event about a role or profile. */
async function lastEvent(): Promise<{ event: string; outcome: string; detail: Record<string, unknown> } | undefined> {
  return await service().db.selectFrom('audit_event').select(['event', 'outcome', 'detail']).orderBy('id', 'desc').executeTakeFirst();
}

describe('role create, grant, revoke', () => {
  test('granted actions are allowed with the next request, and revoked ones are refused (rules 61 and 62)', async () => {
    await admin.say(['user', 'create', 'ada', '--password-stdin'], 'an older horse battery staple');
    expect(await admin.json(['role', 'create', 'clerk', '--description', 'Keeps the books'])).toEqual({
      name: 'clerk',
      description: 'Keeps the books',
      grants: [],
      rules: [],
      changed: true,
    });
    expect(await lastEvent()).toMatchObject({ event: 'role.created', outcome: 'ok', detail: { by: 'administrator', role: 'clerk' } });
    const profile = await admin.json(['profile', 'create', 'books', '--label', 'Books', '--roles', 'clerk', '--locale', 'de']);
    expect(profile).toEqual({ name: 'books', label: 'Books', locale: 'de', roles: ['clerk'], attributes: {}, changed: true });
    expect(await lastEvent()).toMatchObject({
      event: 'profile.created',
      detail: { by: 'administrator', profile: 'books', roles: ['clerk'] },
    });
    await admin.say(['user', 'profile', 'add', 'ada', 'books']);
    const cookie = await service().signIn('ada', 'an older horse battery staple');
    const write = async () => {
      await service().settle();
      return (await service().call('POST', '/rest/entity/invoice', { cookie, json: { total: 1 } })).status;
    };
    expect(await write()).toBe(403);

    const granted = await admin.json<RoleDocument>(['role', 'grant', 'clerk', '--entity', 'invoice', '--actions', 'update,create']);
    expect(granted.grants).toEqual([{ entity: 'invoice', actions: ['create', 'update'], condition: 'any' }]);
    expect(await lastEvent()).toMatchObject({
      event: 'role.granted',
      detail: { by: 'administrator', role: 'clerk', entity: 'invoice', actions: ['create', 'update'], condition: 'any' },
    });
    expect(await write()).toBe(201);

    const revoked = await admin.json<RoleDocument>(['role', 'revoke', 'clerk', '--entity', 'invoice', '--actions', 'create']);
    expect(revoked).toMatchObject({ grants: [{ entity: 'invoice', actions: ['update'] }], changed: true });
    expect(await lastEvent()).toMatchObject({ event: 'role.revoked', detail: { role: 'clerk', entity: 'invoice', actions: ['create'] } });
    expect(await write()).toBe(403);
  });

  test('granting a granted action and revoking a missing one succeed, without an event', async () => {
    await admin.say(['role', 'create', 'twice']);
    const grant = ['role', 'grant', 'twice', '--entity', 'note', '--actions', 'read'];
    const revoke = ['role', 'revoke', 'twice', '--entity', 'note', '--actions', 'read'];
    expect(await admin.say(grant)).toBe('The role twice grants read on note.\n');
    expect(await admin.say(grant)).toBe('The role twice granted read on note already.\n');
    expect(await admin.say(revoke)).toBe('Revoked read on note from the role twice.\n');
    expect(await admin.json(revoke)).toEqual({ name: 'twice', description: '', grants: [], rules: [], changed: false });
    const events = await service()
      .db.selectFrom('audit_event')
      .where('event', 'in', ['role.granted', 'role.revoked'])
      .select(['event', 'detail'])
      .execute();
    expect(events.filter(({ detail }) => detail['role'] === 'twice').map(({ event }) => event)).toEqual(['role.granted', 'role.revoked']);
  });

  test('several entities are granted and revoked at once, with an event for each that changed', async () => {
    await admin.say(['role', 'create', 'several']);
    const words = (verb: string, entities: string) => ['role', verb, 'several', '--entity', entities, '--actions', 'read,update'];
    await admin.say(words('grant', 'b'));
    expect(await admin.json<RoleDocument>(words('grant', 'a, b,c'))).toMatchObject({
      grants: ['a', 'b', 'c'].map((entity) => ({ entity, actions: ['read', 'update'], condition: 'any' })),
      changed: true,
    });
    expect(await admin.say(words('revoke', 'c,d'))).toBe(
      'Revoked read, update on c from the role several.\nThe role several did not grant read, update on d.\n',
    );
    const rows = await service().db.selectFrom('audit_event').select(['event', 'detail']).orderBy('id').execute();
    const events = rows.filter(({ detail }) => detail['role'] === 'several' && detail['entity'] !== undefined);
    expect(events.map(({ event, detail }) => [event, detail['entity']])).toEqual([
      ['role.granted', 'b'],
      ['role.granted', 'a'],
      ['role.granted', 'c'],
      ['role.revoked', 'c'],
    ]);
  });

  test('a grant under another condition replaces the previous one', async () => {
    await admin.say(['role', 'create', 'narrow']);
    const grant = (condition: string) =>
      admin.json<RoleDocument>(['role', 'grant', 'narrow', '--entity', '*', '--actions', 'read', '--condition', condition]);
    expect(await grant('own')).toMatchObject({ grants: [{ entity: '*', actions: ['read'], condition: 'own' }], changed: true });
    expect(await grant('any')).toMatchObject({ grants: [{ entity: '*', actions: ['read'], condition: 'any' }], changed: true });
    expect(await grant('any')).toMatchObject({ changed: false });
  });

  test('a revocation on one entity is refused if every entity is granted, because the right would remain', async () => {
    await admin.say(['role', 'create', 'wide']);
    await admin.say(['role', 'grant', 'wide', '--entity', '*', '--actions', 'read,delete']);
    const refused = await admin.refusal(['role', 'revoke', 'wide', '--entity', 'note', '--actions', 'delete']);
    expect(refused).toBe(`the role "wide" grants delete on every entity, note included; take that away with --entity '*'`);
    await admin.say(['role', 'grant', 'wide', '--entity', 'note', '--actions', 'delete']);
    const run = await admin.run(['role', 'revoke', 'wide', '--entity', 'note', '--actions', 'delete']);
    expect(run).toMatchObject({ code: 0, stdout: 'Revoked delete on note from the role wide.\n', stderr: `note: ${refused}\n` });
    expect(await admin.say(['role', 'revoke', 'wide', '--entity', '*', '--actions', 'delete'])).toContain('Revoked delete on every entity');
  });
});

describe('profile update, profile delete, role delete', () => {
  test('new roles of a profile count from the next request, and so does their removal (rule 62)', async () => {
    for (const role of ['shelf', 'till']) {
      await admin.say(['role', 'create', role]);
      await admin.say(['role', 'grant', role, '--entity', role, '--actions', 'create']);
    }
    await admin.say(['profile', 'create', 'shop', '--label', 'Shop', '--roles', 'shelf']);
    await service().createUser('sam', null);
    await admin.say(['user', 'profile', 'add', 'sam', 'shop']);
    const cookie = await service().signIn('sam');
    const statuses = async () => {
      await service().settle();
      const call = async (entity: string) => (await service().call('POST', `/rest/entity/${entity}`, { cookie, json: {} })).status;
      return [await call('shelf'), await call('till')];
    };
    expect(await statuses()).toEqual([201, 403]);
    const changed = await admin.json(['profile', 'update', 'shop', '--label', 'The shop', '--roles', 'till', '--locale', 'de']);
    expect(changed).toEqual({ name: 'shop', label: 'The shop', locale: 'de', roles: ['till'], attributes: {}, changed: true });
    expect(await lastEvent()).toMatchObject({
      event: 'profile.updated',
      detail: { by: 'administrator', profile: 'shop', label: 'The shop', locale: 'de', roles: ['till'] },
    });
    expect(await statuses()).toEqual([403, 201]);
    expect(await admin.json(['profile', 'update', 'shop', '--roles', 'till'])).toMatchObject({ label: 'The shop', changed: false });
    expect(await admin.json(['profile', 'update', 'shop', '--no-locale'])).toMatchObject({ locale: null, roles: ['till'], changed: true });
    expect(await admin.refusal(['profile', 'update', 'shop', '--roles', 'till,nil'])).toBe('there is no role called "nil"');
    expect(await admin.refusal(['profile', 'update', 'nil', '--label', 'x'])).toBe('there is no profile called "nil"');
  });

  test('a role is deleted with its grants once no profile has it', async () => {
    await admin.say(['role', 'create', 'worn']);
    await admin.say(['role', 'grant', 'worn', '--entity', 'note', '--actions', 'read']);
    await admin.say(['role', 'create', 'fresh']);
    for (const profile of ['one', 'two']) await admin.say(['profile', 'create', profile, '--label', 'x', '--roles', 'worn']);
    expect(await admin.refusal(['role', 'delete', 'worn'])).toBe(
      'profiles have the role "worn": one, two; give them other roles first, with "profile update … --roles"',
    );
    for (const profile of ['one', 'two']) await admin.say(['profile', 'update', profile, '--roles', 'fresh']);
    expect(await admin.json(['role', 'delete', 'worn'])).toEqual({ name: 'worn', changed: true });
    expect(await lastEvent()).toMatchObject({ event: 'role.deleted', detail: { by: 'administrator', role: 'worn' } });
    expect(await admin.refusal(['role', 'delete', 'worn'])).toBe('there is no role called "worn"');
  });

  test('a profile is deleted once no user has it and no live key is bound to it; sessions under it stay without rights', async () => {
    const { id } = await service().createUser('tess', null);
    await service().createProfile(id, 'left', { note: ['create'] }, true);
    await service().createProfile(id, 'kept', { note: ['create'] });
    const { id: keyId } = await admin.json<{ id: string }>(['key', 'create', 'tess', '--name', 'x', '--profile', 'left']);
    const cookie = await service().signIn('tess');
    const create = async () => {
      await service().settle();
      return (await service().call('POST', '/rest/entity/note', { cookie, json: {} })).status;
    };
    expect(await create()).toBe(201);
    expect(await admin.refusal(['profile', 'delete', 'left'])).toBe(
      'users have the profile "left": tess; take it from them first, with "user profile remove"',
    );
    await admin.say(['user', 'profile', 'add', 'tess', 'kept', '--default']);
    await admin.say(['user', 'profile', 'remove', 'tess', 'left']);
    expect(await admin.refusal(['profile', 'delete', 'left'])).toBe(
      `API keys are bound to the profile "left": ${keyId}; end them first, with "key revoke"`,
    );
    expect(await service().db.selectFrom('api_key').where('id', '=', keyId).select('id').execute()).toHaveLength(1);
    await admin.say(['key', 'revoke', keyId]);
    expect(await admin.json(['profile', 'delete', 'left'])).toEqual({ name: 'left', changed: true });
    expect(await lastEvent()).toMatchObject({ event: 'profile.deleted', detail: { by: 'administrator', profile: 'left' } });
    expect(await create()).toBe(403);
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
    expect(await admin.json(['user', 'list'])).toContainEqual(
      expect.objectContaining({ name: 'tess', profiles: [{ name: 'kept', default: true }] }),
    );
  });
});

test('lists of roles and profiles are tables for people and JSON for scripts', async () => {
  await admin.say(['role', 'create', 'list one', '--description', 'First']);
  await admin.say(['role', 'grant', 'list one', '--entity', 'b', '--actions', 'read,create']);
  await admin.say(['role', 'grant', 'list one', '--entity', 'a', '--actions', 'delete', '--condition', 'own']);
  await admin.say(['role', 'create', 'list two']);
  await admin.say(['profile', 'create', 'list', '--label', 'Lists', '--roles', 'list two, list one']);
  const roles = (await admin.say(['role', 'list'])).split('\n').map((line) => line.replaceAll(/ {2,}/g, '|'));
  expect(roles[0]).toBe('NAME|ENTITY|ACTIONS|CONDITION|DESCRIPTION');
  const at = roles.indexOf('list one|a|delete|own|First');
  expect(roles.slice(at, at + 3)).toEqual(['list one|a|delete|own|First', '|b|create,read|any', 'list two|-|-|-']);
  expect((await admin.json<RoleDocument[]>(['role', 'list'])).find(({ name }) => name === 'list one')).toEqual({
    name: 'list one',
    description: 'First',
    grants: [
      { entity: 'a', actions: ['delete'], condition: 'own' },
      { entity: 'b', actions: ['create', 'read'], condition: 'any' },
    ],
    rules: [],
  });
  expect(await admin.say(['profile', 'list'])).toMatch(
    /^NAME +LABEL +ROLES +LOCALE +ATTRIBUTES\n[^]*^list +Lists +list one, list two +- +-$/m,
  );
  expect(await admin.json(['profile', 'list'])).toContainEqual({
    name: 'list',
    label: 'Lists',
    roles: ['list one', 'list two'],
    locale: null,
    attributes: {},
  });
});

test('an existing role or profile is not created again, and an unknown one is named', async () => {
  await admin.say(['role', 'create', 'once']);
  await admin.say(['profile', 'create', 'once', '--label', 'Once', '--roles', 'once']);
  expect(await admin.refusal(['role', 'create', 'once'])).toBe('there is already a role called "once"');
  expect(await admin.refusal(['profile', 'create', 'once', '--label', 'x', '--roles', 'once'])).toBe(
    'there is already a profile called "once"',
  );
  expect(await admin.refusal(['profile', 'create', 'other', '--label', 'x', '--roles', 'once,nil'])).toBe('there is no role called "nil"');
  expect(await admin.refusal(['role', 'grant', 'nil', '--entity', 'x', '--actions', 'read'])).toBe('there is no role called "nil"');
  expect(await service().db.selectFrom('profile').where('name', '=', 'other').selectAll().execute()).toEqual([]);
});

test.each([
  ['role', 'create', 'a/b'],
  ['role', 'create', ''],
  ['role', 'create', 'x'.repeat(65)],
  ['role', 'create', 'editör'],
  ['role', 'create', 'fine', '--description', 'two\nlines'],
  ['profile', 'create', 'x', '--label', 'X', '--roles', 'a,,b'],
  ['profile', 'create', 'x', '--roles', 'a'],
  ['role', 'grant', 'x', '--entity', '1st', '--actions', 'read'],
  ['role', 'grant', 'x', '--entity', 'a*', '--actions', 'read'],
  ['role', 'grant', 'x', '--entity', 'a', '--actions', 'read,write'],
  ['role', 'grant', 'x', '--entity', 'a', '--actions', ''],
  ['role', 'grant', 'x', '--entity', 'a', '--actions', 'read', '--condition', 'mine'],
  ['role', 'grant', 'x', '--actions', 'read'],
  ['role', 'grant', 'x', '--entity', 'a,', '--actions', 'read'],
  ['profile', 'update', 'x', '--roles', ''],
  ['audit', 'list', '--entity', '*'],
  ['audit', 'list', '--key', 'a/b'],
])('wrong usage: %j', async (...words) => {
  await admin.refusal(words, '', 2);
});
