/** The documentation as static pages: complete, without a dead link, and without a request to another server. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { operationsOf, readContract } from '../../src/contract/contract.ts';
import type { BrowserContext } from 'playwright-core';
import { useBrowser } from '../support/browser.ts';
import { lowContrast } from '../support/contrast.ts';
import { stepsOf } from '../support/document-runner.ts';
import { readDocument } from '../support/markdown.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');
const script = 'scripts/docs/main.ts';
const openBrowser = useBrowser();
let site: string;
/** The HTML of each page made from a document, by its path in the site. */
let pages: Map<string, string>;

beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), 'entity-service-docs-'));
  await run(process.execPath, [script, '--out', site]);
  const files = globSync('**/*.html', { cwd: site }).filter((file) => !['404.html', 'api.html'].includes(file));
  pages = new Map(files.map((file) => [file, readFileSync(join(site, file), 'utf8')]));
});

afterAll(() => rm(site, { recursive: true, force: true }));

const linksIn = (html: string) => [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) => href);

test('every document is a page, and every page is in the list of pages', () => {
  const documents = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md', 'generated/admission.md', 'src/client/*.md'], { cwd: project });
  const expected = documents.map((file) => file.replace(/README(?=\.md$)/, 'index').replace(/\.md$/, '.html'));
  expect([...pages.keys()].toSorted()).toEqual(expected.toSorted());
  const [, sidebar = ''] = /<aside class="VPSidebar"(.*?)<\/aside>/s.exec(pages.get('index.html') ?? '') ?? [];
  expect(linksIn(sidebar).toSorted()).toEqual([...expected, 'api.html'].map((file) => `/${file}`).toSorted());
});

test('every link within the site leads to a page, to a section of it, or to a file', () => {
  const faults: string[] = [];
  for (const [file, html] of pages) {
    for (const href of linksIn(html).filter((href) => !/^[a-z]+:/.test(href))) {
      const [path = '', anchor] = decodeURIComponent(href).split('#');
      const target = path === '' ? file : posix.join(path.startsWith('/') ? '' : posix.dirname(file), path).replace(/^\/|^$/, '');
      const page = pages.get(target === '' ? 'index.html' : target);
      const found = page ? anchor === undefined || page.includes(` id="${anchor}"`) : existsSync(join(site, target));
      if (!found) faults.push(`${file}: ${href}`);
    }
  }
  expect(faults).toEqual([]);
});

test('the reference has all operations', () => {
  const reference = readFileSync(join(site, 'api.html'), 'utf8');
  for (const { operationId, path } of operationsOf(readContract().document)) {
    expect(reference, operationId).toContain(operationId);
    expect(reference, operationId).toContain(path);
  }
});

/** Opens an empty tab in which the site is at `http://docs.test`. Records requests to other servers and errors of the pages. */
async function openSite(browser: BrowserContext) {
  const tab = await browser.newPage();
  const elsewhere: string[] = [];
  const errors: string[] = [];
  tab.on('pageerror', ({ message }) => errors.push(message));
  await tab.route('**/*', (route) => {
    const { origin, pathname } = new URL(route.request().url());
    if (origin !== 'http://docs.test') {
      elsewhere.push(route.request().url());
      return route.abort();
    }
    const path = join(site, pathname === '/' ? 'index.html' : pathname);
    return existsSync(path) ? route.fulfill({ path }) : route.fulfill({ status: 404 });
  });
  return { tab, elsewhere, errors };
}

test(
  'a browser searches the site in spite of a typing error, and shows it on a phone, and loads nothing from another server',
  { timeout: 90_000 },
  async (context) => {
    const { tab, elsewhere, errors } = await openSite(await openBrowser(context));
    await tab.goto('http://docs.test/');
    await tab.getByRole('button', { name: 'Search' }).click();
    await tab.locator('.VPLocalSearchBox input').fill('refresh-confilct');
    await tab.locator('.VPLocalSearchBox a[href^="/docs/errors.html"]').first().click();
    await tab.waitForURL('**/docs/errors.html*');

    await tab.setViewportSize({ width: 380, height: 800 });
    for (const file of ['docs/errors.html', 'docs/settings.html', 'docs/security.html', 'api.html']) {
      await tab.goto(`http://docs.test/${file}`, { waitUntil: 'networkidle' });
      expect(await tab.evaluate('document.documentElement.scrollWidth'), file).toBeLessThanOrEqual(380);
    }
    expect(elsewhere).toEqual([]);
    expect(errors).toEqual([]);
  },
);

test('a page is dark for a browser that is, its commands can be copied, and it leads on', { timeout: 90_000 }, async (context) => {
  const { tab, elsewhere, errors } = await openSite(await openBrowser(context));
  await tab.emulateMedia({ colorScheme: 'dark' });
  // Browsers have a clipboard for https only.
  await tab.addInitScript(`navigator.clipboard = { writeText: async (text) => { globalThis.copied = text; } }`);
  await tab.goto('http://docs.test/docs/tour.html', { waitUntil: 'networkidle' });
  expect(await tab.evaluate('document.documentElement.classList.contains("dark")')).toBe(true);
  expect(await tab.evaluate(lowContrast)).toEqual([]);

  const block = tab.locator('.language-console', { hasText: 'role create reader' });
  await block.hover();
  await block.getByRole('button').click();
  await tab.waitForFunction('globalThis.copied');
  const commands = stepsOf(readDocument('docs/tour.md')).map(({ command }) => command);
  const first = commands.findIndex((command) => command.includes('role create reader'));
  expect((await tab.evaluate<string>('globalThis.copied')).trim().split('\n')).toEqual(commands.slice(first, first + 5));

  await tab.locator('.pager-link.next').click();
  await tab.waitForURL('**/docs/concepts.html');
  await tab.locator('.pager-link.prev').click();
  await tab.waitForURL('**/docs/tour.html');
  expect(elsewhere).toEqual([]);
  expect(errors).toEqual([]);
});

describe('npm run docs', () => {
  test('--serve serves the pages and the reference to this machine until Ctrl-C', async () => {
    const server = spawn(process.execPath, [script, '--serve', '--port', '4100'], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void server.kill('SIGKILL'));
    const exit = new Promise((resolve) => server.once('exit', resolve));
    for await (const line of createInterface({ input: server.stdout })) {
      // The URL is printed with colours.
      const [, port] = /localhost:\D*(\d+)/.exec(line.replaceAll(/\p{Cc}\[\d*m/gu, '')) ?? [];
      if (port === undefined) continue;
      const read = async (path: string) => (await fetch(`http://localhost:${port}/${path}`)).text();
      expect(await read('docs/errors.md?import')).toContain('refresh-conflict');
      expect(await read('api.html')).toContain('createSession');
      server.kill('SIGINT');
    }
    await exit;
  });

  test('refuses an unknown option, with exit code 2', async () => {
    await expect(run(process.execPath, [script, '--uot', 'x'])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--uot'),
    });
  });
});
