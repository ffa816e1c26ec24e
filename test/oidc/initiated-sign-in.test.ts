/** The start of a sign-in that another party begins (OpenID Connect Core, section 4), and the prompts and scopes of the issuer's entry. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService, type TestService } from '../support/service.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const own = await TestIssuer.start('own', clock);
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry()) }, clock);
let configured: TestService;

const transactions = () => service().db.selectFrom('openid_transaction').selectAll().execute();

beforeAll(async () => {
  const entry = await own.loginEntry({
    signInScopes: ['openid', 'groups'],
    prompt: { signIn: ['consent'], fresh: ['select_account'], choose: [] },
    provision: { enabled: true, profile: 'ada' },
  });
  await service().createUser('ada');
  configured = await service().replica({ ISSUERS_FILE: await writeIssuers(entry) }, clock);
});
afterAll(() => configured.close());
beforeEach(async () => {
  await service().db.deleteFrom('openid_transaction').execute();
});

describe('a sign-in that another party begins', () => {
  const initiated = (more: string) => `?iss=${encodeURIComponent(corp.url)}${more}`;

  test('303 — goes to the issuer with the hint, and its unknown parameters are ignored', async () => {
    const address = await new BrowserSession(service()).start(corp, initiated('&login_hint=ada%40example.com&organization=org_1&x=%20'));
    expect(address.origin).toBe(corp.url);
    expect(address.searchParams.get('login_hint')).toBe('ada@example.com');
    expect((await new BrowserSession(service()).start(corp, initiated('&login_hint='))).searchParams.has('login_hint')).toBe(false);
  });

  test.each([
    ['http://localhost:3000/app?a=1#b', '/app?a=1#b'],
    ['http://localhost:3000', '/'],
    ['https://evil.example/app', '/'],
    ['http://localhost:3000.evil.example/', '/'],
    ['http://localhost:3000@evil.example/', '/'],
    ['http://localhost:3000//evil.example', '/'],
    ['http://localhost:3000/%2f/evil.example', '/'],
    ['//evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/app', '/'],
  ])('303 — to %s returns to %s (rule 54)', async (target, path) => {
    await new BrowserSession(service()).start(corp, initiated(`&target_link_uri=${encodeURIComponent(target)}`));
    expect(await transactions()).toMatchObject([{ return_path: path }]);
  });

  test('400 — of another issuer than that of the path, which the answer names', async () => {
    for (const iss of ['https://evil.example', `${corp.url}/`, '', own.url]) {
      const answer = await service().call('GET', `/auth/oidc/corp/start?iss=${encodeURIComponent(iss)}`);
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ parameter: 'iss', code: 'invalid-value', expected: corp.url }] } });
    }
    expect(await transactions()).toEqual([]);
  });

  test('400 — without iss, unknown parameters are refused, and repeated ones always (rule 69)', async () => {
    for (const query of ['?organization=org_1', initiated('&login_hint=a&login_hint=b'), initiated(`&login_hint=${'a'.repeat(257)}`)])
      expect((await service().call('GET', `/auth/oidc/corp/start${query}`)).status, query).toBe(400);
    expect(await transactions()).toEqual([]);
  });
});

describe('prompts and scopes', () => {
  const asked = async (issuer: TestIssuer, query: string) => {
    const { searchParams } = await new BrowserSession(issuer === own ? configured : service()).start(issuer, query);
    return [searchParams.get('prompt'), searchParams.get('scope')];
  };

  test.each([
    ['', null],
    ['?fresh=1', 'login'],
    ['?choose=1', 'select_account'],
    ['?fresh=1&choose=1', 'login select_account'],
  ])('303 — without members in the file, %j is sent as %s', async (query, prompt) => {
    expect(await asked(corp, query)).toEqual([prompt, 'openid']);
  });

  test.each([
    ['', 'consent'],
    ['?fresh=1', 'select_account'],
    ['?choose=1', 'consent'],
    ['?fresh=1&choose=1', 'select_account'],
  ])('303 — with members in the file, %j is sent as %s', async (query, prompt) => {
    expect(await asked(own, query)).toEqual([prompt, 'openid groups']);
  });

  test('200 — a link is begun with the prompt for a new sign-in', async () => {
    const cookie = await configured.signIn('ada');
    const { body } = await configured.call<{ url: string }>('POST', '/auth/oidc/own/link', { cookie });
    expect(new URL(body.url).searchParams.get('prompt')).toBe('select_account');
  });
});
