/** The client in a real browser, which stores the cookie itself and has several tabs. */
import { useService, password } from '../support/service.ts';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { fixedPort } from '../support/fixed-port.ts';
import { useBrowser } from '../support/browser.ts';
import { bundleClient } from '../support/client-bundle.ts';

vi.setConfig({ testTimeout: 90_000 });

const port = await fixedPort();
const origin = `http://localhost:${port}`;
const service = useService({ PORT: String(port), PUBLIC_URL: origin });
const openBrowser = useBrowser();

/** Opens another tab with an application that has the client, on the service's own origin. */
async function openApplication(browser: BrowserContext): Promise<Page> {
  await browser.route(`${origin}/app`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Application</title>' }),
  );
  await browser.route(`${origin}/client.js`, async (route) =>
    route.fulfill({ contentType: 'text/javascript', body: await bundleClient() }),
  );
  const page = await browser.newPage();
  await page.goto(`${origin}/app`);
  await runIn(
    page,
    `Object.assign(globalThis, await import('/client.js')); globalThis.client = new EntityServiceClient({ baseUrl: '/' });`,
  );
  return page;
}

/** Runs the program in the page, and returns its result. The program is text, since the page cannot access this file. */
function runIn<T>(page: Page, program: string): Promise<T> {
  return page.evaluate(`(async () => { ${program} })()`);
}

test('a page signs in without access to a cookie, and creates, reads, changes and deletes', async (context) => {
  const browser = await openBrowser(context);
  await service().createUser('ada');
  const page = await openApplication(browser);
  expect(await runIn(page, `const refused = await resultOf(client.getSession()); return refused.error.code;`)).toBe('unauthenticated');
  const shown = await runIn(
    page,
    `const session = await client.createSession({ user: 'ada', password: '${password}' });
     const notes = client.entities('note');
     const created = await notes.create({ text: 'from a page' });
     const updated = await notes.update(created, { text: null, read: true });
     const late = await resultOf(notes.update(created, {}));
     const reloaded = await notes.reload(updated);
     await notes.delete(updated);
     const gone = await resultOf(notes.get(created.key));
     return [session.user.name, document.cookie, client.cookies, updated.version, reloaded === updated, late.error.code, gone.error.status];`,
  );
  expect(shown).toEqual(['ada', '', undefined, 2, true, 'precondition-failed', 404]);
  expect(await browser.cookies()).toEqual([expect.objectContaining({ name: 'sid', httpOnly: true })]);
  await runIn(page, `await client.endSession();`);
  expect(await browser.cookies()).toEqual([]);
});

test('two tabs that refresh at once send one refresh, and both stay signed in', async (context) => {
  const browser = await openBrowser(context);
  await service().createUser('grace');
  const [one, two] = [await openApplication(browser), await openApplication(browser)];
  await runIn(one, `await client.createSession({ user: 'grace', password: '${password}' });`);
  const before = await runIn<string>(two, `return (await client.getSession()).session.idleExpiresAt;`);

  // The first tab's refresh is held until the second tab waits for the lock.
  const answers: number[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  browser.on('response', (response) => {
    if (response.url() === `${origin}/auth/refresh`) answers.push(response.status());
  });
  await browser.route(`${origin}/auth/refresh`, async (route) => {
    await held;
    await route.continue();
  });
  const refresh = `return (await Promise.all([1, 2, 3].map(() => client.refreshSession()))).map(({ session }) => session.idleExpiresAt);`;
  const inOne = runIn<string[]>(one, refresh);
  await expect.poll(() => runIn(one, `return (await navigator.locks.query()).held.length;`)).toBe(1);
  const inTwo = runIn<string[]>(two, refresh);
  await expect.poll(() => runIn(two, `return (await navigator.locks.query()).pending.length;`)).toBe(1);
  release();

  const deadlines = new Set([...(await inOne), ...(await inTwo)]);
  expect([...deadlines]).toHaveLength(1);
  expect(Date.parse([...deadlines][0] ?? '')).toBeGreaterThan(Date.parse(before));
  expect(answers).toEqual([200]);
  for (const tab of [one, two]) expect(await runIn(tab, `return (await client.getSession()).user.name;`)).toBe('grace');
});
