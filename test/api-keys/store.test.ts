import { beforeAll, describe, expect, test } from 'vitest';
import { insertKey, listKeys, liveKeysPerUser, revokeKey, type NewKey } from '../../src/api-keys/store.ts';
import { inTransaction } from '../../src/database/failure.ts';
import { useService } from '../support/service.ts';

const service = useService();

async function create(userId: string, key: Partial<NewKey> = {}) {
  return await inTransaction(service().db, (trx) =>
    insertKey(trx, { userId, name: 'nightly', profileId: null, scopes: null, expiresInDays: 90, ...key }),
  );
}

const read = (key: string) => service().call('GET', '/auth', { headers: { 'x-api-key': key } });

describe('API keys in the database', () => {
  let ada: string;
  let bob: string;
  beforeAll(async () => {
    ada = (await service().createUser('ada')).id;
    bob = (await service().createUser('bob')).id;
  });

  test('a new key authenticates its owner until it is revoked (rules 58 and 60)', async () => {
    const { id, key } = await create(ada);
    expect((await read(key)).status).toBe(200);
    expect(await revokeKey(service().db, id)).toBe(true);
    await service().settle();
    expect((await read(key)).status).toBe(401);
    expect(await revokeKey(service().db, id)).toBe(false);
  });

  test('another user cannot revoke the key, which still works', async () => {
    const { id, key } = await create(ada);
    expect(await revokeKey(service().db, id, bob)).toBe(false);
    await service().settle();
    expect((await read(key)).status).toBe(200);
    expect(await revokeKey(service().db, id, ada)).toBe(true);
  });

  test('the list has all keys that are not revoked, and no secret', async () => {
    const { id, key, expiresAt } = await create(bob, { name: 'mine', expiresInDays: 1, scopes: [{ entity: 'note', actions: ['read'] }] });
    const revoked = await create(bob);
    await revokeKey(service().db, revoked.id);
    const rows = await listKeys(service().db, bob);
    expect(rows).toMatchObject([{ id, name: 'mine', userName: 'bob', profile: null, lastUsedAt: null, expired: false, expiresAt }]);
    expect(rows[0]?.scopes).toEqual([{ entity: 'note', actions: ['read'] }]);
    expect(JSON.stringify(rows)).not.toContain(key.slice(17));
    expect(expiresAt.getTime() - (rows[0]?.createdAt.getTime() ?? 0)).toBe(86_400_000);
    expect((await listKeys(service().db)).map((row) => row.userName)).toContain('bob');
  });

  test('of forty concurrent keys for one user twenty-five are made, and an expired one no longer counts (rule 60)', async () => {
    const { id: eve } = await service().createUser('eve');
    const made = await Promise.allSettled(Array.from({ length: 40 }, () => create(eve)));
    const keys = made.filter((result) => result.status === 'fulfilled').map((result) => result.value);
    expect(keys).toHaveLength(liveKeysPerUser);
    for (const result of made) if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' });
    await service()
      .db.updateTable('api_key')
      .set({ expires_at: new Date(0) })
      .where('id', '=', keys[0]?.id ?? '')
      .execute();
    await expect(create(eve)).resolves.toMatchObject({ id: expect.any(String) });
    expect((await listKeys(service().db, eve)).filter((row) => row.expired)).toHaveLength(1);
  });
});
