/** Connections to a standby. A standby that fails gets no read for two seconds, and none waits for it (decision 170). */
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { Problem } from '../../problems/errors.ts';
import type { Connection } from '../driver/pool.ts';
import { builder, prepare } from '../driver/prepared.ts';
import type { PooledClient } from '../driver/timeout-pool.ts';
import { connectionStaysUsable, isOutage, ServerUnresponsiveError } from '../failure.ts';
import { hasReached, positionIn, type LogPosition, type PositionRow } from './log-position.ts';
import { StandbySession } from './session.ts';

/** For how long a standby that has failed gets no read. */
const pauseMs = 2_000;
/** A standby that has answered nothing for this long loses the reads that are under way. They hold places that other lists wait for. */
const silenceMs = 1_000;
/** Within this time a standby must give a connection and say how far it is. */
const answerMs = 500;
/** How old an answer about the log may be. The standby has replayed as much, or more. */
const freshMs = 10;
/** The longest wait for a standby to replay a position, and the most bytes of the log that are worth the wait. */
const waitMs = 100;
const waitBytes = 2n ** 24n;

interface StateRow extends PositionRow {
  isStandby: boolean;
  typeRevision: string;
}

/**
 * How far a standby is. After a change of the timeline its control file names the earlier one for some minutes. The receiver of the log names the new one at
 * once, to roles that may read statistics (pg_read_all_stats). Neither names a timeline that the standby does not follow.
 */
export const standbyState = prepare<{ name: string }, StateRow>('standby.state', (value) =>
  builder
    .selectNoFrom([
      sql<boolean>`pg_is_in_recovery()`.as('isStandby'),
      sql<number>`greatest((select received_tli from pg_stat_wal_receiver),
        (select greatest(timeline_id, min_recovery_end_timeline) from pg_control_checkpoint(), pg_control_recovery()))`.as('timeline'),
      sql<string | null>`(pg_last_wal_replay_lsn() - '0/0')::text`.as('lsn'),
      sql<string>`coalesce((select revision from entity_type where name = ${value('name')}), 0)::text`.as('typeRevision'),
    ])
    .compile(),
);

export interface StandbyState {
  position: LogPosition;
  /** The revision of the type of the name that was asked for; 0 for none. */
  typeRevision: string;
}

export interface StandbyEvents {
  /** The standby has failed. */
  onDown: (error: unknown) => void;
  onUp: () => void;
}

/** The outcome of a read: `value`, or why the standby is not to be used. */
export type StandbyAttempt<T, R> = { value: T } | { refusal: R | 'down' | 'busy' | 'failed' };

export class Standby {
  readonly #connection: Connection;
  readonly #events: StandbyEvents;
  readonly #states = new WeakMap<PooledClient, { name: string; state: StandbyState; at: number }>();
  #recent: { state: Promise<StandbyState>; at: number } | undefined;
  #pausedUntil = 0;
  /** Connections that are taken out of the pool, and how many these are with those that are being made. */
  readonly #clients = new Set<PooledClient>();
  #inUse = 0;
  #answeredAt = performance.now();
  #isReportedDown = false;
  /** Whether the standby has answered last. At first it has not. */
  isUp = false;

  constructor(connection: Connection, events: StandbyEvents) {
    this.#connection = connection;
    this.#events = events;
  }

  /** Asks how far the standby is, unless all connections are in use. Undefined if it does not say. Call it a few times a second. */
  async probe(): Promise<LogPosition | undefined> {
    this.#endSilentReads();
    if (this.#inUse >= this.#limit) return undefined;
    try {
      const { position } = await this.#recentState();
      if (performance.now() < this.#pausedUntil) return undefined;
      if (!this.isUp) this.#events.onUp();
      this.isUp = true;
      this.#isReportedDown = false;
      return position;
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Resolves once the standby has replayed `position`, or after 100 ms; at once if it is 16 MiB away, or follows another timeline. */
  async reach(position: LogPosition): Promise<void> {
    for (const end = performance.now() + waitMs; this.isUp && performance.now() < end; await delay(freshMs)) {
      const reached = await this.probe();
      const isNear = reached && reached.timeline === position.timeline && position.lsn - reached.lsn < waitBytes;
      if (!isNear || hasReached(reached, position)) return;
    }
  }

  /**
   * Runs `work` on one connection, unless `refuse` objects. `refuse` judges how far the server of that connection is with the log and with
   * the type of `name`. Each connection may lead to another standby. Throws the Problems of `work`, which are about the request. Any other
   * error is a refusal.
   */
  async read<T, R>(
    name: string,
    refuse: (state: StandbyState) => R | undefined,
    work: (on: StandbySession) => Promise<T>,
  ): Promise<StandbyAttempt<T, R>> {
    if (!this.isUp) return { refusal: 'down' };
    // The last connection is for questions, which find out whether the standby is silent.
    if (this.#inUse >= Math.max(1, this.#limit - 1)) return { refusal: 'busy' };
    let isWorking = false;
    try {
      return await this.#use(async (client) => {
        const state = await this.#stateOn(client, name, refuse);
        const refusal = refuse(state);
        if (refusal !== undefined) return { refusal };
        isWorking = true;
        return { value: await work(new StandbySession(client, async () => (await askState(client, name)).position)) };
      });
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (!isWorking || isOutage(error)) this.#fail(error);
      return { refusal: isWorking ? 'failed' : 'down' };
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  get #limit(): number {
    return this.#connection.pool.options.max;
  }

  #fail(error: unknown): void {
    this.#pausedUntil = performance.now() + pauseMs;
    this.#recent = undefined;
    if (!this.#isReportedDown) this.#events.onDown(error);
    this.#isReportedDown = true;
    this.isUp = false;
  }

  /** What any of the connections has said within the last milliseconds. All that ask meanwhile share the question. */
  #recentState(): Promise<StandbyState> {
    if (!this.#recent || performance.now() - this.#recent.at > freshMs)
      this.#recent = { state: this.#use((client) => this.#ask(client, '')), at: performance.now() };
    return this.#recent.state;
  }

  /** What the server of this connection has said within the last milliseconds, if that is enough. */
  async #stateOn(client: PooledClient, name: string, refuse: (state: StandbyState) => unknown): Promise<StandbyState> {
    const known = this.#states.get(client);
    if (known?.name === name && performance.now() - known.at < freshMs && refuse(known.state) === undefined) return known.state;
    const at = performance.now();
    const state = await this.#ask(client, name);
    this.#states.set(client, { name, state, at });
    return state;
  }

  async #ask(client: PooledClient, name: string): Promise<StandbyState> {
    const state = await within(askState(client, name));
    this.#answeredAt = performance.now();
    return state;
  }

  async #use<T>(work: (client: PooledClient) => Promise<T>): Promise<T> {
    this.#inUse++;
    const connecting = this.#connection.pool.acquire();
    const client = await within(connecting).catch((error: unknown) => {
      void this.#discard(connecting);
      throw error;
    });
    this.#clients.add(client);
    let isSpoilt = false;
    try {
      return await work(client);
    } catch (error) {
      isSpoilt = !(error instanceof Problem) && !connectionStaysUsable(error);
      throw error;
    } finally {
      this.#clients.delete(client);
      this.#connection.pool.release(client, isSpoilt);
      this.#inUse--;
    }
  }

  #endSilentReads(): void {
    if (this.isUp || performance.now() - this.#answeredAt < silenceMs) return;
    for (const client of this.#clients) client.connection.stream.destroy(new ServerUnresponsiveError('the standby is silent'));
  }

  /** Returns a connection to the pool that was not there in time. */
  async #discard(connecting: Promise<PooledClient>): Promise<void> {
    await connecting.then(
      (client) => this.#connection.pool.release(client),
      () => undefined,
    );
    this.#inUse--;
  }
}

async function askState(client: PooledClient, name: string): Promise<StandbyState> {
  const [row] = await standbyState(client, { name });
  const position = row && positionIn(row);
  if (!row?.isStandby) throw new Error('the server is no standby');
  if (!position) throw new Error('the server does not replay the log of a primary');
  return { position, typeRevision: row.typeRevision };
}

/** Rejects when the answer is not there in time. After a pause of the whole process, answers that have arrived meanwhile are handled first. */
async function within<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(() => reject(new Error(`no answer within ${answerMs} ms`))), answerMs);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}
