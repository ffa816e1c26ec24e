import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { fixedPort } from '../support/fixed-port.ts';
import { useBrowser } from '../support/browser.ts';
import { execute, openDocs, tryOut } from '../support/docs-page.ts';
import { password, useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 90_000 });

const port = await fixedPort();
const origin = `http://localhost:${port}`;
const service = useService({ PORT: String(port), PUBLIC_URL: origin });
const openBrowser = useBrowser();
const screenshots = join(import.meta.dirname, '../../test-results');

test('a person signs in on /docs, creates, reads and changes an entity, and signs out; the page calls only its server', async (context) => {
  const browser = await openBrowser(context);
  await service().createUser('ada');
  const { page, asked, complaints } = await openDocs(browser, origin);

  // Empty fields are not sent, so none must be cleared.
  const signIn = await tryOut(page, 'Sessions', 'createSession');
  await signIn.locator('[data-property-name=user] input[type=text]').fill('ada');
  await signIn.locator('[data-property-name=password] input[type=password]').fill(password);
  const session = await execute(signIn);
  expect(session.status).toBe('200');
  expect(session.body).toMatchObject({ user: { name: 'ada' }, locale: 'en', authentication: { method: 'password' } });
  expect(await browser.cookies()).toEqual([expect.objectContaining({ name: 'sid', domain: 'localhost', httpOnly: true, sameSite: 'Lax' })]);
  await signIn.locator('.opblock-summary-control').click();

  const create = await tryOut(page, 'Entities', 'createEntity');
  const { status, body } = await execute(create);
  expect(status).toBe('201');
  expect(body).toMatchObject({ name: 'customer', version: 1, createdBy: 'ada' });
  await create.locator('.opblock-summary-control').click();

  const read = await tryOut(page, 'Entities', 'getEntity');
  await read.getByPlaceholder('key', { exact: true }).fill(String(body['key']));
  expect(await execute(read)).toEqual({ status: '200', body });
  await page.setViewportSize({ width: 1100, height: 1300 });
  await read.evaluate((element) => element.scrollIntoView());
  await page.screenshot({ path: join(screenshots, 'swagger-ui.png') });
  await read.locator('.opblock-summary-control').click();

  const update = await tryOut(page, 'Entities', 'updateEntity');
  await update.getByPlaceholder('key', { exact: true }).fill(String(body['key']));
  await update.locator('textarea').fill('{ "city": null }');
  const updated = await execute(update);
  expect(updated.status).toBe('200');
  expect(updated.body).toMatchObject({ version: 2, fields: { company: 'Analytical Engines Ltd' } });
  expect(updated.body['fields']).not.toHaveProperty('city');
  await update.locator('.opblock-summary-control').click();

  const signOut = await tryOut(page, 'Sessions', 'endSession');
  await signOut.locator('select').selectOption('1');
  expect((await execute(signOut)).status).toBe('204');
  expect(await browser.cookies()).toEqual([]);

  expect([...asked]).toEqual([origin]);
  expect(complaints).toEqual([]);
});

test('the page may load from and connect to its own server only', async () => {
  const page = await service().call('GET', '/docs');
  const policy = page.headers.get('content-security-policy')?.split('; ') ?? [];
  expect(policy).toContain("default-src 'none'");
  for (const directive of policy) expect(directive).toMatch(/^[a-z-]+ ('none'|'self'( data:)?)$/);
});
