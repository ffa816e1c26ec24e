import { sql, type Kysely } from 'kysely';
import type { FastifyBaseLogger } from 'fastify';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '../../src/database/tables.ts';
import { deleteOldKeys } from '../../src/entities/idempotency/idempotency.ts';
import { deleteExpiredTransactions } from '../../src/oidc/sign-in/store.ts';
import { Background } from '../../src/background/background.ts';
import { deleteInBatches } from '../../src/background/batches.ts';
import { schedulePeriodicWork } from '../../src/background/periodic-work.ts';
import { deleteIdleAttempts } from '../../src/credentials/attempts.ts';
import { deleteEndedSessions, deleteReplacedTokens } from '../../src/sessions/store.ts';
import { cookieOf, useService } from '../support/service.ts';

const service = useService();
beforeAll(async () => {
  await service().createUser('emmy');
  await service().signIn('emmy');
});

test('removes all ended sessions, in any number, and no others (rule 12)', async () => {
  const { db } = service();
  const { id } = await service().createUser('ada');
  const cookie = await service().signIn('ada');
  const insert = (expiry: string) => sql`
    insert into session (token_hash, user_id, method, locale, credential_version, idle_expires_at, expires_at)
    select sha256((${expiry} || n)::bytea), ${id}, 'password', 'en', 1, now() + ${expiry}::interval, now() + interval '1 hour'
    from generate_series(1, 1500) as n`;
  await insert('-25 hours').execute(db);
  await insert('-23 hours').execute(db);
  expect(await deleteInBatches((limit) => deleteEndedSessions(db, limit))).toBe(1_500);
  expect(await deleteInBatches((limit) => deleteEndedSessions(db, limit))).toBe(0);
  expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
});

test('a stop ends a deletion between two of its statements', async () => {
  const stopping = new AbortController();
  let statements = 0;
  const deleteBatch = async (limit: number) => {
    if (++statements === 2) stopping.abort();
    return limit;
  };
  expect(await deleteInBatches(deleteBatch, stopping.signal)).toBe(2_000);
  expect(statements).toBe(2);
});

test('removes tokens that a profile switch has replaced, and not those that detect reuse (rule 12)', async () => {
  const { db } = service();
  await service().createUser('grace');
  let cookie = await service().signIn('grace');
  cookie = cookieOf(await service().call('POST', '/auth/refresh', { cookie }));
  const switched = cookie;
  cookie = cookieOf(await service().call('POST', '/auth/profile', { cookie }));
  expect((await service().call('GET', '/auth', { cookie })).status, 'the first use ends the predecessor').toBe(200);
  const kept = () => db.selectFrom('superseded_token').select('refreshed').orderBy('superseded_at').execute();
  expect(await deleteReplacedTokens(db, 1_000)).toBe(0);
  expect(await kept()).toEqual([{ refreshed: true }, { refreshed: false }]);
  await db
    .updateTable('superseded_token')
    .set({ superseded_at: sql`superseded_at - interval '61 minutes'` })
    .execute();
  expect(await deleteReplacedTokens(db, 1_000)).toBe(1);
  expect(await kept()).toEqual([{ refreshed: true }]);
  expect((await service().call('GET', '/auth', { cookie: switched })).status).toBe(401);
  expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
});

test('leaves the token that a profile switch has replaced as long as the new one was never used', async () => {
  const { db } = service();
  await service().createUser('hopper');
  const old = await service().signIn('hopper');
  expect((await service().call('POST', '/auth/profile', { cookie: old })).status).toBe(200);
  const age = () =>
    db
      .updateTable('superseded_token')
      .set({ superseded_at: sql`superseded_at - interval '61 minutes'` })
      .execute();
  await age();
  expect(await deleteReplacedTokens(db, 1_000)).toBe(0);
  expect((await service().call('POST', '/auth/refresh', { cookie: old })).status, 'the answer with the new one was lost').toBe(200);
});

test('leaves each token of several profile switches whose answers were lost, and all of them go on', async () => {
  const { db } = service();
  const first = await service().openSession((await service().createUser('lovelace')).id);
  const age = (interval: string) =>
    db
      .updateTable('superseded_token')
      .set({ superseded_at: sql`superseded_at - ${interval}::interval` })
      .execute();
  const lost: string[] = [];
  for (let count = 0; count < 3; count++) {
    lost.push(cookieOf(await service().call('POST', '/auth/profile', { cookie: first })));
    await age('11 seconds');
  }
  await age('61 minutes');
  expect(await deleteReplacedTokens(db, 1_000)).toBe(0);
  for (const cookie of [first, ...lost.slice(0, 2)]) expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
  expect((await service().call('GET', '/auth', { cookie: lost[2] ?? '' })).status, 'the first use ends the group').toBe(200);
  await age('61 minutes');
  expect(await deleteReplacedTokens(db, 1_000)).toBe(3);
  expect((await service().call('GET', '/auth', { cookie: lost[2] ?? '' })).status).toBe(200);
});

const expired = [
  {
    table: 'session',
    limit: 1_000,
    insert: sql`insert into session (token_hash, user_id, method, locale, credential_version, idle_expires_at, expires_at)
      select sha256(n::text::bytea), user_account.id, 'password', 'en', 1, now() - interval '25 hours', now() - interval '25 hours'
      from generate_series(1, 1002) as n, user_account where name = 'emmy'`,
    remove: (db: Kysely<Database>) => deleteEndedSessions(db, 1_000),
  },
  {
    table: 'superseded_token',
    limit: 3,
    insert: sql`insert into superseded_token (token_hash, session_id, refreshed, superseded_at)
      select sha256(n::text::bytea), (select session.id from session join user_account on user_account.id = user_id where name = 'emmy' limit 1),
        false, now() - interval '2 hours'
      from generate_series(1, 5) as n`,
    remove: (db: Kysely<Database>) => deleteReplacedTokens(db, 3),
  },
  {
    table: 'login_attempt',
    limit: 3,
    insert: sql`insert into login_attempt (kind, subject, last_at)
      select 'address', sha256(n::text::bytea), now() - interval '2 hours' from generate_series(1, 5) as n`,
    remove: (db: Kysely<Database>) => deleteIdleAttempts(db, 3),
  },
  {
    table: 'idempotency',
    limit: 3,
    insert: sql`insert into idempotency (user_name, entity, key, fingerprint, entity_key, created_at)
      select 'emmy', 'customer', n::text, sha256('a'), n, now() - interval '25 hours' from generate_series(1, 5) as n`,
    remove: (db: Kysely<Database>) => deleteOldKeys(db, 3),
  },
  {
    table: 'openid_transaction',
    limit: 3,
    insert: sql`insert into openid_transaction (state_hash, browser_hash, issuer, nonce, code_verifier, return_path, expires_at)
      select sha256(n::text::bytea), sha256('a'), 'a', 'a', 'a', '/', now() - interval '1 second' from generate_series(1, 5) as n`,
    remove: (db: Kysely<Database>) => deleteExpiredTransactions(db, 3),
  },
];

test('each run of the housekeeping deletes what has expired in every table, and nothing else', async () => {
  const { db } = service();
  const fresh = sql`insert into openid_transaction (state_hash, browser_hash, issuer, nonce, code_verifier, return_path, expires_at)
    select sha256('fresh'), sha256('a'), 'a', 'a', 'a', '/', now() + interval '1 minute'`;
  await fresh.execute(db);
  const counts = async () => {
    const found: Record<string, number> = {};
    for (const { table } of expired) {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from ${sql.table(table)}`.execute(db);
      found[table] = rows[0]?.count ?? 0;
    }
    return found;
  };
  const before = await counts();
  expect(before).toMatchObject({ openid_transaction: 1 });
  for (const { insert } of expired) await insert.execute(db);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: Record<string, unknown>[] = [];
  const add = (line: Record<string, unknown>) => lines.push(line);
  const log = { info: add, warn: add, error: add, trace: () => undefined } as unknown as FastifyBaseLogger;
  const background = new Background(() => log);
  const row = { renew: async () => undefined, withdraw: async () => undefined };
  schedulePeriodicWork({ ...service().context, background }, row);
  onTestFinished(() => background.stop());
  const runs = (job: string) => background.counts.find(({ labels }) => labels.job_name === job && labels.outcome === 'ok')?.value;
  // Only the tables of the month are made at the start.
  await expect.poll(() => [runs('history-partitions'), runs('audit-trail'), runs('sessions')]).toEqual([1, 1, 0]);
  vi.advanceTimersByTime(600_000);
  await expect.poll(() => [runs('history-partitions'), runs('sessions'), runs('type-builds')]).toEqual([2, 1, 1]);
  expect(await counts()).toEqual(before);
  expect(lines.map(({ event, job, outcome, deleted }) => [event, job, outcome, deleted])).toEqual([
    ['housekeeping', 'sessions', 'ok', 1_002],
    ['housekeeping', 'replaced-tokens', 'ok', 5],
    ['housekeeping', 'login-attempts', 'ok', 5],
    ['housekeeping', 'idempotency-keys', 'ok', 5],
    ['housekeeping', 'provider-sign-ins', 'ok', 5],
  ]);
});

test.each(expired)(
  'removes $limit rows of $table at once, and does not wait for rows that another replica has locked',
  async ({ table, limit, insert, remove }) => {
    const { db } = service();
    await service()
      .createUser('emmy')
      .catch(() => undefined);
    await service().signIn('emmy');
    await insert.execute(db);
    await db.transaction().execute(async (other) => {
      // One of the expired rows; the session that has just begun is not one.
      await sql`select 1 from ${sql.table(table)} where ctid = (select max(ctid) from ${sql.table(table)}) for update`.execute(other);
      expect(await remove(db)).toBe(limit);
      expect(await remove(db)).toBe(1);
      expect(await remove(db)).toBe(0);
    });
    expect(await remove(db)).toBe(1);
  },
);
