/**
 * The disk of the database is full while clients write and read. First tables cannot grow any more while PostgreSQL's log still has room.
 * Then the log has no room either, and PostgreSQL stops. Writes are 503, reads work while the server runs, and the service recovers as soon
 * as there is room again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { hashToken, newToken } from '../../src/sessions/token.ts';
import type { SmallDisk } from '../support/small-disk.ts';
import { makeCallers, type Callers } from './callers.ts';
import { Caller } from './http.ts';
import { Ledger } from './ledger.ts';
import { startWriters } from './load.ts';
import type { Outcome, Progress } from './outcome.ts';
import { recovered, recoveryMilliseconds } from './recovery.ts';

/** Enough for a database and some minutes of writes. */
export const diskBytes = 1_024 * 1_024 * 1_024;
/** PostgreSQL writes its log in files of this size and reserves each as a whole. */
const segmentBytes = 16 * 1_024 * 1_024;
const messageBytes = 1_024 * 1_024;
/** The minimum of reads while tables are full, even on a slow machine. */
const leastReads = 100;

export interface DiskPlan {
  clients: number;
  /**
   * The number of sessions that are refreshed and ended meanwhile. While processes cannot notify each other, a logout takes three seconds.
   */
  sessions: number;
  /** The minimum duration of each stage; each also lasts until enough requests have been answered. */
  holdMilliseconds: number;
}

export interface DiskTarget {
  /** The disk of the service's embedded database and its log. */
  disk: SmallDisk;
  databaseUrl: string;
  port: number;
  hasEnded: () => boolean;
}

export async function fillDisk(
  { clients, sessions, holdMilliseconds }: DiskPlan,
  target: DiskTarget,
  progress: Progress,
): Promise<Outcome> {
  const { disk, databaseUrl, hasEnded } = target;
  const callers = await makeCallers(databaseUrl, { sessions });
  const idle = await onDatabase(databaseUrl, (client) => openIdleSessions(client, callers, 2_000));
  const ledger = new Ledger();
  const violations: string[] = [];
  const figures: Record<string, number | string> = {};
  const refused = () => ledger.statuses.get(503) ?? 0;
  const written = async (count: number) => {
    for (const before = ledger.acknowledged; ledger.acknowledged < before + count && !hasEnded();) await delay(5);
  };
  const free = async (stage: string) => {
    await disk.free();
    const recovery = await recovered(target, callers.apiKey);
    if (recovery > recoveryMilliseconds) violations.push(`${stage}: back after ${recovery.toFixed(0)} ms`);
    figures[`${stage}: back after (ms)`] = Math.round(recovery);
    progress(`${stage}: back after ${recovery.toFixed(0)} ms, ${refused()} answers 503 so far`);
  };

  const stop = startWriters(clients, () => target.port, callers, ledger);
  try {
    await written(50);
    const path = await createOne(target.port, callers);
    await makeRoomInLog(databaseUrl);
    await disk.fill();
    while (refused() < 10 && !hasEnded()) await delay(5);
    await crowdSessions(databaseUrl, callers);
    const reads = await read(target.port, callers, idle, path, holdMilliseconds);
    violations.push(...reads.wrong);
    figures['reads while tables are full'] = reads.answers;
    figures['503 while tables are full'] = refused();
    await free('tables');

    await written(50);
    const before = refused();
    await disk.fill();
    await useUpLog(databaseUrl);
    await delay(holdMilliseconds);
    while (refused() === before && !hasEnded()) await delay(5);
    figures['503 while all is full'] = refused() - before;
    if (!(await lives(target))) violations.push('the liveness check failed');
    await free('all');
    await written(50);
  } finally {
    await stop();
  }
  if (hasEnded()) violations.push('the service has ended');
  if (ledger.unanswered + ledger.refused > 0) violations.push(`${ledger.unanswered + ledger.refused} requests were not answered`);
  return {
    violations: [...violations, ...(await ledger.compare(databaseUrl))],
    figures: { 'acknowledged writes': ledger.acknowledged, '5xx but 503': ledger.violations.length, ...figures },
  };
}

/**
 * Opens sessions that were last used an hour ago. A request with one updates its time of last use, and the full disk has no room for that.
 */
async function openIdleSessions(client: Client, { users }: Callers, count: number): Promise<string[]> {
  const tokens = Array.from({ length: count }, newToken);
  await client.query(
    `insert into session (token_hash, user_id, profile_id, method, locale, credential_version, idle_expires_at, expires_at, last_seen_at)
     select hash, id, profile_id, 'password', 'en', 1, now() + interval '8 hours', now() + interval '8 hours', now() - interval '1 hour'
     from unnest($1::bytea[]) as hash, user_account join user_profile on user_id = id where name = $2`,
    [tokens.map(hashToken), users[0]],
  );
  return tokens;
}

/** Opens sessions until their table has no room for another. */
async function crowdSessions(databaseUrl: string, callers: Callers): Promise<void> {
  try {
    await onDatabase(databaseUrl, async (client) => {
      for (;;) await openIdleSessions(client, callers, 1);
    });
  } catch (error) {
    if ((error as { code?: string }).code !== '53100') throw error;
  }
}

interface Reads {
  answers: number;
  /** Answers with another status than 200. */
  wrong: string[];
}

/**
 * Eight clients read an entity by key and by session, and their own session, until the time is over and enough reads have been answered.
 */
async function read(port: number, { apiKey }: Callers, sessions: string[], path: string, milliseconds: number): Promise<Reads> {
  const reads: Reads = { answers: 0, wrong: [] };
  const end = performance.now() + milliseconds;
  const work = async () => {
    const caller = new Caller(() => port);
    while (performance.now() < end || reads.answers < leastReads) {
      const cookie = `sid=${sessions.pop()}`;
      const asked = [caller.send('GET', path, { headers: { 'x-api-key': apiKey } })];
      if (sessions.length > 0)
        asked.push(caller.send('GET', path, { headers: { cookie } }), caller.send('GET', '/auth', { headers: { cookie } }));
      for (const { status, body } of await Promise.all(asked)) {
        reads.answers += 1;
        if (status !== 200) reads.wrong.push(`a read while tables are full: ${status} ${body}`);
      }
    }
    caller.close();
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return reads;
}

/** Creates an entity and returns its path. */
async function createOne(port: number, { apiKey }: Callers): Promise<string> {
  const caller = new Caller(() => port);
  const { headers } = await caller.send('POST', '/rest/entity/read', { headers: { 'x-api-key': apiKey }, json: { a: 1 } });
  caller.close();
  return headers.location ?? '';
}

/** Fills the current segment of the log until a new one has begun, so that the log has room during the stage with full tables. */
async function makeRoomInLog(databaseUrl: string): Promise<void> {
  await onDatabase(databaseUrl, async (client) => {
    for (;;) {
      const { rows } = await client.query<{ used: number }>(`select mod(pg_current_wal_flush_lsn() - '0/0', ${segmentBytes})::int as used`);
      // Inserted but unflushed records may belong to a segment that does not exist yet.
      const used = rows[0]?.used ?? 0;
      if (used > 0 && used < segmentBytes / 4) return;
      await emit(client);
    }
  });
}

/** Writes to the log until PostgreSQL ends the connection, or all of them. */
async function useUpLog(databaseUrl: string): Promise<void> {
  try {
    await onDatabase(databaseUrl, async (client) => {
      for (;;) await emit(client);
    });
  } catch {
    // The full disk is the purpose.
  }
}

async function emit(client: Client): Promise<void> {
  await client.query(`select pg_logical_emit_message(false, 'filler', repeat('x', ${messageBytes}))`);
}

async function onDatabase<T>(databaseUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function lives({ port }: DiskTarget): Promise<boolean> {
  const caller = new Caller(() => port);
  const { status } = await caller.send('GET', '/health/live');
  caller.close();
  return status === 200;
}
