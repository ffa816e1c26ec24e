import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../generated/api.ts';
import { useService } from '../support/service.ts';

type NewKey = components['schemas']['NewKey'];
type KeyList = components['schemas']['KeyList'];

const service = useService();
const create = async (cookie: string, json: object) => (await service().call<NewKey>('POST', '/auth/keys', { cookie, json })).body;
const list = (cookie: string) => service().call<KeyList>('GET', '/auth/keys', { cookie });

describe('listKeys', () => {
  beforeAll(async () => {
    for (const name of ['ada', 'bob', 'eve']) await service().createUser(name);
  });

  test('200 — returns the user’s live keys, the newest first, and when each was last used', async () => {
    const cookie = await service().signIn('ada');
    await create(await service().signIn('bob'), { name: 'Foreign' });
    const scopes = [{ entity: 'note', actions: ['read' as const] }];
    const older = await create(cookie, { name: 'Older', profile: 'ada', scopes });
    const newer = await create(cookie, { name: 'Newer' });
    await service().call('GET', '/auth', { headers: { 'x-api-key': older.key } });
    const answer = await list(cookie);
    expect(answer.status, answer.text).toBe(200);
    const { key: _newer, ...newerShown } = newer;
    const { key: _older, ...olderShown } = older;
    expect(answer.body.keys).toEqual([
      { ...newerShown, lastUsedAt: null },
      { ...olderShown, lastUsedAt: expect.stringMatching(/^20.*Z$/) },
    ]);
    expect(olderShown).toMatchObject({ profile: 'ada', scopes });
  });

  test('200 — requires no recent sign-in, and returns no secret and no hash (rule 58)', async () => {
    const cookie = await service().signIn('eve');
    const { id, key } = await create(cookie, { name: 'Secret' });
    await service()
      .db.updateTable('session')
      .set({ signed_in_at: sql`now() - interval '7 hours'` })
      .execute();
    const { status, text } = await list(cookie);
    expect(status).toBe(200);
    expect(text).toContain(id);
    const { key_hash: hash } = await service().db.selectFrom('api_key').where('id', '=', id).select('key_hash').executeTakeFirstOrThrow();
    for (const secret of [key.slice(17), hash.toString('hex'), hash.toString('base64')]) expect(text).not.toContain(secret);
  });

  test('200 — leaves out revoked and expired keys', async () => {
    const cookie = await service().signIn('bob');
    const names = async () => (await list(cookie)).body.keys.map(({ name }) => name);
    const revoked = await create(cookie, { name: 'Revoked' });
    const expired = await create(cookie, { name: 'Expired' });
    expect(await names()).toEqual(expect.arrayContaining(['Revoked', 'Expired']));
    await service().call('DELETE', `/auth/keys/${revoked.id}`, { cookie });
    await service()
      .db.updateTable('api_key')
      .set({ expires_at: sql`now()` })
      .where('id', '=', expired.id)
      .execute();
    expect(await names()).not.toEqual(expect.arrayContaining(['Revoked']));
    expect(await names()).not.toEqual(expect.arrayContaining(['Expired']));
  });
});
