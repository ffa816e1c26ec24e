/** POST /auth/oidc/{issuer}/start: a form of another party begins a sign-in (OpenID Connect Core, section 4). `initiated-sign-in.test.ts` has the links. */
import { expect, test } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService } from '../support/service.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry()) });
const transactions = () => service().db.selectFrom('openid_transaction').selectAll().execute();

const post = (form: Record<string, string> | [string, string][], id = 'corp') =>
  service().call('POST', `/auth/oidc/${id}/start`, {
    form,
    headers: { origin: 'https://portal.example', 'sec-fetch-site': 'cross-site' },
  });

test('303 — the browser goes on to the start, and further fields are ignored', async () => {
  const form = { iss: corp.url, login_hint: 'ada@example.com', target_link_uri: 'http://localhost:3000/app?a=1', organization: 'org_1' };
  const answer = await post(form);
  expect([answer.status, answer.headers.getSetCookie(), await transactions()], answer.text).toEqual([303, [], []]);
  const there = new URL(answer.headers.get('location') ?? '');
  expect([there.origin, there.pathname]).toEqual(['http://localhost:3000', '/auth/oidc/corp/start']);
  expect(there.searchParams.has('organization')).toBe(false);
  const browser = new BrowserSession(service());
  const started = await browser.call('GET', there.pathname + there.search);
  expect(new URL(started.headers.get('location') ?? '').searchParams.get('login_hint')).toBe('ada@example.com');
  expect(await transactions()).toMatchObject([{ return_path: '/app?a=1' }]);
  const alone = new URL((await post({ iss: corp.url })).headers.get('location') ?? '');
  expect(Object.fromEntries(alone.searchParams)).toEqual({ iss: corp.url, redirected: '1' });
});

test('400 and 404 — another issuer, none, a repeated field or too long a hint, and no provider', async () => {
  expect(await post({ iss: `${corp.url}/` })).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '/iss', code: 'invalid-value', expected: corp.url }] },
  });
  for (const form of [
    { login_hint: 'ada' },
    [
      ['iss', corp.url],
      ['iss', corp.url],
    ] as [string, string][],
    { iss: corp.url, login_hint: 'a'.repeat(257) },
  ])
    expect((await post(form)).status).toBe(400);
  expect((await post({ iss: corp.url }, 'nobody')).status).toBe(404);
});

test('413 and 415 — a form over 8 KiB, and JSON', async () => {
  expect((await post({ iss: corp.url, target_link_uri: 'x'.repeat(9_000) })).status).toBe(413);
  expect((await service().call('POST', '/auth/oidc/corp/start', { json: { iss: corp.url } })).status).toBe(415);
});
