/** The documentation as static pages: complete, whole, and looked at without any server. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { faultsOf } from '../../scripts/docs/links.ts';
import { buildSite } from '../../scripts/docs/site.ts';
import { operationsOf, readContract } from '../../src/contract/contract.ts';
import { problemStatus } from '../../src/errors.ts';
import { catalogues } from '../../src/locales/describe.ts';
import { useBrowser } from '../support/browser.ts';
import { codeOf, readDocument, tableRows } from '../support/markdown.ts';

const run = promisify(execFile);
const { document: contract } = readContract();
const openBrowser = useBrowser();
let files: Map<string, string | Buffer>;
let pages: [file: string, html: string][];

beforeAll(() => {
  files = buildSite();
  pages = [...files].flatMap(([file, html]) => (file.endsWith('.html') ? [[file, String(html)]] : []));
});

const page = (file: string) => String(files.get(file));
const idsIn = (html: string, tag: string) => [...html.matchAll(new RegExp(`<${tag} id="([^"]+)"`, 'g'))].map(([, id = '']) => id);

/** The project's documents, one of them with a line more. */
const withLine = (path: string, line: string) => (source: string) => readDocument(source) + (source === path ? `\n${line}\n` : '');

describe('what is missing fails the build, and is named:', () => {
  test.each([
    ['docs/audit.md', '[there](errors.md#no-such-code)', 'audit.html: nothing at errors.html#no-such-code'],
    ['docs/audit.md', '[here](#nowhere)', 'audit.html: nothing at #nowhere'],
    ['README.md', '[there](docs/no-such-page.md)', 'README.md: nothing at docs/no-such-page.md'],
    ['docs/errors.md', '![a picture](no-such.png)', 'docs/errors.md: nothing at no-such.png'],
  ])('in %s %s', (path, line, fault) => {
    expect(() => buildSite(withLine(path, line))).toThrow(fault);
  });

  test('but links that lead somewhere become links between pages', () => {
    const site = buildSite(withLine('docs/audit.md', '[a](errors.md#forbidden) [b](settings.md#settings) [c](../README.md) [d](#events)'));
    for (const href of ['errors.html#forbidden', 'settings.html#settings', 'index.html', '#events']) {
      expect(site.get('audit.html')).toContain(`<a href="${href}">`);
    }
  });
});

test('two places of one name are a fault', () => {
  expect(faultsOf(new Map([['a.html', '<p id="x"></p><p id="x"></p>']]))).toEqual(['a.html: two places are called #x']);
});

describe('everything has its place, and nothing else has one:', () => {
  test('operations, with their parameters, statuses and codes', () => {
    const shown = pages.filter(([file]) => file.startsWith('api-')).flatMap(([, html]) => idsIn(html, 'h2'));
    const operations = operationsOf(contract);
    expect(shown.toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
    for (const { operationId, tag, parameters, responses } of operations) {
      const text = page(`api-${tag.toLowerCase().replaceAll(' ', '-')}.html`).split(/(?=<h2 id=)/);
      const own = text.find((part) => part.startsWith(`<h2 id="${operationId}"`)) ?? '';
      for (const { name } of parameters) expect(own, operationId).toContain(`<dt><code>${name}</code>`);
      const statuses = [...own.matchAll(/<p class="status"><strong>(\d+)/g)].map(([, status]) => status);
      expect(statuses, operationId).toEqual(Object.keys(responses));
      const codes = JSON.stringify(responses).matchAll(/"code":\{"enum":\[([^\]]+)/g);
      for (const [, list] of codes) for (const code of JSON.parse(`[${list}]`)) expect(own).toContain(`href="errors.html#${code}"`);
    }
  });

  test('schemas and credentials', () => {
    expect(idsIn(page('schemas.html'), 'h2')).toEqual(Object.keys(contract.components['schemas'] ?? {}));
    const credentials = page('api.html').slice(page('api.html').indexOf('<h2 id="credentials"'));
    expect(idsIn(credentials, 'h3')).toEqual(Object.keys(contract.components['securitySchemes'] ?? {}));
  });

  test('problem codes, with what happened and what to do', () => {
    const entries = page('errors.html')
      .split(/(?=<h3 id=)/)
      .slice(1);
    expect(entries.map((entry) => idsIn(entry, 'h3')[0])).toEqual(Object.keys(problemStatus));
    for (const entry of entries) expect(entry).toMatch(/<dt>What happened<\/dt><dd>.+\.<\/dd>\n<dt>What to do<\/dt><dd>.+\.<\/dd>/);
    expect(idsIn(page('errors.html'), 'tr')).toEqual(Object.keys(catalogues.en.faults));
  });

  test('settings', () => {
    const names = tableRows(readDocument('docs/settings.md')).map(([name]) => codeOf(name).toLowerCase());
    expect(idsIn(page('settings.html'), 'tr')).toEqual(names);
  });

  test('pages, in the list of pages or behind a link', () => {
    const linked = new Set(pages.flatMap(([, html]) => [...html.matchAll(/href="([^"#]+)/g)].map(([, target]) => target)));
    for (const [file] of pages) expect(linked, file).toContain(file);
  });
});

/** Elements without an end. */
const empty = new Set(['meta', 'link', 'img', 'input', 'br', 'hr']);

describe('every page', () => {
  test('is well-formed, in one language, with one title and landmarks', () => {
    for (const [file, html] of pages) {
      const open: string[] = [];
      for (const [, slash, tag = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
        if (slash === '') open.push(...(empty.has(tag) ? [] : [tag]));
        else expect(open.pop(), `${file}: what </${tag}> closes`).toBe(tag);
      }
      expect(open, file).toEqual([]);
      expect(html, file).toMatch(/^<!doctype html>\n<html lang="en">/);
      for (const tag of ['h1', 'main', 'header', 'nav', 'title'])
        expect(html.match(new RegExp(`<${tag}[ >]`, 'g')), `${file} ${tag}`).toHaveLength(1);
      for (const [image] of html.matchAll(/<img [^>]+>/g)) expect(image).toMatch(/ alt="[^"]+"/);
    }
  });

  test('has headings that leave out no level', () => {
    for (const [file, html] of pages) {
      let level = 0;
      for (const [, digit, id] of html.matchAll(/<h([1-6]) id="([^"]+)"/g)) {
        expect(Number(digit), `${file}#${id}`).toBeLessThanOrEqual(level + 1);
        level = Number(digit);
      }
    }
  });

  test('loads nothing from elsewhere', () => {
    for (const [file, html] of pages) {
      const loaded = [...html.matchAll(/<(?:script|img|link|iframe|source)\b[^>]*? (?:src|href)="([^"]+)"/g)].map(
        ([, target = '']) => target,
      );
      for (const target of loaded) expect(target === 'data:,' || files.has(target), `${file} ${target}`).toBe(true);
    }
    expect(page('site.css')).not.toMatch(/url\(|@import/);
    expect(page('site.js')).not.toMatch(/https?:|fetch\(/);
  });
});

describe('npm run docs', () => {
  /** Runs the script, and gives its directory. */
  async function writeSite(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'entity-service-docs-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    await run(process.execPath, ['scripts/docs/main.ts', '--out', directory]);
    return directory;
  }

  test('writes the site to the directory it is given', async () => {
    const directory = await writeSite();
    expect((await readdir(directory)).toSorted()).toEqual([...files.keys()].toSorted());
    expect(await readFile(join(directory, 'index.html'), 'utf8')).toBe(page('index.html'));
  });

  test('refuses an option it does not know, with exit code 2', async () => {
    await expect(run(process.execPath, ['scripts/docs/main.ts', '--uot', 'x'])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--uot'),
    });
  });

  test('makes pages that a browser reads from files: by keyboard, by search, on a phone', { timeout: 90_000 }, async (context) => {
    const browser = await openBrowser(context);
    const directory = await writeSite();
    const tab = await browser.newPage();
    const asked = new Set<string>();
    const complaints: string[] = [];
    tab.on('request', (request) => asked.add(new URL(request.url()).protocol));
    tab.on('pageerror', ({ message }) => complaints.push(message));
    tab.on('console', (message) => complaints.push(message.text()));
    await tab.goto(pathToFileURL(join(directory, 'index.html')).href);

    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Enter');
    expect(await tab.evaluate('document.activeElement.tagName')).toBe('MAIN');

    await tab.keyboard.press('/');
    await tab.keyboard.type('refresh-conflict');
    await tab.locator('#site-results a').first().waitFor();
    await tab.keyboard.press('Enter');
    await tab.waitForURL('**/errors.html#refresh-conflict');

    await tab.setViewportSize({ width: 380, height: 800 });
    for (const file of ['errors.html', 'settings.html', 'api-entities.html', 'security.html']) {
      await tab.goto(pathToFileURL(join(directory, file)).href);
      expect(await tab.evaluate('document.documentElement.scrollWidth'), file).toBeLessThanOrEqual(380);
    }
    await tab.getByRole('button', { name: 'Menu' }).click();
    await tab.getByRole('navigation').getByRole('link', { name: 'Settings' }).click();
    await tab.getByRole('heading', { name: 'Settings' }).waitFor();

    // The empty icon may be asked for.
    expect([...asked].filter((protocol) => protocol !== 'data:')).toEqual(['file:']);
    expect(complaints).toEqual([]);
  });
});
