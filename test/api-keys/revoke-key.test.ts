import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../generated/api.ts';
import { sessionOf } from '../support/clock.ts';
import { useService } from '../support/service.ts';

type NewKey = components['schemas']['NewKey'];

const service = useService();
const create = async (cookie: string) => (await service().call<NewKey>('POST', '/auth/keys', { cookie, json: { name: 'Nightly' } })).body;
const revoke = (cookie: string, id: string) => service().call('DELETE', `/auth/keys/${id}`, { cookie });
const status = async (key: string) => (await service().call('GET', '/auth', { headers: { 'x-api-key': key } })).status;

describe('revokeKey', () => {
  let ada: string;
  beforeAll(async () => {
    for (const name of ['ada', 'bob']) await service().createUser(name);
    ada = await service().signIn('ada');
  });

  test('204 — the key is refused at once, on all replicas that have just accepted it (rule 60)', async () => {
    const replica = await service().replica();
    try {
      const { id, key } = await create(ada);
      const read = async () => (await replica.call('GET', '/rest/entity/note/1', { headers: { 'x-api-key': key } })).status;
      expect([await read(), await status(key)]).toEqual([404, 200]);
      const answer = await revoke(ada, id);
      expect(answer.status, answer.text).toBe(204);
      expect([await read(), await status(key)]).toEqual([401, 401]);
      const events = await service().db.selectFrom('audit_event').where('event', '=', 'api_key.revoked').selectAll().execute();
      const { id: session_id } = await sessionOf(service(), ada);
      expect(events).toMatchObject([{ outcome: 'ok', user_name: 'ada', session_id, detail: { key: id } }]);
    } finally {
      await replica.close();
    }
  });

  test('403 — a session signed in more than 15 minutes ago (rule 60)', async () => {
    const cookie = await service().signIn('ada');
    const { id, key } = await create(cookie);
    await service()
      .db.updateTable('session')
      .set({ signed_in_at: sql`now() - interval '15 minutes'` })
      .where('id', '=', (await sessionOf(service(), cookie)).id)
      .execute();
    expect(await revoke(cookie, id)).toMatchObject({ status: 403, body: { code: 'fresh-login-required' } });
    expect(await status(key)).toBe(200);
  });

  test('404 — another user’s key still works, and the answer is that for an unknown key', async () => {
    const { id, key } = await create(await service().signIn('bob'));
    const refused = await revoke(ada, id);
    const unknown = await revoke(ada, '0123456789Ab');
    expect(refused.status).toBe(404);
    expect({ ...refused.body, instance: '' }).toEqual({ ...unknown.body, instance: '' });
    expect(await status(key)).toBe(200);
  });

  test('404 — a key cannot be revoked twice', async () => {
    const { id } = await create(ada);
    expect((await revoke(ada, id)).status).toBe(204);
    expect((await revoke(ada, id)).status).toBe(404);
  });

  test.each(['short', '0123456789Ab0', '0123456789-b'])('400 — %s is not a handle', async (id) => {
    const answer = await revoke(ada, id);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body).toMatchObject({ code: 'malformed-request', errors: [{ parameter: 'id' }] });
  });
});
