/** `npm start` on a given database. `start-database.long.test.ts` has more of it. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { cookieHeader } from '../support/client.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { isAlive } from '../support/embedded.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { expectStopped, npmStart, signIn, workersOf, type Started } from '../support/start.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const adminPassword = 'seven quiet lanterns drift north';

describe('npm start on DATABASE_URL', () => {
  let database: TestDatabase;
  let settings: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    settings = { DATABASE_URL: database.url, ADMIN_USER: 'Grace', ADMIN_PASSWORD: adminPassword, RATE_LIMIT: 'off' };
  });
  afterAll(() => database.drop());

  async function started(more: Record<string, string> = {}): Promise<Started> {
    const service = await npmStart({ ...settings, ...more });
    await service.ready;
    return service;
  }

  test('makes the first administrator with the given password, and does not print it (rule 86)', async () => {
    const service = await started();
    expect(service.told()).toMatch(/Database {4}PostgreSQL at \S+/);
    await signIn(service, 'grace', adminPassword);
    service.signal('SIGTERM');
    await expectStopped(service);

    const databasePassword = decodeURIComponent(new URL(database.url).password);
    for (const secret of [adminPassword, databasePassword]) {
      expect(service.told()).not.toContain(secret);
      expect(JSON.stringify(service.log())).not.toContain(secret);
    }
    const loaded = service.log().find(({ event }) => event === 'configuration.loaded');
    expect(loaded?.['settings']).toMatchObject({ port: service.port, adminUser: 'grace', adminPassword: '(set)' });
  });

  test('WORKERS serve on one port, answer for each other at /metrics, a dead one is replaced, and all stop together', async () => {
    const service = await started({ WORKERS: '2', METRICS_TOKEN: metricsToken });
    const client = await signIn(service, 'grace', adminPassword);
    const notes = client.entities('note');
    // One connection each, which the primary distributes in turn.
    const headers = { cookie: cookieHeader(client, service), connection: 'close' };
    for (let time = 0; time < 6; time++) await fetch(`${service.url}/auth`, { headers });
    const answered = { operation: 'getSession', status: '200' };
    for (let time = 0; time < 2; time++)
      expect((await scrape(service.url)).value('entity_service_request_duration_seconds_count', answered)).toBe(6);
    const pids = await workersOf(service);
    expect(pids).toHaveLength(2);
    const listening = () => service.log().filter(({ event }) => event === 'listening').length;
    // Each worker writes its log in batches, and loses the unwritten part when it is killed.
    await expect.poll(listening).toBe(2);

    process.kill(Number(pids[0]), 'SIGKILL');
    const changes = () => service.log().filter(({ event }) => String(event).startsWith('worker.'));
    await expect.poll(() => changes().length).toBe(2);
    const { worker: replacement } = changes()[1] ?? {};
    expect(changes()).toEqual([
      expect.objectContaining({ event: 'worker.lost', worker: pids[0], reason: `worker ${pids[0]} ended with SIGKILL` }),
      expect.objectContaining({ event: 'worker.replaced', worker: expect.any(Number) }),
    ]);
    expect(await workersOf(service)).toEqual([pids[1], replacement]);
    await expect.poll(listening).toBe(3);
    const note = await notes.create({ by: 'workers' });
    for (let index = 0; index < 4; index += 1) expect(await notes.get(note.key)).toEqual(note);

    const living = await workersOf(service);
    service.signal('SIGINT');
    await expectStopped(service);
    for (const pid of living) expect(await isAlive(pid)).toBe(false);
    expect(changes(), 'a worker that stops with the service is not lost').toHaveLength(2);
  });

  test('in production, behind a proxy, cookies are secure and client addresses come from the proxy (rules 9, 82, 83)', async () => {
    const service = await started({ NODE_ENV: 'production', PUBLIC_URL: 'https://api.example.com', TRUST_PROXY: '127.0.0.1' });
    expect(service.told()).toContain('https://api.example.com/docs\n');
    const answer = await fetch(`${service.url}/auth`, {
      method: 'POST',
      headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.9', 'x-forwarded-host': 'evil.example' },
      body: new URLSearchParams({ user: 'grace', password: adminPassword }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-sid=[\w-]{32}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    service.signal('SIGTERM');
    await expectStopped(service);
    const line = service.log().find(({ operation }) => operation === 'createSession');
    expect(line).toMatchObject({ address: '203.0.113.9', status: 200 });
  });
});
