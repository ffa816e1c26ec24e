/**
 * The disk of the database is full while clients write and read: first when tables cannot grow any more and the log of PostgreSQL still has
 * room, then when that has none either and PostgreSQL stops. Writes are 503, reads go on for as long as the server lives, and all is well
 * as soon as there is room again.
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
/** PostgreSQL writes its log in files of so many bytes and reserves each as a whole. */
const segmentBytes = 16 * 1_024 * 1_024;
const messageBytes = 1_024 * 1_024;
/** Reads to be answered while tables are full, however slow the machine is. */
const leastReads = 100;

export interface DiskPlan {
  clients: number;
  /** How many of them are refreshed and ended meanwhile; a logout takes three seconds while processes cannot tell each other of it. */
  sessions: number;
  /** How long each of both stages lasts at least: until that much has been answered, too. */
  holdMilliseconds: number;
}

export interface DiskTarget {
  /** Where the embedded database of the service is, with its log. */
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
    if (!(await lives(target))) violations.push('the service does not say that it lives');
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

/** Opens sessions that nobody has used for an hour: a request with one notes that it is in use again, for which there is no room either. */
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

/** Opens sessions until not one more has room in its table. */
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
  /** What was answered otherwise than by 200. */
  wrong: string[];
}

/** Lets eight clients read an entity by key and by session, and ask who they are, until the time is over and enough has been answered. */
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

/** Creates an entity and returns where it is. */
async function createOne(port: number, { apiKey }: Callers): Promise<string> {
  const caller = new Caller(() => port);
  const { headers } = await caller.send('POST', '/rest/entity/read', { headers: { 'x-api-key': apiKey }, json: { a: 1 } });
  caller.close();
  return headers.location ?? '';
}

/** Fills the segment of the log that is being written until a new one has begun, so that the log has room for as long as tables are looked at. */
async function makeRoomInLog(databaseUrl: string): Promise<void> {
  await onDatabase(databaseUrl, async (client) => {
    for (;;) {
      const { rows } = await client.query<{ used: number }>(`select mod(pg_current_wal_flush_lsn() - '0/0', ${segmentBytes})::int as used`);
      // What has only been inserted may belong to a segment that is not there yet.
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
    // That there is no room is what was wanted.
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
