/** Lists and files on the page /docs, with the examples that the page fills in. */
import { expect, test, vi } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { execute, openDocs, tryOut } from '../support/docs-page.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 90_000 });

const port = await fixedPort();
const origin = `http://localhost:${port}`;
const service = useService({ PORT: String(port), PUBLIC_URL: origin });
const openBrowser = useBrowser();

test('a person imports both example files, and filters the list of their rows with a text', async (context) => {
  const browser = await openBrowser(context);
  const token = await service().openSession((await service().createUser('ada')).id);
  await browser.addCookies([{ name: 'sid', value: token.replace(/^sid=/, ''), url: origin }]);
  const { page, complaints } = await openDocs(browser, origin);

  const files = await tryOut(page, 'Transfer', 'importEntities');
  for (const type of ['application/x-ndjson', 'text/csv']) {
    await files.getByLabel('Request content type').selectOption(type);
    await files.getByRole('button', { name: 'Execute' }).click();
    const report = files.locator('.live-responses-table .highlight-code code').first();
    await expect.poll(() => report.innerText().catch(() => ''), { timeout: 5_000 }).toContain('"failed":0');
    expect(await report.innerText()).toContain('{"done":true,"row":');
    await files.getByRole('button', { name: 'Clear' }).click();
  }
  await files.locator('.opblock-summary-control').click();

  const list = await tryOut(page, 'Entities', 'listEntities');
  await list.getByPlaceholder('filter', { exact: true }).fill('{"city":"Paris"}');
  const { status, body } = await execute(list);
  expect(status).toBe('200');
  expect(body['items']).toEqual([expect.objectContaining({ key: '2' }), expect.objectContaining({ key: '4' })]);
  expect(complaints).toEqual([]);
});
