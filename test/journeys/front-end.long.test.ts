/** The files of docs/front-end.md: a page beside the service behind nginx with TLS, and behind Vite's development server. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { whyNoCertificate, writeCertificate } from '../support/certificate.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { readDocument, section } from '../support/markdown.ts';
import { runNginx, whyNoNginx } from '../support/nginx.ts';
import { password, TestService } from '../support/service.ts';

vi.setConfig({ testTimeout: 90_000 });

const project = join(import.meta.dirname, '../..');
const page = readDocument('docs/front-end.md');
const port = await fixedPort();
const openBrowser = useBrowser({
  args: [`--host-resolver-rules=MAP app.example.com:443 127.0.0.1:${port}`],
  // The certificate is signed by itself.
  profile: { ignoreHTTPSErrors: true },
});
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'entity-service-front-end-'));
  await writeFile(join(directory, 'index.html'), block('html', page));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** The first code block of `language` in `text`. */
function block(language: string, text: string): string {
  const [, code] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(text) ?? [];
  return code ?? expect.fail(`docs/front-end.md has no block of ${language}`);
}

/** The settings that a section shows, without the one for production, which tests do not run in. */
function settingsOf(heading: string): Record<string, string> {
  const lines = block('ini', section(page, heading)).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split('=') as [string, string]).filter(([name]) => name !== 'NODE_ENV'));
}

/** Signs in on the page at `url`: first with a wrong password, then with the right one. */
async function signInAt(browser: BrowserContext, url: string): Promise<void> {
  const tab = await browser.newPage();
  await tab.goto(url);
  await tab.getByPlaceholder('User').fill('ada');
  await tab.getByPlaceholder('Password').fill('not the password of ada');
  await tab.getByRole('button').click();
  await tab.getByText('The credentials are incorrect or no longer valid').waitFor();
  expect(await browser.cookies()).toEqual([]);
  await tab.getByPlaceholder('Password').fill(password);
  await tab.getByRole('button').click();
  await tab.getByText('Hello ').waitFor();
  const shown = await tab.evaluate<unknown>(`fetch('/api/auth').then((answer) => answer.json())`);
  expect(shown).toMatchObject({ user: { name: 'ada' } });
}

const missing = whyNoNginx() ?? whyNoCertificate;

describe.skipIf(missing)(`behind nginx${missing ? ` (skipped: ${missing})` : ''}`, () => {
  test('a person signs in over TLS; the cookie is __Host-sid, and other paths are those of the front end', async (context) => {
    const browser = await openBrowser(context);
    const service = await TestService.start(settingsOf('## In production: nginx'));
    onTestFinished(() => service.close());
    await service.createUser('ada');
    const { keyFile, certificateFile } = writeCertificate(directory, 'DNS:app.example.com');
    const real: [string, string][] = [
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['/etc/ssl/app.example.com.pem', certificateFile],
      ['/etc/ssl/app.example.com.key', keyFile],
      ['/srv/app', directory],
      ['http://127.0.0.1:3000', service.url],
    ];
    const stop = await runNginx(
      port,
      real.reduce((text, [written, value]) => text.replace(written, value), block('nginx', page)),
    );
    onTestFinished(stop);

    await signInAt(browser, 'https://app.example.com/');
    expect(await browser.cookies()).toEqual([
      expect.objectContaining({ name: '__Host-sid', secure: true, httpOnly: true, sameSite: 'Lax', path: '/' }),
    ]);
    const tab = await browser.newPage();
    await tab.goto('https://app.example.com/customers/42');
    expect(await tab.title()).toBe('Customers');
    await tab.goto('https://app.example.com/api/docs');
    await tab.locator('.opblock').first().waitFor();
  });
});

test('a person signs in on a page of Vite; the cookie is sid', async (context) => {
  const browser = await openBrowser(context);
  const [vitePort, servicePort] = [await fixedPort(), await fixedPort()];
  const asRun = (text: string) =>
    text.replace('localhost:5173', `localhost:${vitePort}`).replace('localhost:3000', `127.0.0.1:${servicePort}`);
  const [, publicUrl = ''] = /^PUBLIC_URL=(\S+) npm start$/m.exec(asRun(page)) ?? [];
  const service = await TestService.start({ PORT: String(servicePort), PUBLIC_URL: publicUrl });
  onTestFinished(() => service.close());
  await service.createUser('ada');
  await writeFile(join(directory, 'vite.config.ts'), asRun(block('ts', page)));
  await symlink(join(project, 'node_modules'), join(directory, 'node_modules'));
  const vite = createRequire(createRequire(import.meta.url).resolve('vitest/package.json')).resolve('vite/package.json');
  const child = spawn(process.execPath, [join(dirname(vite), 'bin/vite.js'), '--port', String(vitePort), '--strictPort'], {
    cwd: directory,
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://localhost:${vitePort}/`;
  while (!(await fetch(url).catch(() => undefined))) {
    expect(child.exitCode, 'Vite runs').toBe(null);
    await delay(50);
  }

  await signInAt(browser, url);
  expect(await browser.cookies()).toEqual([expect.objectContaining({ name: 'sid', secure: false, httpOnly: true, path: '/' })]);
});
