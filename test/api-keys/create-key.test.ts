import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../generated/api.ts';
import { hashKey } from '../../src/api-keys/key.ts';
import { liveKeysPerUser } from '../../src/api-keys/store.ts';
import { sessionOf } from '../support/clock.ts';
import { useService, type ProblemBody } from '../support/service.ts';

type NewKey = components['schemas']['NewKey'];

const service = useService();
const create = <T = NewKey>(cookie: string, json: unknown) => service().call<T>('POST', '/auth/keys', { cookie, json });
const withKey = (key: string, method: string, path: string, json?: unknown) =>
  service().call(method, path, { headers: { 'x-api-key': key }, ...(json !== undefined && { json }) });

describe('createKey', () => {
  let ada: string;
  let adaId: string;
  beforeAll(async () => {
    adaId = (await service().createUser('ada')).id;
    await service().createProfile(adaId, 'reader', { note: ['read'], draft: { actions: ['read', 'update'], condition: 'own' } });
    await service().createUser('bob');
    ada = await service().signIn('ada');
  });

  test('201 — a key with only a name has all rights of the default profile, for 90 days', async () => {
    const answer = await create(ada, { name: 'Deployment' });
    expect(answer.status, answer.text).toBe(201);
    const { id, key, createdAt, expiresAt } = answer.body;
    expect(answer.body).toMatchObject({ name: 'Deployment', profile: null, scopes: null });
    expect(answer.headers.get('location')).toBe(`/auth/keys/${id}`);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(90 * 86_400_000);
    expect(await withKey(key, 'GET', '/auth')).toMatchObject({
      status: 200,
      body: { user: { name: 'ada' }, profile: { name: 'ada' }, authentication: { method: 'api-key' }, session: null },
    });
    expect((await withKey(key, 'POST', '/rest/entity/note', { text: 'made by a key' })).status).toBe(201);
  });

  test('201 — a key under a profile has that profile’s rights, limited by its scopes', async () => {
    const scopes = [{ entity: 'draft', actions: ['read'] }];
    const { status, body } = await create(ada, { name: 'Drafts', profile: 'reader', scopes, expiresInDays: 1 });
    expect(status).toBe(201);
    expect(body).toMatchObject({ profile: 'reader', scopes });
    const event = await service()
      .db.selectFrom('audit_event')
      .select('detail')
      .where(sql`detail->>'key'`, '=', body.id)
      .executeTakeFirstOrThrow();
    expect(event.detail, 'the audit trail says what the key may do (rule 60)').toMatchObject({ profile: 'reader', scopes });
    expect((await withKey(body.key, 'GET', '/rest/entity/draft/1')).status).toBe(404);
    expect(await withKey(body.key, 'GET', '/rest/entity/note/1')).toMatchObject({ status: 403, body: { code: 'insufficient-scope' } });
    expect(await withKey(body.key, 'DELETE', '/rest/entity/note/1')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  test('201 — only the hash of the key is stored, and the audit trail has the key’s id without the key (rule 58)', async () => {
    const { body } = await create(ada, { name: 'Kept hashed' });
    const row = await service().db.selectFrom('api_key').where('id', '=', body.id).selectAll().executeTakeFirstOrThrow();
    expect(row.key_hash).toEqual(hashKey(body.key));
    const { rows } = await sql<{ text: string }>`select audit_event::text as text from audit_event where event = 'api_key.created'`.execute(
      service().db,
    );
    const event = rows.find(({ text }) => text.includes(body.id));
    expect(event?.text).toContain('Kept hashed');
    const secret = body.key.slice(17, 60);
    for (const text of [JSON.stringify(row), ...rows.map((found) => found.text)]) expect(text).not.toContain(secret);
  });

  test('201 — a right removed from the owner is removed from the key at once (rule 59)', async () => {
    const { id } = await service().createUser('eve', { memo: ['read'] });
    const { body } = await create(await service().signIn('eve'), { name: 'Reader', scopes: [{ entity: 'memo', actions: ['read'] }] });
    const read = async () => (await withKey(body.key, 'GET', '/rest/entity/memo/1')).status;
    expect(await read()).toBe(404);
    await service().db.deleteFrom('user_profile').where('user_id', '=', id).execute();
    await service().settle();
    expect(await read()).toBe(403);
  });

  test('403 — a session signed in more than 15 minutes ago, even after a refresh (rule 60)', async () => {
    const cookie = await service().signIn('ada');
    const { id } = await sessionOf(service(), cookie);
    const signedIn = (minutes: number) =>
      service()
        .db.updateTable('session')
        .set({ signed_in_at: sql`now() - make_interval(mins => ${minutes})` })
        .where('id', '=', id)
        .execute();
    await signedIn(14);
    expect((await create(cookie, { name: 'In time' })).status).toBe(201);
    await signedIn(15);
    expect(await create(cookie, { name: 'Late' })).toMatchObject({ status: 403, body: { code: 'fresh-login-required' } });
    const refreshed = await service().call('POST', '/auth/refresh', { cookie });
    const [renewed = ''] = (refreshed.headers.getSetCookie()[0] ?? '').split(';');
    expect(refreshed.status).toBe(200);
    expect(await create(renewed, { name: 'Late' })).toMatchObject({ status: 403, body: { code: 'fresh-login-required' } });
    const made = await service().db.selectFrom('api_key').where('name', '=', 'Late').select('id').execute();
    expect(made).toEqual([]);
  });

  test('403 — a key cannot create keys (rule 60)', async () => {
    const { body } = await create(ada, { name: 'Parent' });
    const answer = await withKey(body.key, 'POST', '/auth/keys', { name: 'Child' });
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await service().db.selectFrom('api_key').where('name', '=', 'Child').select('id').execute()).toEqual([]);
  });

  test('409 — of thirty concurrent creates twenty-five succeed (rule 60)', async () => {
    await service().createUser('many');
    const cookie = await service().signIn('many');
    const answers = await Promise.all(Array.from({ length: 30 }, () => create<ProblemBody>(cookie, { name: 'One of many' })));
    const refused = answers.filter((answer) => answer.status !== 201);
    expect(answers).toHaveLength(liveKeysPerUser + refused.length);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array.from({ length: 5 }, () => [409, 'conflict']));
  });

  test('201 — in the place of a key that was revoked or has expired, and 409 for one more (rule 60)', async () => {
    const { id } = await service().createUser('full');
    const cookie = await service().signIn('full');
    for (let n = 1; n < liveKeysPerUser; n++) await service().createKey(id);
    const { body } = await create(cookie, { name: 'Last' });
    expect((await create<ProblemBody>(cookie, { name: 'One more' })).body.code).toBe('conflict');
    const ends: Record<string, () => Promise<unknown>> = {
      revoked: () => service().call('DELETE', `/auth/keys/${body.id}`, { cookie }),
      expired: () =>
        sql`update api_key set expires_at = now() where id = (
          select id from api_key where user_id = ${id} and revoked_at is null and expires_at > now() order by created_at limit 1)`.execute(
          service().db,
        ),
    };
    for (const [how, end] of Object.entries(ends)) {
      await end();
      expect((await create(cookie, { name: 'In its place' })).status, how).toBe(201);
      expect((await create<ProblemBody>(cookie, { name: 'One more' })).status, how).toBe(409);
    }
    const mine = await service().db.selectFrom('api_key').where('user_id', '=', id).where('name', '=', 'One more').select('id').execute();
    expect(mine).toEqual([]);
  });

  test.each([
    [{}, '/name'],
    [{ name: '' }, '/name'],
    [{ name: 'x'.repeat(101) }, '/name'],
    [{ name: 'bell \u0007' }, '/name'],
    [{ name: 'n', profile: 'bob' }, '/profile'],
    [{ name: 'n', profile: 'no such' }, '/profile'],
    [{ name: 'n', expiresInDays: 0 }, '/expiresInDays'],
    [{ name: 'n', expiresInDays: 366 }, '/expiresInDays'],
    [{ name: 'n', expiresInDays: '9' }, '/expiresInDays'],
    [{ name: 'n', scopes: [] }, '/scopes'],
    [{ name: 'n', scopes: [{ entity: '1', actions: ['read'] }] }, '/scopes/0/entity'],
    [{ name: 'n', scopes: [{ entity: 'note', actions: [] }] }, '/scopes/0/actions'],
    [{ name: 'n', scopes: [{ entity: 'note', actions: ['read', 'read'] }] }, '/scopes/0/actions'],
    [{ name: 'n', scopes: [{ entity: 'note', actions: ['own'] }] }, '/scopes/0/actions/0'],
    [{ name: 'n', profile: 'reader', scopes: [{ entity: 'note', actions: ['read', 'delete'] }] }, '/scopes/0/actions/1'],
    [{ name: 'n', profile: 'reader', scopes: [{ entity: 'order', actions: ['read'] }] }, '/scopes/0/actions/0'],
    [{ name: 'n', owner: 'bob' }, '/owner'],
  ])('422 — %j is refused at %s (rule 72: nothing is coerced, filled in or dropped)', async (json, pointer) => {
    const answer = await create<ProblemBody>(ada, json);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body).toMatchObject({ code: 'validation-failed', errors: [{ pointer }] });
  });

  test('422 — what is expected of a profile are the user’s own, and of an action those that the profile grants', async () => {
    const byProfile = await create<ProblemBody>(ada, { name: 'n', profile: 'bob' });
    expect(byProfile.body.errors?.[0]?.expected).toBe('one of ada, reader');
    const byAction = await create<ProblemBody>(ada, { name: 'n', profile: 'reader', scopes: [{ entity: 'note', actions: ['delete'] }] });
    expect(byAction.body.errors?.[0]?.expected).toBe('read');
  });

  test('422 — of 100 refused scopes the answer lists twenty (rule 75)', async () => {
    const scopes = Array.from({ length: 100 }, (_, n) => ({ entity: `order${n}`, actions: ['read'] }));
    const answer = await create<ProblemBody>(ada, { name: 'n', profile: 'reader', scopes });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.errors).toMatchObject(Array.from({ length: 20 }, (_, n) => ({ pointer: `/scopes/${n}/actions/0` })));
  });
});
