/** A person with a real browser and a real provider, through Swagger UI's Authorize. */
import { beforeAll, expect, test, vi } from 'vitest';
import { fixedPort } from '../support/fixed-port.ts';
import { useBrowser } from '../support/browser.ts';
import { execute, openDocs, tryOut } from '../support/docs-page.ts';
import { docsClient, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { logIn, stayLocal } from '../support/provider-page.ts';
import { useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 90_000 });

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

test('on /docs a person gets an access token of the issuer, creates an entity, and the page calls no other server', async (context) => {
  const browser = await stayLocal(await openBrowser(context));
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
  expect(await browser.cookies(origin)).toEqual([]);
  expect([...asked].toSorted()).toEqual([corp.url, origin].toSorted());
  expect(complaints).toEqual([]);
});

test('on /docs a person signs in with a session at the issuer, and the page calls with its cookie', async (context) => {
  const browser = await stayLocal(await openBrowser(context));
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
