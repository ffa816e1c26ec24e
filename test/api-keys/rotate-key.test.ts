import { sql } from 'kysely';
import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../generated/api.ts';
import { liveKeysPerUser } from '../../src/api-keys/store.ts';
import { sessionOf } from '../support/clock.ts';
import { whileWaiting } from '../support/entities.ts';
import { useService, type Call, type ProblemBody } from '../support/service.ts';

type NewKey = components['schemas']['NewKey'];

const service = useService();
const create = async (cookie: string, json: object = {}) =>
  (await service().call<NewKey>('POST', '/auth/keys', { cookie, json: { name: 'Nightly', ...json } })).body;
const rotate = <T = NewKey>(cookie: string, id: string, call: Call = {}) =>
  service().call<T>('POST', `/auth/keys/${id}/rotate`, { cookie, ...call });
const status = async (key: string) => (await service().call('GET', '/auth', { headers: { 'x-api-key': key } })).status;
const rowOf = (id: string) => service().db.selectFrom('api_key').where('id', '=', id).selectAll().executeTakeFirstOrThrow();
const secondsLeft = async (id: string) => {
  const row = service().db.selectFrom('api_key').where('id', '=', id);
  const { seconds } = await row.select(sql<number>`extract(epoch from expires_at - now())::float8`.as('seconds')).executeTakeFirstOrThrow();
  return seconds;
};

describe('rotateKey', () => {
  let ada: string;
  beforeAll(async () => {
    for (const name of ['ada', 'bob']) await service().createUser(name);
    ada = await service().signIn('ada');
  });

  test('201 — the new key has the properties of the old one and a full lifetime; both work for an hour', async () => {
    const old = await create(ada, { profile: 'ada', scopes: [{ entity: 'note', actions: ['read'] }], expiresInDays: 30 });
    await service()
      .db.updateTable('api_key')
      .set({ created_at: sql`now() - interval '29 days'`, expires_at: sql`now() + interval '1 day'` } as never)
      .where('id', '=', old.id)
      .execute();
    const answer = await rotate(ada, old.id);
    expect(answer.status, answer.text).toBe(201);
    const { id, key, name, profile, scopes, createdAt, expiresAt } = answer.body;
    expect({ name, profile, scopes }).toEqual({ name: old.name, profile: old.profile, scopes: old.scopes });
    expect(answer.headers.get('location')).toBe(`/auth/keys/${id}`);
    expect([id, key]).not.toContain(old.id);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * 86_400_000);
    expect([await status(old.key), await status(key)]).toEqual([200, 200]);
    expect(Math.abs((await secondsLeft(old.id)) - 3_600)).toBeLessThan(30);
    const events = await service().db.selectFrom('audit_event').where('event', '=', 'api_key.rotated').selectAll().execute();
    expect(events).toMatchObject([{ outcome: 'ok', user_name: 'ada', detail: { key: old.id, successor: id } }]);
    expect(JSON.stringify(events)).not.toContain(key.slice(17, 60));
  });

  test('201 — without an overlap the old key is refused at once', async () => {
    const old = await create(ada);
    expect(await status(old.key)).toBe(200);
    const { body } = await rotate(ada, old.id, { json: { overlapSeconds: 0 } });
    expect([await status(old.key), await status(body.key)]).toEqual([401, 200]);
  });

  test('201 — an overlap never extends the lifetime of the old key', async () => {
    const old = await create(ada);
    await service()
      .db.updateTable('api_key')
      .set({ expires_at: sql`now() + interval '10 minutes'` })
      .where('id', '=', old.id)
      .execute();
    expect((await rotate(ada, old.id, { json: { overlapSeconds: 86_400 } })).status).toBe(201);
    expect(await secondsLeft(old.id)).toBeLessThanOrEqual(600);
  });

  test('201 — a Content-Type without a body is ignored', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
      const { id } = await create(ada);
      const answer = await rotate(ada, id, { headers: { 'content-type': type } });
      expect(answer.status, answer.text).toBe(201);
      expect((await service().call('DELETE', `/auth/keys/${answer.body.id}`, { cookie: ada })).status).toBe(204);
    }
  });

  test('400 — a chunked body without content is malformed', async () => {
    const { id } = await create(ada);
    const seen = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { cookie: ada, 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      const outgoing = request(`${service().url}/auth/keys/${id}/rotate`, { method: 'POST', headers }, (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode);
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
    expect(seen).toBe(400);
    expect((await rowOf(id)).replaced_at).toBeNull();
  });

  test('403 — a session signed in more than 15 minutes ago (rule 60)', async () => {
    const cookie = await service().signIn('bob');
    const { id } = await create(cookie);
    await service()
      .db.updateTable('session')
      .set({ signed_in_at: sql`now() - interval '15 minutes'` })
      .where('id', '=', (await sessionOf(service(), cookie)).id)
      .execute();
    expect(await rotate<ProblemBody>(cookie, id)).toMatchObject({ status: 403, body: { code: 'fresh-login-required' } });
    expect((await rowOf(id)).replaced_at).toBeNull();
  });

  test('404 — another user’s key, a revoked one and an unknown one get the same answer', async () => {
    const bob = await service().signIn('bob');
    const foreign = await create(bob);
    const revoked = await create(ada);
    await service().call('DELETE', `/auth/keys/${revoked.id}`, { cookie: ada });
    const answers = [];
    for (const id of [foreign.id, revoked.id, '0123456789Ab']) answers.push(await rotate<ProblemBody>(ada, id));
    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ body }) => JSON.stringify({ ...body, instance: '' }))).size).toBe(1);
    expect(await status(foreign.key)).toBe(200);
  });

  test('404 — a key that is revoked or expires while its rotation waits gets no successor', async () => {
    for (const end of [sql`revoked_at = now()`, sql`expires_at = now()`]) {
      const { id } = await create(ada);
      const keys = async () => (await service().db.selectFrom('api_key').select('id').execute()).length;
      const before = await keys();
      const ended = sql`update api_key set ${end} where id = ${id}`;
      const answer = await whileWaiting(
        service(),
        ended,
        () => rotate<ProblemBody>(ada, id),
        async () => undefined,
      );
      expect([answer.status, await keys()]).toEqual([404, before]);
      expect((await rowOf(id)).replaced_at).toBeNull();
    }
  });

  test('409 — of several concurrent rotations of one key one succeeds', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await create(ada);
      const answers = await Promise.all(Array.from({ length: 4 }, () => rotate<ProblemBody & NewKey>(ada, id)));
      expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([201, 409, 409, 409]);
      const made = answers.find((answer) => answer.status === 201);
      for (const old of [id, made?.body.id]) await service().call('DELETE', `/auth/keys/${old}`, { cookie: ada });
    }
  });

  test('409 — at the maximum of live keys, a key is only replaced without an overlap (rule 60)', async () => {
    await service().createUser('many');
    const cookie = await service().signIn('many');
    let id = '';
    for (let n = 0; n < liveKeysPerUser; n++) ({ id } = await create(cookie));
    expect(await rotate<ProblemBody>(cookie, id)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await rowOf(id)).replaced_at).toBeNull();
    expect((await rotate(cookie, id, { json: { overlapSeconds: 0 } })).status).toBe(201);
  });

  test.each([{ overlapSeconds: -1 }, { overlapSeconds: 86_401 }, { overlapSeconds: 1.5 }, { overlapSeconds: '1' }])(
    '422 — %j is refused',
    async (json) => {
      const { id } = await create(ada, { expiresInDays: 1 });
      const answer = await rotate<ProblemBody>(ada, id, { json });
      expect(answer.status, answer.text).toBe(422);
      expect(answer.body).toMatchObject({ code: 'validation-failed', errors: [{ pointer: '/overlapSeconds' }] });
      expect((await service().call('DELETE', `/auth/keys/${id}`, { cookie: ada })).status).toBe(204);
    },
  );
});
