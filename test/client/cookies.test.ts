/** The destinations of the session cookie, and those that never get it. */
import { useService, password } from '../support/service.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { CookieJar, resultOf, type Fetch } from '../../src/client/index.ts';
import { fetchStoresCookies } from '../../src/client/cookies.ts';
import { clientOf, empty, entity, json, scriptedServer } from '../support/client.ts';

const home = new URL('https://api.example.com/auth');
const secure = '__Host-sid=abc; Path=/; HttpOnly; Secure; SameSite=Lax';

/** A jar that has seen these Set-Cookie headers from `url`. */
function jarAfter(url: URL, ...setCookies: string[]): CookieJar {
  const jar = new CookieJar(home);
  jar.store(url, setCookies);
  return jar;
}

describe('a jar', () => {
  test('stores the service’s cookie and no other', () => {
    expect(jarAfter(home, 'theme=dark; Path=/', secure, '__Secure-x=1; Secure').header(home)).toBe('__Host-sid=abc');
  });

  test('stores the cookie under the name that the service has for it, and one that outlives the browser', () => {
    const jar = new CookieJar(home, { sessionCookieName: 'shop' });
    jar.store(home, [secure, '__Host-shop=xyz; Max-Age=1800; Path=/; HttpOnly; Secure']);
    expect(jar.header(home)).toBe('__Host-shop=xyz');
  });

  test('stores nothing from another origin and sends nothing to it', () => {
    const jar = jarAfter(home, secure);
    for (const other of ['https://evil.example', 'https://api.example.com:8443', 'http://api.example.com', 'https://sub.api.example.com']) {
      jar.store(new URL(other), ['__Host-sid=planted; Path=/; Secure']);
      expect(jar.header(new URL(other)), other).toBeUndefined();
    }
    expect(jar.header(home)).toBe('__Host-sid=abc');
  });

  test('replaces the cookie, and removes it when the service clears it', () => {
    const jar = jarAfter(home, secure, secure.replace('abc', 'def='));
    expect(jar.header(home)).toBe('__Host-sid=def=');
    jar.store(home, ['__Host-sid=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure']);
    expect(jar.header(home)).toBeUndefined();
    expect(jarAfter(home, secure, '__Host-sid=; Max-Age=0; Path=/; Secure').header(home)).toBeUndefined();
  });

  test('refuses a __Host- cookie that is not Secure, or that was sent over plain http', () => {
    expect(jarAfter(home, '__Host-sid=abc; Path=/').header(home)).toBeUndefined();
    const open = new URL('http://api.example.com');
    const jar = new CookieJar(open);
    jar.store(open, [secure, 'sid=abc; Path=/; Secure']);
    expect(jar.header(open)).toBeUndefined();
  });

  test('sends a Secure cookie over http if the network is trusted, and still to its origin only', () => {
    const open = new URL('http://entity-service:3000');
    const jar = new CookieJar(open, { secureCookieOverHttp: true });
    expect(jar.store(open, [secure])).toBe(true);
    expect(jar.header(open)).toBe('__Host-sid=abc');
    expect(jar.header(new URL('http://other:3000'))).toBeUndefined();
  });

  test.each(['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'])('works on plain http at %s', (url) => {
    const jar = new CookieJar(url);
    jar.store(new URL(url), ['sid=abc; Path=/; HttpOnly; SameSite=Lax']);
    expect(jar.header(new URL(url))).toBe('sid=abc');
  });
});

test('node stores no cookies by itself, so the client does', () => {
  expect(fetchStoresCookies()).toBe(false);
});

describe('a client', () => {
  const service = useService();
  beforeAll(async () => {
    await service().createUser('ada');
  });

  test('has its own session, and shares it with another client through its jar', async () => {
    const client = clientOf(service());
    await client.createSession({ user: 'ada', password });
    expect(await resultOf(clientOf(service()).getSession())).toMatchObject({ ok: false, error: { status: 401 } });
    const sharing = clientOf(service(), { errors: 'result', cookies: client.cookies });
    expect(await sharing.getSession()).toMatchObject({ ok: true, value: { user: { name: 'ada' } } });
  });

  describe('over http to another machine', () => {
    const signIn = { user: 'ada', password };
    /** The service as if it were on a machine called `entity-service`, with the cookie that it sets for an https PUBLIC_URL. */
    const elsewhere = (options: { secureCookieOverHttp?: boolean } = {}) => {
      const secured = (cookie: string) => cookie.replace('sid=', '__Host-sid=').replace('HttpOnly', 'HttpOnly; Secure');
      const fetch: Fetch = async (url, init) => {
        const headers = new Headers(init.headers);
        headers.set('cookie', (headers.get('cookie') ?? '').replace('__Host-', ''));
        const answer = await globalThis.fetch(url.replace('http://entity-service:3000', service().url), { ...init, headers });
        const copy = new Response(answer.body, { status: answer.status, headers: answer.headers });
        copy.headers.delete('set-cookie');
        for (const cookie of answer.headers.getSetCookie()) copy.headers.append('set-cookie', secured(cookie));
        return copy;
      };
      return clientOf({ url: 'http://entity-service:3000' }, { fetch, ...options });
    };

    test('refuses a sign-in whose cookie it could not send, and says what to do', async () => {
      const refused = await resultOf(elsewhere().createSession(signIn));
      expect(refused).toMatchObject({
        ok: false,
        error: { kind: 'client', reason: 'cookie', method: 'POST', url: 'http://entity-service:3000/auth' },
      });
      expect(refused.ok || refused.error.message).toMatch(/https baseUrl.*secureCookieOverHttp.*API key/s);
    });

    test('has a session there if the network is trusted', async () => {
      const client = elsewhere({ secureCookieOverHttp: true });
      await client.createSession(signIn);
      expect(await client.getSession()).toMatchObject({ user: { name: 'ada' } });
      await client.endSession();
      expect(client.cookies?.header(new URL('http://entity-service:3000'))).toBeUndefined();
    });
  });

  test('with a jar of another origin sends no cookie', async () => {
    const elsewhere = await scriptedServer(json(200, entity()));
    const client = clientOf(service());
    await client.createSession({ user: 'ada', password });
    await clientOf(elsewhere, { cookies: client.cookies }).entities('note').get('1');
    expect(elsewhere.heard[0]?.headers).not.toHaveProperty('cookie');
  });

  test('does not follow a redirect, so neither cookie nor key reaches another server', async () => {
    const elsewhere = await scriptedServer(json(200, entity()));
    const here = await scriptedServer(empty(307, { location: `${elsewhere.url}/rest/entity/note/1` }));
    for (const options of [{}, { credential: { apiKey: 'esk_x' } }]) {
      expect(await resultOf(clientOf(here, options).entities('note').get('1'))).toMatchObject({
        ok: false,
        error: { reason: 'answer', status: 307 },
      });
    }
    expect(elsewhere.heard).toEqual([]);
  });

  test('with a header credential stores and sends no cookie', async () => {
    const server = await scriptedServer(json(200, entity(), { 'set-cookie': 'sid=abc; Path=/' }));
    const client = clientOf(server, { credential: { apiKey: 'esk_x' } });
    await client.entities('note').get('1');
    await client.entities('note').get('1');
    expect(server.heard[1]?.headers).not.toHaveProperty('cookie');
    expect(server.heard[1]?.headers).toMatchObject({ 'x-api-key': 'esk_x' });
  });
});
