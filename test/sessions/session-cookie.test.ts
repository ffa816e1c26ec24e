/** The session cookie as the settings make it: how long a browser stores it, what it is called, and what else is sent under its name. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Actions } from '../support/actions.ts';
import { sessionOf } from '../support/clock.ts';
import { password, TestService, useService, type Answer, type Call } from '../support/service.ts';

const service = useService({ SESSION_COOKIE_PERSISTENT: 'on', SESSION_IDLE_SECONDS: '600', SESSION_ABSOLUTE_SECONDS: '3600' });
const act = new Actions(service);
let shop: TestService;
let user: { id: string };

beforeAll(async () => {
  shop = await service().replica({ SESSION_COOKIE_NAME: 'shop', SESSION_COOKIE_PERSISTENT: 'off' });
  user = await service().createUser('ada');
  await service().createProfile(user.id, 'second', {});
});
afterAll(() => shop.close());

const maxAgeOf = ({ headers }: Answer) => /; Max-Age=(\d+)(?:;|$)/.exec(headers.getSetCookie()[0] ?? '')?.[1];
const pairOf = ({ headers }: Answer) => headers.getSetCookie()[0]?.split(';')[0] ?? '';
const signIn = (at: TestService, call: Call = {}) => at.call('POST', '/auth', { form: { user: 'ada', password }, ...call });
const show = async (at: TestService, cookie: string) => (await at.call('GET', '/auth', { cookie })).status;

describe('SESSION_COOKIE_PERSISTENT', () => {
  /** Moves both ends of the session, to so many seconds from now. */
  const move = async (cookie: string, idleSeconds: number, absoluteSeconds: number) => {
    const { id } = await sessionOf(service(), cookie);
    await sql`update session set idle_expires_at = now() + make_interval(secs => ${idleSeconds}),
      expires_at = now() + make_interval(secs => ${absoluteSeconds}) where id = ${id}`.execute(service().db);
  };

  test('200 — the cookie has the rest of the session as Max-Age, and a refresh renews it (rule 9)', async () => {
    const opened = await signIn(service());
    expect(opened.headers.getSetCookie()).toEqual([expect.stringMatching(/^sid=[\w-]{32}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/)]);
    await move(pairOf(opened), 100, 3_000);
    const refreshed = await act.refresh(pairOf(opened));
    expect([refreshed.status, maxAgeOf(refreshed)]).toEqual([200, '600']);
  });

  test('200 and 204 — another profile and a new password renew neither the session nor the cookie, and no cookie outlives the session', async () => {
    const { id } = await service().createUser('grace');
    await service().createProfile(id, 'third', {});
    const cookie = await service().openSession(id);
    await move(cookie, 100, 3_000);
    const switched = await act.selectProfile(cookie, 'third');
    expect(Number(maxAgeOf(switched))).toBeGreaterThan(90);
    expect(Number(maxAgeOf(switched))).toBeLessThanOrEqual(100);
    await move(pairOf(switched), 500, 50);
    const refreshed = await act.refresh(pairOf(switched));
    expect(Number(maxAgeOf(refreshed)), 'the absolute end is nearer').toBeLessThanOrEqual(50);
    const changed = await act.changePassword(pairOf(refreshed));
    expect([changed.status, Number(maxAgeOf(changed)) <= 50, Number(maxAgeOf(changed)) > 30]).toEqual([204, true, true]);
  });

  test('204 — a logout clears it', async () => {
    const answer = await act.logOut(pairOf(await signIn(service())));
    expect(answer.headers.getSetCookie()).toEqual(['sid=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax']);
  });

  test('200 — off, the cookie has no Max-Age', async () => {
    expect(maxAgeOf(await signIn(shop))).toBeUndefined();
  });
});

describe('SESSION_COOKIE_NAME', () => {
  test('200 — two services of one host have cookies of their own, and a logout at one does not touch the other (rule 9)', async () => {
    const one = await signIn(service());
    const other = await signIn(shop, { cookie: pairOf(one) });
    expect(other.headers.getSetCookie()).toEqual([expect.stringMatching(/^shop=[\w-]{32}; Path=\/; HttpOnly; SameSite=Lax$/)]);
    const both = `${pairOf(one)}; ${pairOf(other)}`;
    const refreshed = await shop.call('POST', '/auth/refresh', { cookie: both });
    expect(pairOf(refreshed)).toMatch(/^shop=/);
    const left = await shop.call('HEAD', '/auth?logout=1', { cookie: `${pairOf(one)}; ${pairOf(refreshed)}` });
    expect(left.headers.getSetCookie()).toEqual(['shop=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax']);
    expect([await show(service(), both), await show(shop, both)]).toEqual([200, 401]);
  });

  test('200 — over https the name has the prefix, and the document of the server names the cookie (rule 9)', async () => {
    const secure = await service().replica({ SESSION_COOKIE_NAME: 'shop', PUBLIC_URL: 'https://shop.example.com' });
    const opened = await signIn(secure);
    expect(opened.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-shop=[\w-]{32}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    expect(await show(secure, pairOf(opened))).toBe(200);
    const { body } = await secure.call<{ components: { securitySchemes: object } }>('GET', '/openapi.json');
    expect(body.components.securitySchemes).toMatchObject({ sessionCookie: { name: '__Host-shop' } });
    await secure.close();
  });
});

describe('other values under the name', () => {
  test('200 — a value of another form counts for nothing, whatever the order (rule 10)', async () => {
    const cookie = pairOf(await signIn(service()));
    for (const foreign of ['sid=junk', 'sid=', `sid=${'x'.repeat(31)}`, 'sid="quoted"', `sid=${'x'.repeat(4_000)}`, 'sid=a; sid=b']) {
      expect(await show(service(), `${foreign}; ${cookie}`), foreign).toBe(200);
      expect(await show(service(), `${cookie}; ${foreign}`), foreign).toBe(200);
    }
  });

  test('200 — a refresh, a logout and a sign-in beside such a value (rules 10 and 15)', async () => {
    const refreshed = await act.refresh(`sid=junk; ${pairOf(await signIn(service()))}`);
    expect(refreshed.status, refreshed.text).toBe(200);
    const again = await signIn(service(), { cookie: `sid=junk; ${pairOf(refreshed)}` });
    expect([again.status, await show(service(), pairOf(refreshed))]).toEqual([200, 401]);
    expect((await act.logOut(`sid=junk; ${pairOf(again)}`)).status).toBe(204);
    expect(await show(service(), pairOf(again))).toBe(401);
  });

  test('401 — two different tokens are no session, whatever the order: one of them was planted (rule 10)', async () => {
    const [one, other] = [pairOf(await signIn(service())), pairOf(await signIn(service()))];
    expect(await show(service(), one)).toBe(200);
    for (const cookie of [`${one}; ${other}`, `${other}; ${one}`, `sid=${'A'.repeat(32)}; sid=junk; ${one}`])
      expect(await show(service(), cookie)).toBe(401);
  });
});
