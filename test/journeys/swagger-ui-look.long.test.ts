/** How the page /docs looks on a desk's screen, on a phone and in dark mode. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { lowContrast } from '../support/contrast.ts';
import { openDocs } from '../support/docs-page.ts';
import { useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 90_000 });

const service = useService();
const openBrowser = useBrowser();
const desk = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

/** Opens an update with its answers, a problem among them, and the rest of the introduction. */
async function openEverything(page: Page): Promise<void> {
  await page.locator('.info summary').click();
  const operation = page.locator('#operations-Entities-updateEntity');
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.response-problem').first().click();
  await operation.locator('.responses-table .highlight-code').nth(1).waitFor();
}

const scrollWidth = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');

test('the first screen of a desk shows what the service is, links that work, and the first operation', async (context) => {
  const browser = await openBrowser(context);
  const { page, complaints } = await openDocs(browser, service().url);
  await page.setViewportSize(desk);
  const box = await page.locator('.opblock').first().boundingBox();
  expect(box && box.y + box.height).toBeLessThan(desk.height);
  expect(await page.locator('.info').innerText()).toContain('One service, two APIs.');
  expect(await page.locator('.info details table').isVisible()).toBe(false);
  await page.locator('.info summary').click();
  expect(await page.locator('.info details table').isVisible()).toBe(true);
  const links = await page.locator('.page-links a').evaluateAll((all) => all.map((link) => String(link)));
  expect(links).toEqual(['documentation', 'openapi.yaml', 'openapi.json'].map((name) => `${service().url}/${name}`));
  for (const link of links) expect((await fetch(link)).status, link).toBe(200);
  expect(complaints).toEqual([]);
});

test('problems of an operation are one line each until a click, and successes are open', async (context) => {
  const browser = await openBrowser(context);
  const { page, complaints } = await openDocs(browser, service().url);
  const operation = page.locator('#operations-Entities-updateEntity');
  await operation.locator('.opblock-summary-control').click();
  const examples = operation.locator('.responses-table .highlight-code');
  await examples.first().waitFor();
  expect(await examples.count()).toBe(1);
  const problem = operation.locator('tr', { hasText: '412' }).getByRole('button');
  expect(await problem.getAttribute('aria-expanded')).toBe('false');
  await problem.click();
  await operation.locator('.responses-table').getByText('"precondition-failed"').waitFor();
  expect(await problem.getAttribute('aria-expanded')).toBe('true');
  await problem.click();
  expect(await examples.count()).toBe(1);
  expect(complaints).toEqual([]);
});

test.for([320, 390])('at %i pixels each button of an edited request is on the screen as a whole, Reset too', async (width, context) => {
  const browser = await openBrowser(context);
  const { page, complaints } = await openDocs(browser, service().url);
  await page.setViewportSize({ width, height: 844 });
  const operation = page.locator('#operations-Entities-updateEntity');
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.locator('textarea').first().fill('{"edited":true}');
  const buttons = operation.locator('.opblock-section-header button');
  await operation.getByRole('button', { name: 'Reset' }).waitFor();
  expect(await buttons.count()).toBeGreaterThan(1);
  for (const button of await buttons.all()) {
    const box = await button.boundingBox();
    const header = await button.locator('xpath=ancestor::*[contains(@class,"opblock-section-header")]').boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(header?.x ?? Infinity);
    expect((box?.x ?? Infinity) + (box?.width ?? 0)).toBeLessThanOrEqual((header?.x ?? 0) + (header?.width ?? 0));
    expect((box?.x ?? Infinity) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual((header?.y ?? 0) + (header?.height ?? 0));
  }
  expect(complaints).toEqual([]);
});

test('a phone shows the page as wide as it is, without scrolling sideways', async (context) => {
  const browser = await openBrowser(context);
  const profile = await onPhone(browser);
  const { page, complaints } = await openDocs(profile, service().url);
  expect(await scrollWidth(page)).toBe(phone.width);
  await openEverything(page);
  expect(await scrollWidth(page)).toBe(phone.width);
  expect(complaints).toEqual([]);
});

/** A profile that takes the width of the page from its `viewport`, as phones do. */
async function onPhone(browser: BrowserContext): Promise<BrowserContext> {
  return (browser.browser() as Browser).newContext({ viewport: phone, isMobile: true, hasTouch: true });
}

test('the page is dark for a browser that is, also when that changes, and every text has a contrast of 4.5', async (context) => {
  const browser = await openBrowser(context);
  const { page, complaints } = await openDocs(browser, service().url);
  const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const light = await background();
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await background()).not.toBe(light);
  await openEverything(page);
  expect(await page.evaluate(lowContrast)).toEqual([]);
  expect(complaints).toEqual([]);
});
