/** What a browser sees when a sign-in at a provider fails: a page with links, where a program gets a problem document (rule 124). */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService, type Answer } from '../support/service.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry()) }, clock);
const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

beforeAll(async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
});
afterEach(() => {
  corp.behaviour = 'up';
});

const open = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  service().call('GET', path, { headers: { accept: html, ...headers } });

const linksIn = (page: string): string[] =>
  [...page.matchAll(/<a href="([^"]*)">/g)].map(([, href = '']) => href.replaceAll('&#38;', '&').replaceAll('&#39;', "'"));

async function cancel(returnTo: string): Promise<[string, string]> {
  const browser = new BrowserSession(service());
  const address = await browser.start(corp, `?return_to=${encodeURIComponent(returnTo)}`);
  return [await browser.visit(corp, address, 'alice', true), browser.cookie];
}

describe('a sign-in that was cancelled at the provider', () => {
  test('400 — is a page that leads to a new start and back to the application (rule 124)', async () => {
    const [path, cookie] = await cancel('/app?tab=1&b=2');
    const answer = await open(path, { cookie });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(answer.headers.get('vary')).toContain('Accept');
    expect(answer.headers.get('cache-control')).toContain('no-store');
    expect(answer.text).toContain('<h1>Sign-in failed</h1>');
    expect(answer.text).toContain('sign-in-failed');
    const [retry = '', back] = linksIn(answer.text);
    expect([retry, back]).toEqual(['/auth/oidc/corp/start?return_to=%2Fapp%3Ftab%3D1%26b%3D2', '/app?tab=1&b=2']);
    const browser = new BrowserSession(service());
    const start = await browser.call('GET', retry);
    expect(start.status).toBe(303);
    const callback = await browser.visit(corp, new URL(start.headers.get('location') ?? ''), 'alice');
    expect((await browser.call('GET', callback)).headers.get('location')).toBe('/app?tab=1&b=2');
  });

  test('400 — is a page in the language of the browser (rule 124)', async () => {
    const [path, cookie] = await cancel('/');
    const { text } = await open(path, { cookie, 'accept-language': 'de' });
    expect(text).toContain('<html lang="de">');
    expect(text).toContain('Von vorn beginnen');
  });

  test('400 — is a problem document for a program (rule 124)', async () => {
    for (const accept of ['application/json', '*/*', 'application/problem+json', 'text/html;q=0']) {
      const [path, cookie] = await cancel('/');
      const answer = await service().call('GET', path, { headers: { accept }, cookie });
      expect(answer, accept).toMatchObject({ status: 400, body: { code: 'sign-in-failed' } });
      expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    }
  });

  test('400 — shows nothing of the provider’s or of an attacker’s text as HTML (rules 54 and 124)', async () => {
    const [path, cookie] = await cancel(`/a"><script>alert('1')</script>`);
    const { text } = await open(`${path}&error_description=%3Cscript%3E`, { cookie });
    expect(text).not.toContain('<script');
    expect(text).not.toContain('error_description');
    expect(linksIn(text).every((href) => href.startsWith('/'))).toBe(true);
  });
});

describe('another failure', () => {
  test.each([
    ['an answer that was never requested', 400, `/auth/oidc/corp/callback?state=${'x'.repeat(43)}&code=x`],
    ['a malformed answer', 400, '/auth/oidc/corp/callback?state=x'],
    ['a start with a parameter that does not exist', 400, '/auth/oidc/corp/start?retrun_to=/'],
    ['a provider that does not exist', 404, '/auth/oidc/nobody/start'],
  ])('%s is a page that leads back (rule 124)', async (_what, status, path) => {
    const answer = await open(path);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(linksIn(answer.text)).toEqual(['/']);
  });

  test('503 — a provider that does not answer is a page that leads to a new start (rule 124)', async () => {
    const other = await service().replica({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry()) }, clock);
    try {
      corp.behaviour = 'down';
      const answer = await other.call('GET', '/auth/oidc/corp/start?return_to=/app&fresh=1', { headers: { accept: html } });
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(linksIn(answer.text)).toEqual(['/auth/oidc/corp/start?return_to=/app&fresh=1', '/']);
    } finally {
      await other.close();
    }
  });

  test('403 — an identity without a user is a page (rule 124)', async () => {
    const browser = new BrowserSession(service());
    const path = await browser.visit(corp, await browser.start(corp, '?return_to=/app'), 'stranger');
    const answer = await open(path, { cookie: browser.cookie });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('<h1>Identity not linked</h1>');
    expect(linksIn(answer.text)).toEqual(['/auth/oidc/corp/start?return_to=%2Fapp', '/app']);
  });

  test('401 — an operation that no browser opens stays a problem document', async () => {
    const answer = await open('/auth');
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  });
});
