/** The service behind a base path: nginx serves it at `/api/` of its origin, and removes the path. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { signInUrl } from '../../src/client/index.ts';
import { useBrowser } from '../support/browser.ts';
import { clientOf } from '../support/client.ts';
import { execute, openDocs, tryOut } from '../support/docs-page.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { startNginx, whyNoNginx, type Nginx } from '../support/nginx.ts';
import { logIn, stayLocal } from '../support/provider-page.ts';
import { cookieOf, password, useService } from '../support/service.ts';

vi.setConfig({ testTimeout: 60_000 });

const port = await fixedPort();
const origin = `http://localhost:${port}`;
const url = `${origin}/api`;
const corp = await TestIssuer.start('corp', undefined, { publicUrl: url });
const issuersFile = await writeIssuers(await corp.loginEntry({ label: 'Corp' }));
const service = useService({ PUBLIC_URL: url, TRUST_PROXY: '127.0.0.1', ISSUERS_FILE: issuersFile });
const openBrowser = useBrowser();
const reason = whyNoNginx();

describe.skipIf(reason)(`behind nginx with a base path${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let nginx: Nginx;
  beforeAll(async () => {
    nginx = await startNginx([service().url], { basePath: '/api', port });
    await service().createUser('ada');
    await service().link(corp, 'alice', 'ada');
  });
  afterAll(() => nginx.stop());

  test('the client signs in, creates, reads, changes and deletes an entity, makes a key, and signs out', async () => {
    const client = clientOf({ url });
    await client.createSession({ user: 'ada', password });
    const notes = client.entities<{ text: string }>('note');
    const note = await notes.create({ text: 'one' });
    const changed = await notes.update(note, { text: 'two' });
    expect((await notes.get(note.key)).fields).toEqual({ text: 'two' });
    await notes.delete(changed);
    const { key } = await client.createKey({ name: 'robot' });
    expect((await clientOf({ url }, { credential: { apiKey: key } }).getSession()).user.name).toBe('ada');
    await client.endSession();
    await expect(client.getSession()).rejects.toMatchObject({ status: 401 });
  });

  test('Location leads to what was created, and the type of a problem to its text', async () => {
    const signedIn = await fetch(`${url}/auth`, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams({ user: 'ada', password }),
    });
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const headers = { cookie, origin, 'content-type': 'application/json' };
    const follow = async (answer: Response) => await fetch(new URL(answer.headers.get('location') ?? '', answer.url), { headers });

    const note = await fetch(`${url}/rest/entity/note`, { method: 'POST', headers, body: '{"text":"here"}' });
    expect(note.headers.get('location')).toMatch(/^\/api\/rest\/entity\/note\/\d+$/);
    expect(await (await follow(note)).json()).toMatchObject({ fields: { text: 'here' } });
    const key = await fetch(`${url}/auth/keys`, { method: 'POST', headers, body: '{"name":"robot"}' });
    expect(key.headers.get('location')).toMatch(/^\/api\/auth\/keys\/\w+$/);

    const missing = await fetch(`${url}/rest/entity/note/1`, { headers });
    const { type } = (await missing.json()) as { type: string };
    expect(type).toBe(`${url}/problems/not-found`);
    expect(await (await fetch(type)).json()).toMatchObject({ code: 'not-found', status: 404 });
  });

  test('the contract and the redirections of Swagger UI name the base path', async () => {
    const contract = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: { url: string }[] };
    expect(contract.servers.map((server) => server.url)).toEqual([url]);
    for (const path of ['/', '/docs/static/index.html']) {
      const page = await fetch(url + path, { headers: { accept: 'text/html' } });
      expect([page.status, page.url]).toEqual([200, expect.stringMatching(`^${url}/docs/?$`)]);
    }
  });

  test('403 — the origin of pages has no base path: a page of another origin is refused, one of ours is not (rules 28 and 29)', async () => {
    const signIn = async (from: string) =>
      (await fetch(`${url}/auth`, { method: 'POST', headers: { origin: from }, body: new URLSearchParams({ user: 'ada', password }) }))
        .status;
    expect(await signIn(origin)).toBe(200);
    expect(await signIn(url)).toBe(403);
    expect(await signIn('http://localhost.example.com')).toBe(403);
  });

  test('a person signs in at the provider, which returns the browser behind the base path', async (context) => {
    const browser = await stayLocal(await openBrowser(context));
    const page = await browser.newPage();
    const { issuers } = await clientOf({ url }).listIssuers();
    await page.goto(signInUrl(issuers[0] ?? expect.fail(), { returnTo: '/api/docs' }));
    await logIn(page, 'alice');
    await page.waitForURL(`${url}/docs`);
    await page.goto(`${url}/auth`);
    const shown = JSON.parse(await page.locator('pre').innerText()) as { session: object };
    expect(shown).toMatchObject({ user: { name: 'ada' }, authentication: { method: 'openid', issuer: corp.url } });
  });

  test('Swagger UI loads its files and calls the service behind the base path', async (context) => {
    const browser = await openBrowser(context);
    const { page, asked, complaints } = await openDocs(browser, url);
    const signIn = await tryOut(page, 'Sessions', 'createSession');
    await signIn.locator('[data-property-name=user] input[type=text]').fill('ada');
    await signIn.locator('[data-property-name=password] input[type=password]').fill(password);
    expect((await execute(signIn)).status).toBe('200');
    expect([...asked]).toEqual([origin]);
    expect(complaints).toEqual([]);
  });
});

test('the cookie belongs to the whole origin also with a base path, as the prefix __Host- demands (rule 9)', async () => {
  const secure = await service().replica({ PUBLIC_URL: 'https://example.com/api' });
  await secure.createUser('grace');
  const answer = await secure.call('POST', '/auth', { form: { user: 'grace', password } });
  expect(cookieOf(answer)).toMatch(/^__Host-sid=/);
  expect(answer.headers.getSetCookie()[0]).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  await secure.close();
});
