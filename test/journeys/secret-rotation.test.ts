/** Secrets in files change while the service is under load. `secret-rotation.long.test.ts` does the same with processes, by their own timers. */
import { mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { loginClient, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { metricsToken } from '../support/metrics.ts';
import { password, TestService } from '../support/service.ts';

const directory = await mkdtemp(join(tmpdir(), 'entity-service-secrets-'));
const pathOf = (name: string) => join(directory, name);
const corp = await TestIssuer.start('corp');
const [oldPepper, newPepper] = ['2026:Kb7cq0wXn4Yt8uRz2Lm5Pv1Js6Hd3Gf9', '2027:q2Wm9Zt4Xc7Vb1Nk5Ph8Jd3Fs6Ga0Ly-'];
const nextToken = 'another-token-for-scraping-0123456789';
const nextSecret = 'next-secret-next-secret-next-secret-next';

/** Puts a new file in the place of the old one, as `mv` does. */
async function replace(name: string, ...lines: string[]): Promise<void> {
  await writeFile(pathOf('new'), lines.join('\n'));
  await rename(pathOf('new'), pathOf(name));
}

let service: TestService;
beforeAll(async () => {
  await replace('peppers', oldPepper);
  await replace('secret', loginClient.secret);
  // As Kubernetes does: the file is a link to a directory which is a link.
  await replace('first', metricsToken);
  await symlink('first', pathOf('current'));
  await symlink('current', pathOf('tokens'));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  service = await TestService.start({
    PASSWORD_PEPPER_FILE: pathOf('peppers'),
    METRICS_TOKEN_FILE: pathOf('tokens'),
    ISSUERS_FILE: await writeIssuers(await corp.loginEntry({ clientSecretFile: pathOf('secret') })),
  });
  await service.createUser('ada');
  await service.link(corp, 'alice', 'ada');
});
afterAll(async () => {
  await service.close();
  vi.useRealTimers();
  await rm(directory, { recursive: true });
});

/** Lets the five seconds pass after which the process looks at the files again, and waits until `changed` holds. */
async function look(changed: () => boolean): Promise<void> {
  vi.advanceTimersByTime(5_000);
  await expect.poll(changed).toBe(true);
}

const scrape = async (token: string) => await service.call('GET', '/metrics', { headers: { authorization: `Bearer ${token}` } });
const login = async () => (await service.call('POST', '/auth', { form: { user: 'ada', password } })).status;
const loginAtProvider = async () => (await new BrowserSession(service).signIn(corp, 'alice')).status;
const storedHash = async () =>
  (await service.db.selectFrom('user_account').select('password_hash').executeTakeFirstOrThrow()).password_hash;
const isInForce = (name: string) => service.context.secretFiles.find((file) => file.name === name)?.problem === undefined;

test('200 — pepper, token of Prometheus and client secret change under load: no request fails, no session ends, and the old ones are refused (rule 87)', async () => {
  const cookie = await service.signIn('ada');
  const statuses: Record<string, number[]> = { login: [], provider: [], session: [], scrape: [] };
  const over = new AbortController();
  let token = metricsToken;
  const repeat = async (name: string, request: () => Promise<number>) => {
    while (!over.signal.aborted) statuses[name]?.push(await request());
  };
  const load = [
    repeat('login', login),
    repeat('provider', loginAtProvider),
    repeat('session', async () => (await service.call('GET', '/auth', { cookie })).status),
    repeat('scrape', async () => (await scrape(token)).status),
  ];
  const more = async () => {
    const before = Object.values(statuses).map(({ length }) => length);
    await expect.poll(() => Object.values(statuses).every(({ length }, index) => length > (before[index] ?? 0) + 1)).toBe(true);
  };
  await more();
  const { peppers } = service.context;
  await replace('peppers', newPepper, oldPepper);
  await replace('second', metricsToken, nextToken);
  await symlink('second', pathOf('next'));
  await rename(pathOf('next'), pathOf('current'));
  corp.secrets.push(nextSecret);
  await replace('secret', nextSecret);
  await look(() => service.context.peppers !== peppers && service.context.metricsTokens?.current.length === 2);
  token = nextToken;
  await more();
  await expect.poll(storedHash).toContain('keyid=MjAyNw$');
  await replace('peppers', newPepper);
  await replace('second', nextToken);
  corp.secrets = [nextSecret];
  await look(() => service.context.peppers.length === 1 && service.context.metricsTokens?.current.length === 1);
  await more();
  over.abort();
  await Promise.all(load);
  for (const [name, list] of Object.entries(statuses)) expect(new Set(list), name).toEqual(new Set([name === 'provider' ? 303 : 200]));
  expect((await scrape(metricsToken)).status).toBe(401);
});

test('200 — a hash with a pepper that another process has read already makes this one read the file at once (rule 87)', async () => {
  const third = '2028:Zt4Xc7Vb1Nk5Ph8Jd3Fs6Ga0LyQ2Wm9w-';
  await replace('peppers', third, newPepper);
  const replica = await service.replica({ PASSWORD_PEPPER_FILE: pathOf('peppers') });
  expect((await replica.call('POST', '/auth', { form: { user: 'ada', password } })).status).toBe(200);
  expect(await storedHash()).toContain('keyid=MjAyOA$');
  await replica.close();
  expect(service.context.peppers).toHaveLength(1);
  expect(await login()).toBe(200);
  expect(service.context.peppers).toHaveLength(2);
});

test.each([
  ['PASSWORD_PEPPER_FILE', 'peppers', [], login, 200],
  ['PASSWORD_PEPPER_FILE', 'peppers', ['2027:another-value-under-an-id-that-is-in-use'], login, 200],
  ['METRICS_TOKEN_FILE', 'second', ['short'], async () => (await scrape(nextToken)).status, 200],
  ['clientSecretFile of corp', 'secret', ['short'], loginAtProvider, 303],
])('%s with unusable content changes nothing but its metric, until it is mended (rule 87)', async (name, file, lines, request, status) => {
  const metric = new RegExp(`^entity_service_secret_file_in_force{file="${name}"} (.)$`, 'm');
  const inForce = async () => metric.exec((await scrape(nextToken)).text)?.[1];
  const good = await readFile(pathOf(file), 'utf8');
  expect(await inForce()).toBe('1');
  await replace(file, ...lines);
  await look(() => !isInForce(name));
  await rm(pathOf(file));
  await look(() => !isInForce(name));
  expect([await inForce(), await request()]).toEqual(['0', status]);
  await replace(file, good);
  await look(() => isInForce(name));
  expect(await inForce()).toBe('1');
});

test('200 — service-secret rotate under load: no request fails, no session ends, and a cursor is valid until the next rotation (rule 87)', async () => {
  const admin = new AdminCommand(service.databaseUrl);
  const replica = await service.replica({ PASSWORD_PEPPER_FILE: pathOf('peppers') });
  const cookie = await service.signIn('ada');
  for (let index = 0; index < 3; index++) await service.call('POST', '/rest/entity/note', { cookie, json: {} });
  const page = async (at: TestService, query: string) =>
    await at.call<{ items: unknown[]; next: string | null }>('GET', `/rest/entity/note?limit=1${query}`, { cookie });
  const after = async (at: TestService, cursor: string | null) => (await page(at, `&cursor=${cursor}`)).status;
  await service.db.updateTable('login_attempt').set({ failures: 100 }).where('kind', '=', 'account').execute();
  expect(await login()).toBe(429);
  const { next: before } = (await page(service, '')).body;
  const statuses: number[] = [];
  const over = new AbortController();
  await admin.say(['service-secret', 'rotate']);
  const load = [
    ...[service, replica].map(async (at) => {
      while (!over.signal.aborted) statuses.push((await page(at, '')).status, await after(at, (await page(at, '')).body.next));
    }),
    ...[1, 2].map(async () => {
      while (!over.signal.aborted) statuses.push(await login());
    }),
  ];
  const seen = async (number: number) => await expect.poll(() => statuses.length).toBeGreaterThan(number);
  await seen(8);
  expect([await after(service, before), await after(replica, before)]).toEqual([200, 200]);
  await admin.say(['service-secret', 'rotate']);
  expect([await after(service, before), await after(replica, before)]).toEqual([400, 400]);
  await seen(statuses.length + 8);
  over.abort();
  await Promise.all(load);
  expect(new Set(statuses)).toEqual(new Set([200]));
  await replica.close();
});
