/** Swagger UI in a browser, used like a person does. */
import type { BrowserContext, Locator, Page } from 'playwright-core';

/** Opens Swagger UI, and records its requests and its error messages. */
export async function openDocs(browser: BrowserContext, origin: string): Promise<{ page: Page; asked: Set<string>; complaints: string[] }> {
  const page = await browser.newPage();
  const asked = new Set<string>();
  const complaints: string[] = [];
  // Every attempted request, also those that the page's policy blocks.
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  await page.goto(`${origin}/docs`);
  await page.locator('.opblock').first().waitFor();
  return { page, asked, complaints };
}

/** Opens an operation and makes its fields editable. */
export async function tryOut(page: Page, tag: string, operationId: string): Promise<Locator> {
  const operation = page.locator(`#operations-${tag}-${operationId}`);
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  return operation;
}

/** Sends the request and returns the answer that the page shows. */
export async function execute(operation: Locator): Promise<{ status: string; body: Record<string, unknown> }> {
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table');
  const status = await answer.locator('tbody .response-col_status').first().innerText();
  const body = answer.locator('.highlight-code code').first();
  const shown = status.startsWith('20') && (await body.count()) > 0 ? await body.innerText() : '{}';
  return { status: status.trim(), body: JSON.parse(shown) as Record<string, unknown> };
}
