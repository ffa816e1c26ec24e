import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { cookieOf, password, useService, type Call } from '../support/service.ts';

const service = useService();
const next = 'seven quiet lanterns drift north';
let users = 0;
let user = '';

const change = (cookie: string, current: string, set: string, confirm = set, more: Call = {}) =>
  service().call('POST', '/auth/password', {
    cookie,
    form: { 'current-password': current, 'set-password': set, 'confirm-password': confirm },
    ...more,
  });
const login = async (secret: string) => (await service().call('POST', '/auth', { form: { user, password: secret } })).status;

describe('changePassword', () => {
  beforeEach(async () => {
    user = `user${users++}`;
    await service().createUser(user);
    await service().db.deleteFrom('login_attempt').execute();
  });

  test('204 — the new password is accepted, the old one refused, and this session stays under a new token (rules 15 and 44)', async () => {
    const cookie = await service().signIn(user);
    const answer = await change(cookie, password, next);
    expect(answer.status, answer.text).toBe(204);
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(401);
    expect((await service().call('GET', '/auth', { cookie: cookieOf(answer) })).status).toBe(200);
    expect([await login(next), await login(password)]).toEqual([200, 401]);
  });

  test('204 — the user’s other sessions end at once on every replica; other users’ sessions stay (rule 44)', async () => {
    const replica = await service().replica();
    const [here, there] = [await service().signIn(user), await service().signIn(user)];
    await service().createUser(`${user}-bystander`);
    const bystander = await service().signIn(`${user}-bystander`);
    const ask = (cookie: string) => replica.call('GET', '/rest/entity/note/1', { cookie });
    expect([(await ask(there)).status, (await ask(bystander)).status]).toEqual([404, 404]);
    expect((await change(here, password, next)).status).toBe(204);
    expect([(await ask(there)).status, (await ask(bystander)).status]).toEqual([401, 404]);
    expect(await sessionOf(service(), there)).toMatchObject({ revoked_reason: 'password-changed' });
    await replica.close();
  });

  test('204 — live API keys and identity links stay, and the audit event names them (rule 44)', async () => {
    const { db } = service();
    const owner = await db.selectFrom('user_account').where('name', '=', user).select('id').executeTakeFirstOrThrow();
    const key = await service().createKey(owner.id);
    const revoked = await service().createKey(owner.id);
    await sql`update api_key set revoked_at = now() where id = ${revoked.slice(4, 16)}`.execute(db);
    const identity = { issuer: 'https://login.example.com', subject: user };
    await service().link({ url: identity.issuer }, user, user);
    expect((await change(await service().signIn(user), password, next)).status).toBe(204);
    expect((await service().call('GET', '/auth', { headers: { 'x-api-key': key } })).status).toBe(200);
    const events = await db
      .selectFrom('audit_event')
      .where('user_name', '=', user)
      .where('event', '=', 'password.changed')
      .select('detail')
      .execute();
    expect(events).toEqual([{ detail: { apiKeysKept: [key.slice(4, 16)], identitiesKept: [identity], endedSessions: 0 } }]);
  });

  test('204 — all Unicode forms of a password are equal, and 64 characters are always accepted (rules 32 and 33)', async () => {
    const cookie = await service().signIn(user);
    const composed = 'Überraschende Gänsefüße im Café';
    const answer = await change(cookie, password, composed.normalize('NFD'), composed.normalize('NFC'));
    expect(answer.status, answer.text).toBe(204);
    expect(await login(composed)).toBe(200);
    const long = 'violet tundra 7 whispering cellos above the old copper foundry!!';
    expect(long).toHaveLength(64);
    expect((await change(cookieOf(answer), composed, long)).status).toBe(204);
  });

  test('204 — of parallel changes one succeeds, and its password is the stored one (rule 44)', async () => {
    const cookies = await Promise.all([1, 2, 3].map(() => service().signIn(user)));
    const wanted = ['seven quiet lanterns drift north', 'eleven brass kettles hum below', 'thirty paper boats wait upriver'];
    const answers = await Promise.all(cookies.map((cookie, index) => change(cookie, password, wanted[index] ?? '')));
    const winner = answers.findIndex(({ status }) => status === 204);
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    // The present password of the others is wrong by then, or their session has ended.
    for (const answer of answers.toSpliced(winner, 1)) {
      expect([
        [401, 'unauthenticated'],
        [403, 'credential-mismatch'],
      ]).toContainEqual([answer.status, answer.body.code]);
    }
    expect(await login(wanted[winner] ?? '')).toBe(200);
  });

  test('204 — a login with the old password during the change does not survive it (rule 44)', async () => {
    const cookie = await service().signIn(user);
    const logins = Array.from({ length: 5 }, () => service().call('POST', '/auth', { form: { user, password } }));
    const [changed, ...answers] = await Promise.all([change(cookie, password, next), ...logins]);
    expect(changed.status).toBe(204);
    for (const answer of answers) {
      if (answer.status === 200) expect((await service().call('GET', '/auth', { cookie: cookieOf(answer) })).status).toBe(401);
    }
  });

  test('403 — a wrong present password changes nothing, and the session stays (rule 43)', async () => {
    const cookie = await service().signIn(user);
    const answer = await change(cookie, 'not the present password', next);
    expect([answer.status, answer.body.code]).toEqual([403, 'credential-mismatch']);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
    expect([await login(next), await login(password)]).toEqual([401, 200]);
  });

  test('403 — an API key cannot change its owner’s password, with any body (rule 59)', async () => {
    const { db } = service();
    const owner = await db.selectFrom('user_account').where('name', '=', user).select('id').executeTakeFirstOrThrow();
    const key = await service().createKey(owner.id);
    const answer = await change(await service().signIn(user), password, next, next, { headers: { 'x-api-key': key } });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    expect(await login(password)).toBe(200);
  });

  test.each([
    ['shorter than fifteen characters', 'short', 'short', ['/set-password', 'too-short']],
    ['longer than 256 characters', 'x7 '.repeat(100), 'x7 '.repeat(100), ['/set-password', 'too-long']],
    ['the present one', password, password, ['/set-password', 'unchanged']],
    ['not repeated exactly', next, `${next} `, ['/confirm-password', 'not-repeated-exactly']],
  ])('422 — a new password that is %s, and nothing changes (rule 43)', async (_what, set, confirm, [pointer, code]) => {
    const cookie = await service().signIn(user);
    const answer = await change(cookie, password, set, confirm);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.code).toBe('password-rejected');
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer, code }));
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
    expect(await login(password)).toBe(200);
  });

  test('429 — guesses of the present password in an open session are throttled like logins (rules 39 and 43)', async () => {
    const cookie = await service().signIn(user);
    const statuses: number[] = [];
    for (let guess = 0; guess < 7; guess++) statuses.push((await change(cookie, `guess number ${guess}`, next)).status);
    expect(statuses.slice(0, 5)).toEqual([403, 403, 403, 403, 403]);
    expect(statuses[6]).toBe(429);
    expect((await change(cookie, password, next)).status).toBe(429);
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
  });

  test('409 — a token that a refresh has just replaced changes nothing', async () => {
    const cookie = await service().signIn(user);
    await service().call('POST', '/auth/refresh', { cookie });
    const answer = await change(cookie, password, next);
    expect([answer.status, answer.body.code]).toEqual([409, 'refresh-conflict']);
    expect([await login(password), await login(next)]).toEqual([200, 401]);
  });

  test('401 — without a session', async () => {
    expect((await change('', password, next)).status).toBe(401);
  });
});
