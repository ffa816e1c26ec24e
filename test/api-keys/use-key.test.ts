import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { hashKey, newKey } from '../../src/api-keys/key.ts';
import { useService } from '../support/service.ts';

const service = useService();
const create = async (cookie: string) =>
  (await service().call<{ id: string; key: string }>('POST', '/auth/keys', { cookie, json: { name: 'n' } })).body;
const use = async (key: string) => (await service().call('GET', '/auth', { headers: { 'x-api-key': key } })).status;
const eventsOf = (event: string, id: string) =>
  service()
    .db.selectFrom('audit_event')
    .where('event', '=', event)
    .where(sql<string>`detail->>'key'`, '=', id)
    .select(['user_name', 'outcome', 'detail', 'request_id'])
    .orderBy('id')
    .execute();
const set = (id: string, change: object) =>
  service()
    .db.updateTable('api_key')
    .set(change as never)
    .where('id', '=', id)
    .execute();

describe('the use of an API key', () => {
  let ada: string;
  beforeAll(async () => {
    for (const name of ['ada', 'bob']) await service().createUser(name);
    ada = await service().signIn('ada');
  });

  test('is audited the first time, once, even with concurrent requests (rule 85)', async () => {
    const { id, key } = await create(ada);
    expect(await eventsOf('api_key.first_used', id)).toEqual([]);
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => use(key))))).toEqual(new Set([200]));
    const events = await eventsOf('api_key.first_used', id);
    expect(events).toMatchObject([{ user_name: 'ada', outcome: 'ok', request_id: expect.any(String) }]);
    service().context.principals.forget(`key ${id}`);
    await set(id, { last_used_at: sql`now() - interval '2 minutes'` });
    expect(await use(key)).toBe(200);
    expect(await eventsOf('api_key.first_used', id)).toHaveLength(1);
  });

  test('is recorded to the minute, and never by a caller that knows only the id (rule 58)', async () => {
    const { id, key } = await create(ada);
    const lastUsed = async () => {
      const row = service().db.selectFrom('api_key').where('id', '=', id);
      const since = sql<number>`extract(epoch from now() - last_used_at)::float8`.as('seconds');
      return (await row.select(since).executeTakeFirstOrThrow()).seconds;
    };
    await set(id, { key_hash: hashKey(`${key}x`) });
    expect(await use(key)).toBe(401);
    expect(await lastUsed()).toBeNull();
    const oneBitOff = hashKey(key);
    oneBitOff.writeUInt8(oneBitOff.readUInt8(31) ^ 1, 31);
    await set(id, { key_hash: oneBitOff });
    expect(await use(key)).toBe(401);
    expect(await lastUsed()).toBeNull();
    await set(id, { key_hash: hashKey(key) });
    expect(await use(key)).toBe(200);
    service().context.principals.forget(`key ${id}`);
    await set(id, { last_used_at: sql`now() - interval '50 seconds'` });
    expect(await use(key)).toBe(200);
    expect(await lastUsed()).toBeGreaterThanOrEqual(50);
    service().context.principals.forget(`key ${id}`);
    await set(id, { last_used_at: sql`now() - interval '61 seconds'` });
    expect(await use(key)).toBe(200);
    expect(await lastUsed()).toBeLessThan(30);
  });

  test.each([
    ['revoked', { revoked_at: sql`now()` }],
    ['expired', { expires_at: sql`now()` }],
  ])('401 — a key that is %s is refused, and audited with the reason, not with the key (rule 85)', async (reason, change) => {
    const { id, key } = await create(ada);
    expect(await use(key)).toBe(200);
    await set(id, change);
    await service().settle();
    for (let n = 0; n < 5; n++) expect(await use(key)).toBe(401);
    const events = await eventsOf('api_key.refused', id);
    expect(events).toMatchObject([{ user_name: 'ada', outcome: 'refused', detail: { key: id, reason } }]);
    expect(JSON.stringify(events)).not.toContain(key.slice(17, 60));
  });

  test('401 — so are a key with a wrong secret and the key of a disabled user (rule 59)', async () => {
    const { id, key } = await create(await service().signIn('bob'));
    expect(await use(key)).toBe(200);
    await set(id, { key_hash: hashKey(`${key}x`) });
    await service().settle();
    expect(await use(key)).toBe(401);
    await set(id, { key_hash: hashKey(key) });
    await service().db.updateTable('user_account').set({ active: false }).where('name', '=', 'bob').execute();
    await service().settle();
    expect(await use(key)).toBe(401);
    const reasons = (await eventsOf('api_key.refused', id)).map(({ detail }) => detail['reason']);
    expect(reasons).toEqual(['wrong-secret', 'user-disabled']);
  });

  test('401 — a key that was never made leaves no event', async () => {
    const { id, key } = newKey();
    expect(await use(key)).toBe(401);
    expect(await eventsOf('api_key.refused', id)).toEqual([]);
  });
});
