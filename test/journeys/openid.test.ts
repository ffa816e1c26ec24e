/** A person with a real browser and a real provider, through the provider's login page and Swagger UI's Authorize. */
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, test, vi, type TestContext } from 'vitest';
import { signInUrl } from '../../src/client/index.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { useBrowser } from '../support/browser.ts';
import { clientOf } from '../support/client.ts';
import { execute, openDocs, tryOut } from '../support/docs-page.ts';
import { docsClient, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 30_000 });

const port = await fixedPort();
const origin = `http://localhost:${port}`;
const corp = await TestIssuer.start('corp', undefined, { publicUrl: origin });
const swaggerUi = { clientId: docsClient.id, parameters: { resource: docsClient.resource } };
const entry = await corp.loginEntry({ label: 'Corporate *login*', scopes: { read: 'entities:read', write: 'entities:write' }, swaggerUi });
const service = useService({ PORT: String(port), PUBLIC_URL: origin, ISSUERS_FILE: await writeIssuers(entry) });
const openBrowser = useBrowser();

beforeAll(async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
});

/** A browser that reaches only this machine: the provider's pages request a font from elsewhere. */
async function open(context: TestContext): Promise<BrowserContext> {
  const browser = await openBrowser(context);
  await browser.route(/fonts\.googleapis\.com/, (route) => route.abort());
  return browser;
}

/** Logs in on the provider's page and consents. */
async function logIn(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
  await page.locator('button[type=submit]').click();
}

const shownBy = async (page: Page) => JSON.parse(await page.locator('pre').innerText()) as Record<string, unknown>;
const ofService = (browser: BrowserContext) => browser.cookies(origin);

test('a person signs in at the provider and signs out; no other browser can finish the sign-in (rules 9 and 52)', async (context) => {
  const browser = await open(context);
  const page = await browser.newPage();
  const { issuers } = await clientOf(service()).listIssuers();
  const start = signInUrl(issuers[0] ?? expect.fail(), { returnTo: '/auth' });
  await page.goto(start);
  expect(new URL(page.url()).origin).toBe(corp.url);
  const attributes = { domain: 'localhost', path: '/', httpOnly: true, secure: false, sameSite: 'Lax' };
  expect(await ofService(browser)).toEqual([expect.objectContaining({ name: 'oidc', ...attributes })]);

  await logIn(page, 'alice');
  await page.waitForURL(`${origin}/auth`);
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
  const stranger = await open(context);
  const elsewhere = await stranger.newPage();
  const refused = await elsewhere.goto(address);
  expect(refused?.status()).toBe(400);
  expect(await shownBy(elsewhere)).toMatchObject({ code: 'sign-in-failed' });
  expect(await ofService(stranger)).toEqual([]);
});

test('on /docs a person gets an access token of the issuer, creates an entity, and the page calls no other server', async (context) => {
  const browser = await open(context);
  const { page, asked, complaints } = await openDocs(browser, origin);
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const dialog = page.locator('.auth-container', { has: page.getByText('oauth2.corp') });
  await expect.poll(() => dialog.locator('#client_id_authorizationCode').inputValue()).toBe(docsClient.id);
  const [popup] = await Promise.all([
    browser.waitForEvent('page'),
    dialog.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click(),
  ]);
  const closed = popup.waitForEvent('close');
  await logIn(popup, 'alice');
  await closed;
  await dialog.getByText('Authorized').waitFor();
  await page.locator('.close-modal').click();

  const create = await tryOut(page, 'Entities', 'createEntity');
  expect(await execute(create)).toMatchObject({ status: '201', body: { name: 'customer', createdBy: 'ada' } });
  await create.locator('.opblock-summary-control').click();
  const whoami = await tryOut(page, 'Sessions', 'getSession');
  expect((await execute(whoami)).body).toMatchObject({
    user: { name: 'ada' },
    authentication: { method: 'bearer', issuer: corp.url },
    session: null,
  });
  expect(await ofService(browser)).toEqual([]);
  expect([...asked].toSorted()).toEqual([corp.url, origin].toSorted());
  expect(complaints).toEqual([]);
});

test('on /docs a person signs in with a session at the issuer, and the page calls with its cookie', async (context) => {
  const browser = await open(context);
  const { page } = await openDocs(browser, origin);
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const description = page.locator('.auth-container', { has: page.getByText('oauth2.corp') });
  await expect.poll(() => description.innerText()).toContain('Corporate *login*');
  const link = description.getByRole('link', { name: 'Sign in with a session' });
  const [tab] = await Promise.all([browser.waitForEvent('page'), link.click()]);
  await logIn(tab, 'alice');
  await tab.waitForURL(`${origin}/docs`);
  // The browser shares its cookies among tabs, so the older tab has the session too. In the background that tab would draw once a second.
  await page.bringToFront();
  await page.locator('.close-modal').click();
  const whoami = await tryOut(page, 'Sessions', 'getSession');
  expect((await execute(whoami)).body).toMatchObject({ user: { name: 'ada' }, authentication: { method: 'openid' } });
});
