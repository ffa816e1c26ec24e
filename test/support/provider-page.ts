/** The pages of the tests' OpenID provider in a browser. */
import type { BrowserContext, Page } from 'playwright-core';

/** Lets the browser reach only this machine: the provider's pages request a font from elsewhere. */
export async function stayLocal(browser: BrowserContext): Promise<BrowserContext> {
  await browser.route(/fonts\.googleapis\.com/, (route) => route.abort());
  return browser;
}

/** Logs in on the provider's page and consents. */
export async function logIn(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
  await page.locator('button[type=submit]').click();
}
