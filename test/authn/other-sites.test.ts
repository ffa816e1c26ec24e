/**
 * A page of another site in a real browser, which has the user's session cookie: it reads nothing, and learns nothing by the time of an answer (rules 27
 * and 28).
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, expect, test, vi, type TestContext } from 'vitest';
import { fixedPort } from '../support/fixed-port.ts';
import { useBrowser } from '../support/browser.ts';
import { useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 30_000 });

async function servePages(): Promise<number> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Page</title>');
  });
  await once(server.listen(0), 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const port = await fixedPort();
const origin = `http://localhost:${port}`;
const ofPages = await servePages();
const crossSite = `http://127.0.0.1:${ofPages}`;
/** Another port is another origin of the same site, so the browser sends the cookie with each of its requests. */
const sameSite = `http://localhost:${ofPages}`;
const service = useService({ PORT: String(port), PUBLIC_URL: origin });
const openBrowser = useBrowser();
let users = 0;

/** A browser whose user is signed in. */
async function signedIn(context: TestContext): Promise<BrowserContext> {
  const { id } = await service().createUser(`user${users++}`);
  const [, value = ''] = (await service().openSession(id)).split('=');
  const browser = await openBrowser(context);
  await browser.addCookies([{ name: 'sid', value, url: origin, httpOnly: true, sameSite: 'Lax' }]);
  return browser;
}

async function pageAt(browser: BrowserContext, address: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(address);
  return page;
}

/** The status of the service's answer, and the cookies that the browser sent, when the page runs the program with the service's `path` as `url`. */
async function answerTo(page: Page, path: string, program: string): Promise<{ status: number; cookie: string | undefined }> {
  const answered = Promise.withResolvers<{ status: number; cookie: string | undefined }>();
  const listen = (request: IncomingMessage, response: ServerResponse) => {
    // A form adds the mark of a query.
    if (request.url?.replace(/\?$/, '') !== path) return;
    response.once('finish', () => answered.resolve({ status: response.statusCode, cookie: request.headers.cookie }));
  };
  const { server } = service().app;
  server.on('request', listen);
  await page.evaluate(`{ const url = '${origin}${path}'; ${program} }`);
  return answered.promise.finally(() => server.off('request', listen));
}

const navigations = {
  'opens a window': 'window.open(url);',
  'leads its user there': 'location.href = url;',
  'submits a form': `const form = document.createElement('form');
    form.action = url; document.body.append(form); form.submit();`,
};
const subresources = {
  'shows a picture': 'new Image().src = url;',
  'shows a frame': `const frame = document.createElement('iframe'); frame.src = url; document.body.append(frame);`,
  'loads a script': `const script = document.createElement('script'); script.src = url; document.body.append(script);`,
  'fetches without CORS': `void fetch(url, { mode: 'no-cors', credentials: 'include' }).catch(() => undefined);`,
  'fetches with CORS': `void fetch(url, { credentials: 'include' }).catch(() => undefined);`,
  'fetches the head': `void fetch(url, { method: 'HEAD', mode: 'no-cors', credentials: 'include' }).catch(() => undefined);`,
};

test.for([
  { from: crossSite, programs: navigations },
  { from: sameSite, programs: { ...navigations, ...subresources } },
])('403 — whatever a page at $from does to read with the cookie (rule 27)', async ({ from, programs }, context) => {
  const browser = await signedIn(context);
  const page = await pageAt(browser, `${origin}/docs/static/index.css`);
  expect((await answerTo(page, '/auth', 'void fetch(url);')).status).toBe(200);
  for (const [what, program] of Object.entries(programs)) {
    const answer = await answerTo(await pageAt(browser, from), '/auth', program);
    expect(answer, what).toEqual({ status: 403, cookie: expect.stringContaining('sid=') });
  }
});

test('403 — at once, while the list itself has to wait: no time tells what the filter finds (rule 28)', async (context) => {
  const browser = await signedIn(context);
  const [own, other] = [await pageAt(browser, `${origin}/docs/static/index.css`), await pageAt(browser, crossSite)];
  const path = `/rest/entity/note?${new URLSearchParams({ filter: '{"owner":{"$prefix":"ac"}}', limit: '1000' }).toString()}`;
  let isOwnAnswered = false;
  const waiting = await service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`lock table entity in access exclusive mode`.execute(trx);
      const answer = answerTo(own, path, 'void fetch(url);').finally(() => (isOwnAnswered = true));
      await expect
        .poll(
          async () =>
            (
              await sql`select from pg_locks where not granted and relation = 'entity'::regclass and database = (select oid from pg_database where datname = current_database())`.execute(
                trx,
              )
            ).rows.length,
        )
        .toBe(1);
      expect((await answerTo(other, `${path}&fields=a`, 'window.open(url);')).status).toBe(403);
      expect(isOwnAnswered).toBe(false);
      return { answer };
    });
  expect((await waiting.answer).status).toBe(200);
});

test('200 — Swagger UI opens from a link elsewhere, and then reads with the cookie of its own site (rule 28)', async (context) => {
  const browser = await signedIn(context);
  const page = await pageAt(browser, crossSite);
  expect((await answerTo(page, '/docs', 'location.href = url;')).status).toBe(200);
  await page.waitForURL(`${origin}/docs`);
  expect((await answerTo(page, '/auth', 'void fetch(url);')).status).toBe(200);
});

test('a page that has opened a window of this service cannot reach it (rule 82)', async (context) => {
  const browser = await signedIn(context);
  const page = await pageAt(browser, crossSite);
  await answerTo(page, '/problems/not-found', 'globalThis.opened = window.open(url);');
  await expect.poll(() => page.evaluate('globalThis.opened.closed')).toBe(true);
});
