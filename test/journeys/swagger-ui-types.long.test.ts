/** The selector of entity types on the page /docs. */
import { expect, test, vi } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { lowContrast } from '../support/contrast.ts';
import { execute, openDocs, tryOut } from '../support/docs-page.ts';
import { declareType } from '../support/entities.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { password, useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 90_000 });

const port = await fixedPort();
const origin = `http://localhost:${port}`;
const service = useService({ PORT: String(port), PUBLIC_URL: origin });
const openBrowser = useBrowser();

test('a person signs in, chooses a type by keyboard, creates an entity of it, and signs out, all on a phone’s width in the dark', async (context) => {
  const browser = await openBrowser(context);
  await declareType(service(), 'customer', {
    type: 'object',
    required: ['company'],
    properties: { company: { type: 'string' } },
    examples: [{ company: 'A' }],
  });
  await declareType(service(), 'hidden', { type: 'object' });
  await service().createUser('ada', { customer: ['create', 'read'] });
  const { page, asked, complaints } = await openDocs(browser, origin);
  const selector = page.getByLabel('Entities of');
  expect(await selector.count(), 'signed out').toBe(0);

  const signIn = await tryOut(page, 'Sessions', 'createSession');
  await signIn.locator('[data-property-name=user] input[type=text]').fill('ada');
  await signIn.locator('[data-property-name=password] input[type=password]').fill(password);
  expect((await execute(signIn)).status).toBe('200');
  await signIn.locator('.opblock-summary-control').click();
  await selector.waitFor();
  expect(await selector.locator('option').allInnerTexts()).toEqual(['any name', 'customer']);

  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await selector.focus();
  await page.keyboard.press('c');
  await page.locator('#operations-Customer-createCustomer').waitFor();
  expect(await page.evaluate('document.activeElement.value'), 'the selector has the focus again').toBe('customer');
  const offered = await page.evaluate(`[...document.querySelectorAll('[id^=operations-Customer-]')].map(({ id }) => id)`);
  expect(offered).toContain('operations-Customer-getCustomer');
  expect(String(offered)).not.toMatch(/update|delete|restore/);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(await page.evaluate(lowContrast)).toEqual([]);

  const create = await tryOut(page, 'Customer', 'createCustomer');
  const { status, body } = await execute(create);
  expect([status, body]).toEqual(['201', expect.objectContaining({ name: 'customer', fields: { company: 'A' } })]);

  const signOut = await tryOut(page, 'Sessions', 'endSession');
  await signOut.locator('select').selectOption('1');
  expect((await execute(signOut)).status).toBe('204');
  await page.locator('#operations-Customer-createCustomer').waitFor({ state: 'detached' });
  expect(await selector.count()).toBe(0);

  expect([...asked]).toEqual([origin]);
  expect(complaints).toEqual([]);
});

test('the service accepts each body that the page fills in for a type with texts of its own formats', async (context) => {
  const browser = await openBrowser(context);
  await declareType(service(), 'invoice', {
    type: 'object',
    required: ['number', 'total'],
    additionalProperties: false,
    properties: {
      number: { type: 'string', format: 'int64' },
      total: { type: 'string', format: 'decimal' },
      due: { type: 'string', format: 'date' },
      state: { type: 'string', enum: ['open', 'paid'] },
    },
    'x-unique': [{ fields: ['number'] }],
  });
  const token = await service().openSession((await service().createUser('eve')).id);
  await browser.addCookies([{ name: 'sid', value: token.replace(/^sid=/, ''), url: origin }]);
  const { page } = await openDocs(browser, origin);
  const selector = page.getByLabel('Entities of');
  await selector.selectOption('invoice');
  await page.locator('#operations-Invoice-createInvoice').waitFor();

  const expected = { create: '201', upsert: '200', query: '200', aggregate: '200' };
  for (const [verb, status] of Object.entries(expected)) {
    const operation = await tryOut(page, 'Invoice', `${verb}Invoice`);
    expect((await execute(operation)).status, verb).toBe(status);
    await operation.locator('.opblock-summary-control').click();
  }
});

test('the page’s document has the types with its own issuers and origin, and its list of types is that of the caller', async () => {
  const cookie = await service().openSession((await service().createUser('bob', { customer: ['read'] })).id);
  expect((await service().call('GET', '/docs/types', { cookie })).body).toEqual({ types: ['customer'] });
  for (const headers of [{}, { 'x-api-key': 'esk_nonsense' }]) {
    expect((await service().call('GET', '/docs/types', { headers })).body).toEqual({ types: [] });
    expect((await service().call('GET', '/docs/json?type=customer', { headers })).status).toBe(401);
  }
  const shown = await service().inject({ url: '/docs/json?type=customer', headers: { host: `127.0.0.1:${port}`, cookie } });
  const { servers, paths } = shown.json<{ servers: { url: string }[]; paths: object }>();
  expect(servers.map(({ url }) => url)).toEqual(['/']);
  expect(paths).toHaveProperty('/rest/entity/customer');
  expect((await service().call('POST', '/docs/types', { cookie })).status).toBe(405);
});
