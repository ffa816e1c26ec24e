/** Two replicas behind a pooler that pools by transaction, which accepts LISTEN and passes on few notifications. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { runAdmin } from '../support/admin.ts';
import { found } from '../support/contract.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import type { Entity } from '../support/entities.ts';
import { startPgBouncer, type PgBouncer } from '../support/pgbouncer.ts';
import { TestService, type Settings } from '../support/service.ts';

let database: TestDatabase;
let pooler: PgBouncer;
let one: TestService;
let other: TestService;

async function start(serverConnections: number, settings: (pooled: string, direct: string) => Settings = () => ({})): Promise<void> {
  database = await createDatabase();
  pooler = await startPgBouncer(database.url, serverConnections);
  const pooled = { url: pooler.url, drop: async () => undefined };
  one = await TestService.start(settings(pooler.url, database.url), pooled);
  other = await TestService.start(settings(pooler.url, database.url), pooled);
  await one.createUser('ada');
}

async function stop(): Promise<void> {
  await other.close();
  await one.close();
  await pooler.stop();
  await database.drop();
}

/** Signs in at one replica, uses the session at both, signs out at the first; the status at each on the next request. */
async function signOut(): Promise<{ logout: number; next: number[] }> {
  const cookie = await one.signIn('ada');
  const ask = async (service: TestService) => (await service.call('GET', '/auth', { cookie })).status;
  expect([await ask(one), await ask(other), await ask(other)]).toEqual([200, 200, 200]);
  // Without its timer the answer cannot be what three seconds of waiting give.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const logout = (await one.call('HEAD', '/auth?logout=1', { cookie, headers: { 'sec-fetch-site': 'same-origin' } })).status;
  const next = [await ask(other), await ask(one)];
  vi.useRealTimers();
  return { logout, next };
}

/** Declares the tests with that number of connections to PostgreSQL and no address for notifications. */
export function describeWithoutDirectAddress(serverConnections: number): void {
  describe(`with ${serverConnections} connections to PostgreSQL and no DATABASE_DIRECT_URL`, () => {
    afterEach(checkAnswers);
    beforeAll(() => start(serverConnections));
    afterAll(stop);

    test('401 — to the next request at the other replica after a logout, which waits for nothing (rule 17)', async () => {
      for (let round = 0; round < 6; round++) expect(await signOut()).toEqual({ logout: 204, next: [401, 401] });
    });

    test('the listener is down, nothing is cached, and doctor fails and says what to set', async () => {
      const cookie = await one.openSession((await one.createUser(`user-${serverConnections}`)).id);
      for (let n = 0; n < 3; n++) {
        for (const service of [one, other]) expect((await service.call('GET', '/auth', { cookie })).status).toBe(200);
      }
      for (const { context } of [one, other]) expect([context.listener.isUp, context.principals.size]).toEqual([false, 0]);
      const { code, stdout } = await runAdmin(['doctor'], { environment: { DATABASE_URL: pooler.url } });
      expect(stdout).toMatch(/^fail +notifications +.*if DATABASE_URL pools by transaction, set DATABASE_DIRECT_URL; otherwise /m);
      expect(code).toBe(1);
    });
  });
}

/** Declares the tests with that number of connections to PostgreSQL, beside an address that leads there directly. */
export function describeWithDirectAddress(serverConnections: number): void {
  describe(`with ${serverConnections} connections to PostgreSQL and DATABASE_DIRECT_URL`, () => {
    afterEach(checkAnswers);
    beforeAll(() => start(serverConnections, (pooled, direct) => ({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct })));
    afterAll(stop);

    test('401 — to the next request at the other replica after a logout, though callers are cached (rule 17)', async () => {
      const cookie = await one.signIn('ada');
      await one.call('GET', '/auth', { cookie });
      for (const { context } of [one, other]) expect(context.listener.isUp).toBe(true);
      expect(one.context.principals.size).toBeGreaterThan(0);
      for (let round = 0; round < 6; round++) expect(await signOut()).toEqual({ logout: 204, next: [401, 401] });
    });

    test('doctor finds the notifications, and fails when the direct address leads to another database', async () => {
      const environment = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: database.url };
      expect((await runAdmin(['doctor'], { environment })).stdout).toMatch(/^ok +notifications +what one process sends/m);
      const wrong = await createDatabase();
      try {
        const { stdout } = await runAdmin(['doctor'], { environment: { ...environment, DATABASE_DIRECT_URL: wrong.url } });
        expect(stdout).toMatch(/^fail +notifications +.*DATABASE_DIRECT_URL must lead to the database of DATABASE_URL/m);
      } finally {
        await wrong.drop();
      }
    });

    test('201, 200 and 204 — a hundred clients at once write, read and delete, all with prepared statements', async () => {
      const cookie = await one.signIn('ada');
      const statuses = await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const service = index % 2 === 0 ? one : other;
          const created = await service.call<Entity>('POST', '/rest/entity/note', { cookie, json: { index } });
          const path = `/rest/entity/note/${created.body.key}`;
          const read = await service.call('GET', path, { cookie });
          const updated = await service.call('POST', path, { cookie, json: { index: index + 1 } });
          const deleted = await service.call('DELETE', path, { cookie });
          return [created, read, updated, deleted].map(({ status }) => status).join(' ');
        }),
      );
      expect([...new Set(statuses)]).toEqual(['201 200 200 204']);
    });
  });
}

function checkAnswers(): void {
  vi.useRealTimers();
  expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
}
