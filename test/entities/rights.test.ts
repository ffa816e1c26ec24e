/**
 * The actions that a caller may do with entities: grants by name, action and owner, the same for every credential (rules 61, 62 and 64).
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Action, type Condition, entityActions } from '../../src/rights/vocabulary.ts';
import { rowsOf, seed, type Entity } from '../support/entities.ts';
import { useService, type Call } from '../support/service.ts';

const service = useService();
const actions = [...entityActions];
type EntityAction = (typeof entityActions)[number];
let ada: string;

beforeAll(async () => {
  ada = await service().openSession((await service().createUser('ada')).id);
});

let nextKey = 1_000;
/** Inserts a row of `name` that belongs to the user called `owner`, and returns its key. */
async function put(name: string, owner = 'ada'): Promise<string> {
  const key = String(nextKey++);
  await seed(service(), name, key, { a: 1 }, owner);
  return key;
}

/** Does `action` on entities called `name`: on the row with this key, except for a create. */
function act(action: EntityAction, name: string, key: string, call: Call) {
  switch (action) {
    case 'create':
      return service().call('POST', `/rest/entity/${name}`, { json: { a: 1 }, ...call });
    case 'read':
      return service().call('GET', `/rest/entity/${name}/${key}`, call);
    case 'update':
      return service().call('POST', `/rest/entity/${name}/${key}`, { json: { a: 2 }, ...call });
    case 'delete':
      return service().call('DELETE', `/rest/entity/${name}/${key}`, call);
  }
}

const success: Record<EntityAction, number> = { create: 201, read: 200, update: 200, delete: 204 };

/** An update is answered with the entity, so it needs `read` too (rule 116). */
const withRead = (granted: EntityAction): EntityAction[] => (granted === 'update' ? ['update', 'read'] : [granted]);

describe.for(actions)('a grant to %s', (granted) => {
  let user: { id: string };
  let ways: Call[];
  beforeAll(async () => {
    user = await service().createUser(`only-${granted}`, { note: withRead(granted) });
    ways = [{ cookie: await service().openSession(user.id) }, { headers: { 'x-api-key': await service().createKey(user.id) } }];
  });

  test.for(actions)('allows that action only: %s by session and by key (rule 62)', async (action) => {
    for (const way of ways) {
      const key = await put('note');
      const answer = await act(action, 'note', key, way);
      const isGranted = withRead(granted).includes(action);
      expect(answer.status).toBe(isGranted ? success[action] : 403);
      if (isGranted) continue;
      expect(answer.body.code).toBe('forbidden');
      expect((await rowsOf(service(), 'note')).find((row) => row.key === key)).toMatchObject({ version: '1', fields: '{"a": 1}' });
    }
  });

  test('allows that name only, and 403 does not depend on whether the entity exists (rule 64)', async () => {
    const key = await put('memo');
    for (const way of ways) {
      for (const [name, place] of [
        ['memo', key],
        ['memo', '999999'],
        ['never', '1'],
        ['constructor', '1'],
        ['Note', key],
      ] as const) {
        expect((await act(granted, name, place, way)).status, name).toBe(403);
      }
    }
    expect((await act('read', 'memo', key, { cookie: ada })).body).toMatchObject({ version: 1 });
  });
});

describe('a user without any profile', () => {
  test('can do nothing with entities (rule 62)', async () => {
    const { id } = await service().createUser('nobody', null);
    const cookie = await service().openSession(id);
    const key = await put('note');
    for (const action of actions) expect((await act(action, 'note', key, { cookie })).status, action).toBe(403);
  });
});

describe('a grant for own rows', () => {
  let bob: string;
  beforeAll(async () => {
    bob = await service().openSession((await service().createUser('bob', { note: { actions, condition: 'own' } })).id);
  });

  test('allows the owner every action on them', async () => {
    const created = await service().call<Entity>('POST', '/rest/entity/note', { cookie: bob, json: {} });
    expect(created.body.createdBy).toBe('bob');
    for (const action of ['read', 'update', 'delete'] as const) {
      expect((await act(action, 'note', created.body.key, { cookie: bob })).status, action).toBe(success[action]);
    }
  });

  test('hides other owners’ rows like missing ones, with and without a precondition, and leaves them unchanged (rule 64)', async () => {
    const key = await put('note', 'ada');
    expect((await act('read', 'note', key, { cookie: ada })).status).toBe(200);
    for (const action of ['read', 'update', 'delete'] as const) {
      for (const headers of [{}, { 'if-match': '"1"' }, { 'if-match': '"2"' }, { 'if-match': '*' }, { 'if-none-match': '*' }]) {
        const theirs = await act(action, 'note', key, { cookie: bob, headers });
        const none = await act(action, 'note', '999999', { cookie: bob, headers });
        expect(theirs.status, action).toBe(404);
        expect({ ...theirs.body, instance: '' }, action).toEqual({ ...none.body, instance: '' });
      }
    }
    const events = await service().db.selectFrom('audit_event').where('event', 'like', 'entity.%').selectAll().execute();
    expect(events.filter(({ detail }) => detail['key'] === key)).toEqual([]);
    expect((await rowsOf(service(), 'note')).find((row) => row.key === key)).toMatchObject({ version: '1', fields: '{"a": 1}' });
  });

  test('the creator of an entity owns it, also after other users’ changes', async () => {
    const created = await service().call<Entity>('POST', '/rest/entity/note', { cookie: bob, json: {} });
    const changed = await service().call<Entity>('POST', `/rest/entity/note/${created.body.key}`, {
      cookie: ada,
      json: { createdBy: 'ada' },
    });
    expect(changed.body).toMatchObject({ createdBy: 'bob', updatedBy: 'ada' });
    expect((await act('delete', 'note', created.body.key, { cookie: bob })).status).toBe(204);
  });

  test('is widened by another role’s grant for any row, of the name or of all names', async () => {
    const { id } = await service().createUser('carol', { note: { actions: ['read', 'delete'], condition: 'own' }, '*': ['read'] });
    const cookie = await service().openSession(id);
    const key = await put('note', 'ada');
    expect((await act('read', 'note', key, { cookie })).status).toBe(200);
    expect((await act('delete', 'note', key, { cookie })).body.code).toBe('forbidden');
    expect((await act('update', 'note', key, { cookie })).status).toBe(403);
  });
});

describe('the active profile', () => {
  test('alone grants rights: another profile of the same user grants none until it is selected (rule 61)', async () => {
    const { id } = await service().createUser('dora', { note: ['read'] });
    await service().createProfile(id, 'clerk', { memo: ['read'] });
    const note = await put('note');
    const memo = await put('memo');
    const cookie = await service().openSession(id);
    expect((await act('read', 'note', note, { cookie })).status).toBe(200);
    expect((await act('read', 'memo', memo, { cookie })).status).toBe(403);
    const switched = await service().call('POST', '/auth/profile/clerk', { cookie });
    const [clerk = ''] = (switched.headers.getSetCookie()[0] ?? '').split(';');
    expect((await act('read', 'note', note, { cookie: clerk })).status).toBe(403);
    expect((await act('read', 'memo', memo, { cookie: clerk })).status).toBe(200);
  });

  test('of an API key is the key’s own one, or else the default one of its owner', async () => {
    const { id } = await service().createUser('emil', { note: ['read'] });
    await service().createProfile(id, 'archive', { memo: ['read'] });
    const { id: profileId } = await service().db.selectFrom('profile').where('name', '=', 'archive').select('id').executeTakeFirstOrThrow();
    const note = await put('note');
    const memo = await put('memo');
    const byDefault = { headers: { 'x-api-key': await service().createKey(id) } };
    const byProfile = { headers: { 'x-api-key': await service().createKey(id, { profileId }) } };
    expect([(await act('read', 'note', note, byDefault)).status, (await act('read', 'memo', memo, byDefault)).status]).toEqual([200, 403]);
    expect([(await act('read', 'note', note, byProfile)).status, (await act('read', 'memo', memo, byProfile)).status]).toEqual([403, 200]);
  });
});

describe('the scopes of a key', () => {
  test('narrow the grants of the profile and widen nothing (rule 59)', async () => {
    const { id } = await service().createUser('fritz', { note: ['read', 'update'] });
    const scopes = [
      { entity: 'note', actions: ['read', 'delete'] as Action[] },
      { entity: 'memo', actions },
    ];
    const headers = { 'x-api-key': await service().createKey(id, { scopes }) };
    const key = await put('note');
    expect((await act('read', 'note', key, { headers })).status).toBe(200);
    const narrowed = await act('update', 'note', key, { headers });
    expect(narrowed.status).toBe(403);
    expect(narrowed.body.code).toBe('insufficient-scope');
    for (const [action, name] of [
      ['delete', 'note'],
      ['read', 'memo'],
    ] as const) {
      const answer = await act(action, name, key, { headers });
      expect(answer.status).toBe(403);
      expect(answer.body.code).toBe('forbidden');
    }
  });
});

describe('a change of rights', () => {
  test('acts on the next request of every session and key: added and removed grants, removed profiles, disabled users (rule 62)', async () => {
    const { id } = await service().createUser('gerd', { note: ['read'] });
    const key = await put('note');
    const ways: Call[] = [{ cookie: await service().openSession(id) }, { headers: { 'x-api-key': await service().createKey(id) } }];
    const statuses = async (action: EntityAction) => {
      await service().settle();
      return await Promise.all(ways.map(async (way) => (await act(action, 'note', key, way)).status));
    };
    const { db } = service();
    const role = await db.selectFrom('role').where('name', '=', 'gerd').select('id').executeTakeFirstOrThrow();

    expect(await statuses('read')).toEqual([200, 200]);
    await db.deleteFrom('role_grant').where('role_id', '=', role.id).execute();
    expect(await statuses('read')).toEqual([403, 403]);
    const granted = (['read', 'update'] as const).map((action) => ({ role_id: role.id, entity: '*', action }));
    await db.insertInto('role_grant').values(granted).execute();
    expect(await statuses('update')).toEqual([200, 200]);
    await db.updateTable('role_grant').set({ condition: 'own' }).where('role_id', '=', role.id).execute();
    expect(await statuses('update')).toEqual([404, 404]);
    await db.updateTable('role_grant').set({ condition: 'any' }).where('role_id', '=', role.id).execute();
    expect(await statuses('update')).toEqual([200, 200]);
    await db.deleteFrom('user_profile').where('user_id', '=', id).execute();
    expect(await statuses('update')).toEqual([403, 403]);
    await db.updateTable('user_account').set({ active: false }).where('id', '=', id).execute();
    expect(await statuses('read')).toEqual([401, 401]);
  });

  test('also reaches another process', async () => {
    const replica = await service().replica();
    try {
      const { id } = await service().createUser('hugo', { note: ['read'] });
      const key = await put('note');
      const cookie = await service().openSession(id);
      const read = async () => (await replica.call('GET', `/rest/entity/note/${key}`, { cookie })).status;
      expect(await read()).toBe(200);
      expect(await read()).toBe(200);
      const role = await service().db.selectFrom('role').where('name', '=', 'hugo').select('id').executeTakeFirstOrThrow();
      await service().db.deleteFrom('role_grant').where('role_id', '=', role.id).execute();
      await replica.settle();
      expect(await read()).toBe(403);
    } finally {
      await replica.close();
    }
  });
});

describe.for([
  ['own', 'any'],
  ['any', 'own'],
] as const)('two roles, the first for %s and the second for %s rows', ([first, second]) => {
  test('200 — the wider one counts, by session and by key, and the narrower alone shows no other rows (rule 61)', async () => {
    const { db } = service();
    const grantsOf = (condition: Condition) => ({ note: { actions: ['read' as const], condition } });
    const narrow = await service().createUser(`narrow-${first}`, grantsOf('own'));
    const both = await service().createUser(`both-${first}`, grantsOf(first));
    const role = await db
      .insertInto('role')
      .values({ name: `second-${second}`, description: '' })
      .returning('id')
      .executeTakeFirstOrThrow();
    await db.insertInto('role_grant').values({ role_id: role.id, entity: 'note', action: 'read', condition: second }).execute();
    const profile = await db.selectFrom('profile').where('name', '=', `both-${first}`).select('id').executeTakeFirstOrThrow();
    await db.insertInto('profile_role').values({ profile_id: profile.id, role_id: role.id }).execute();
    const key = await put('note', 'ada');
    expect((await act('read', 'note', key, { cookie: await service().openSession(narrow.id) })).status).toBe(404);
    expect((await act('read', 'note', key, { cookie: await service().openSession(both.id) })).status).toBe(200);
    expect((await act('read', 'note', key, { headers: { 'x-api-key': await service().createKey(both.id) } })).status).toBe(200);
  });
});
