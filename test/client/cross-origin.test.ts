/** The client on pages of other origins than the service's, in a real browser: one origin is trusted by the operator, the other is not. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { fixedPort } from '../support/fixed-port.ts';
import { useBrowser } from '../support/browser.ts';
import { bundleClient } from '../support/client-bundle.ts';
import { rowsOf } from '../support/entities.ts';
import { password, useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 90_000 });

/** A real server for the application. With a route of Playwright the browser would send no preflight. */
async function serveApplication(): Promise<string> {
  const code = await bundleClient();
  const server = createServer(({ url }, response) => {
    const [type, body] = url === '/client.js' ? ['text/javascript', code] : ['text/html', '<!doctype html><title>Application</title>'];
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

const port = await fixedPort();
const origin = `http://localhost:${port}`;
const [trusted, stranger] = [await serveApplication(), await serveApplication()];
const service = useService({ PORT: String(port), PUBLIC_URL: origin, TRUSTED_ORIGINS: trusted });
const openBrowser = useBrowser();

beforeAll(async () => {
  await service().createUser('ada');
});

/** A page of the application, with a client of the service. */
async function openPage(browser: BrowserContext, application: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(application);
  await runIn(
    page,
    `Object.assign(globalThis, await import('/client.js')); globalThis.client = new EntityServiceClient({ baseUrl: '${origin}', retry: false });`,
  );
  return page;
}

/** Runs the program in the page, and returns its result. The program is text, since the page cannot access this file. */
function runIn<T>(page: Page, program: string): Promise<T> {
  return page.evaluate(`(async () => { ${program} })()`);
}

const signIn = `await client.createSession({ user: 'ada', password: '${password}' });`;

test('a page of a trusted origin signs in, uses the cookie unseen, reads refusals, and signs out (rules 28 and 31)', async (context) => {
  const browser = await openBrowser(context);
  const page = await openPage(browser, trusted);
  const shown = await runIn(
    page,
    `const stranger = await resultOf(client.getSession());
     ${signIn}
     const notes = client.entities('trusted');
     const created = await notes.create({ text: 'from another origin' });
     const updated = await notes.update(created, { text: null, read: true });
     const late = await resultOf(notes.update(created, {}));
     const reloaded = await notes.reload(updated);
     await client.refreshSession();
     await notes.delete(updated);
     return [stranger.error.code, (await client.getSession()).user.name, document.cookie, updated.version, reloaded === updated, late.error.code];`,
  );
  expect(shown).toEqual(['unauthenticated', 'ada', '', 2, true, 'precondition-failed']);
  expect(await browser.cookies()).toEqual([expect.objectContaining({ name: 'sid', httpOnly: true })]);

  expect(await runIn(page, `await client.endSession(); return (await resultOf(client.getSession())).error.code;`)).toBe('unauthenticated');
  expect(await browser.cookies()).toEqual([]);
  await runIn(page, `await client.endSession();`);
});

test('a page of an untrusted origin reads and changes nothing with the same cookie, unlike one of the trusted origin', async (context) => {
  const browser = await openBrowser(context);
  const own = await openPage(browser, trusted);
  await runIn(own, `${signIn} await client.entities('kept').create({ text: 'kept' });`);
  const before = await rowsOf(service(), 'kept');
  expect(before).toHaveLength(1);
  const sessions = () => service().db.selectFrom('session').select(['id', 'token_hash', 'revoked_at']).orderBy('id').execute();
  const opened = await sessions();

  const page = await openPage(browser, stranger);
  const refused = await runIn(
    page,
    `const notes = client.entities('kept');
     const calls = [client.getSession(), client.listKeys(), notes.get('${before[0]?.key}'), notes.create({ text: 'forged' }),
       notes.update('${before[0]?.key}', { text: 'forged' }), notes.delete('${before[0]?.key}'), client.refreshSession(),
       client.selectDefaultProfile(), client.changePassword({ current: '${password}', next: 'seven quiet lanterns drift north' }),
       client.endSession(), client.revokeOtherSessions(), ${signIn.replace('await ', '').replace(';', '')}];
     return (await Promise.all(calls.map(resultOf))).map(({ ok, error }) => ok || error.reason);`,
  );
  expect(refused).toEqual(Array.from({ length: 12 }, () => 'network'));
  expect(await rowsOf(service(), 'kept')).toEqual(before);
  expect(await sessions()).toEqual(opened);

  expect(await runIn(own, `return (await client.entities('kept').get('${before[0]?.key}')).fields.text;`)).toBe('kept');
});
