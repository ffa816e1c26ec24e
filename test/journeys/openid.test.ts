/** A person with a real browser and a real provider, through the provider's login page. */
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { signInUrl } from '../../src/client/index.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { useBrowser } from '../support/browser.ts';
import { clientOf } from '../support/client.ts';
import { execute, openDocs, tryOut } from '../support/docs-page.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { logIn, stayLocal } from '../support/provider-page.ts';
import { useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 90_000 });

const port = await fixedPort();
const origin = `http://localhost:${port}`;
const corp = await TestIssuer.start('corp', undefined, { publicUrl: origin });
const entry = await corp.loginEntry({ label: 'Corporate *login*', scopes: { read: 'entities:read', write: 'entities:write' } });
const service = useService({ PORT: String(port), PUBLIC_URL: origin, ISSUERS_FILE: await writeIssuers(entry) });
const openBrowser = useBrowser();

beforeAll(async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
});

const shownBy = async (page: Page) => JSON.parse(await page.locator('pre').innerText()) as Record<string, unknown>;
const ofService = (browser: BrowserContext) => browser.cookies(origin);

test('a person signs in at the provider and signs out; no other browser can finish the sign-in (rules 9 and 52)', async (context) => {
  const browser = await stayLocal(await openBrowser(context));
  const page = await browser.newPage();
  const { issuers } = await clientOf(service()).listIssuers();
  const start = signInUrl(issuers[0] ?? expect.fail(), { returnTo: '/docs' });
  await page.goto(start);
  expect(new URL(page.url()).origin).toBe(corp.url);
  const attributes = { domain: 'localhost', path: '/', httpOnly: true, secure: false, sameSite: 'Lax' };
  expect(await ofService(browser)).toEqual([expect.objectContaining({ name: 'oidc', ...attributes })]);

  await logIn(page, 'alice');
  await page.waitForURL(`${origin}/docs`);
  await page.locator('.opblock').first().waitFor();
  await page.goto(`${origin}/auth`);
  expect(await shownBy(page)).toMatchObject({ user: { name: 'ada' }, authentication: { method: 'openid', issuer: corp.url } });
  expect(await ofService(browser)).toEqual([expect.objectContaining({ name: 'sid', ...attributes })]);

  const docs = await openDocs(browser, origin);
  const signOut = await tryOut(docs.page, 'Sessions', 'endSession');
  await signOut.locator('select').selectOption('1');
  expect((await execute(signOut)).status).toBe('204');
  expect(await ofService(browser)).toEqual([]);
  const answer = await page.goto(`${origin}/auth`);
  expect(answer?.status()).toBe(401);

  // The provider remembers its user and shows no page. Another browser follows the redirect to the callback.
  let address = start;
  while (!address.includes('/callback?')) {
    const { location = '' } = (await browser.request.get(address, { maxRedirects: 0 })).headers();
    address = new URL(location, address).href;
  }
  const stranger = await stayLocal(await openBrowser(context));
  const elsewhere = await stranger.newPage();
  const refused = await elsewhere.goto(address);
  expect(refused?.status()).toBe(400);
  expect(refused?.headers()['content-type']).toBe('text/html; charset=utf-8');
  expect(await elsewhere.locator('body').innerText()).toContain('another browser');
  expect(await ofService(stranger)).toEqual([]);
});
