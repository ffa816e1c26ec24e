/** Sign-in at an OpenID provider: the client makes the URL for the browser, and uses the session that the browser returns with. */
import { password, useService } from '../support/service.ts';
import { beforeAll, expect, test } from 'vitest';
import { CookieJar, signInUrl, type Fetch } from '../../src/client/index.ts';
import { clientOf } from '../support/client.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { BrowserSession } from '../support/browser-session.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry({ label: 'Corporate login' })) });

beforeAll(async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
});

test('the providers are listed, and a browser follows the URL of one and returns to the requested path with a session', async () => {
  const { issuers } = await clientOf(service()).listIssuers();
  expect(issuers).toMatchObject([{ id: 'corp', label: 'Corporate login' }]);
  const { pathname, search } = new URL(signInUrl(issuers[0] ?? expect.fail(), { returnTo: '/app?tab=1', fresh: true }));

  const browser = new BrowserSession(service());
  const sent = await browser.call('GET', pathname + search);
  expect(sent.status, sent.text).toBe(303);
  const back = await browser.visit(corp, new URL(sent.headers.get('location') ?? ''), 'alice');
  const arrived = await browser.call('GET', back);
  expect([arrived.status, arrived.headers.get('location')]).toEqual([303, '/app?tab=1']);

  const cookies = new CookieJar(service().url);
  cookies.store(new URL(service().url), [`sid=${browser.cookies.get('sid')}; Path=/; HttpOnly`]);
  expect(await clientOf(service(), { cookies }).getSession()).toMatchObject({
    user: { name: 'ada' },
    authentication: { method: 'openid' },
  });
});

test('a signed-in user links another identity from a page, signs in with it, and removes it', async () => {
  const browser = new BrowserSession(service());
  const keeping: Fetch = async (url, init) => {
    const answer = await fetch(url, init);
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      browser.cookies.set(name, value);
    }
    return answer;
  };
  const client = clientOf(service(), { fetch: keeping });
  await client.createSession({ user: 'ada', password });
  const { url } = await client.linkIdentity('corp', { returnTo: '/app' });
  const arrived = await browser.call('GET', await browser.visit(corp, new URL(url), 'alias'));
  expect([arrived.status, arrived.headers.get('location')], arrived.text).toEqual([303, '/app']);
  expect((await new BrowserSession(service()).signIn(corp, 'alias')).status).toBe(303);

  const { identities } = await client.listIdentities();
  expect(identities).toMatchObject([
    { subject: 'alias', label: 'Corporate login', issuerId: 'corp', current: false },
    { subject: 'alice', issuer: corp.url },
  ]);
  await client.unlinkIdentity(identities[0]?.id ?? '');
  expect((await client.listIdentities()).identities.map(({ subject }) => subject)).toEqual(['alice']);
  expect((await new BrowserSession(service()).signIn(corp, 'alias')).status).toBe(403);
});

test.each(['app', '', '//evil.example', '/\\evil.example', 'https://evil.example/'])('returning to %j is a TypeError', async (returnTo) => {
  expect(() => signInUrl({ startUrl: 'http://localhost:3000/auth/oidc/corp/start' }, { returnTo })).toThrow(TypeError);
  await expect(clientOf(service()).linkIdentity('corp', { returnTo })).rejects.toThrow(TypeError);
});
