/** The position of the log of the primary: after the writes of this process, for tokens; and at moments of the last seconds, for the lag of a standby. */
import { sql } from 'kysely';
import { builder, prepare, type Executor } from '../driver/prepared.ts';
import { hasReached, latestOf, positionIn, type LogPosition, type PositionRow } from './log-position.ts';

/**
 * The place behind the last record of the log, also of records that are not on the disk yet: a commit need not wait for the disk. The server
 * must be a primary.
 */
const primaryPosition = prepare<object, PositionRow>('log.primary', () =>
  builder
    .selectNoFrom([
      sql<number>`('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer`.as('timeline'),
      sql<string>`(pg_current_wal_insert_lsn() - '0/0')::text`.as('lsn'),
    ])
    .compile(),
);

/** Bytes of a page of the log, and of its header, which is longer in the first page of a file. */
const page = 8_192n;
const headers: readonly bigint[] = [24n, 40n];

/** PostgreSQL counts the header of a page that is still empty. A standby does not replay it before the record behind it. */
function withoutHeader({ timeline, lsn }: LogPosition): LogPosition {
  const header = headers.find((length) => lsn % page === length) ?? 0n;
  return { timeline, lsn: lsn - header };
}

const storedMs = 86_400_000;
/** The share of their age by which two samples may be apart. */
const precision = 1 / 20;

interface Sample {
  position: LogPosition;
  /** The time at which the primary was queried, in milliseconds of the monotonic clock. */
  at: number;
}

export class PrimaryLog {
  readonly #server: Executor;
  readonly #now: () => number;
  #latest: LogPosition | undefined;
  /** How often the place after a write has remained unknown, and how often when it was asked for last. */
  #losses = 0;
  #mendedLosses = 0;
  #asking: Promise<LogPosition> | undefined;
  /** The latest first. */
  #samples: Sample[] = [];

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(server: Executor, now = () => performance.now()) {
    this.#server = server;
    this.#now = now;
  }

  /** Asks over a connection on which a write has just been sent. Does not reject. */
  async noteFrom(connection: Executor): Promise<void> {
    try {
      this.#latest = latestOf([this.#latest, await askPosition(connection)]);
    } catch {
      this.#losses++;
    }
  }

  /** A place that the log has reached after all writes that this process has done; undefined if the primary does not say. */
  async afterWrites(): Promise<LogPosition | undefined> {
    return this.#losses === this.#mendedLosses ? this.#latest : await this.atPresent();
  }

  /** The position of the log now; undefined if the primary does not say. */
  async atPresent(): Promise<LogPosition | undefined> {
    const losses = this.#losses;
    try {
      const position = await this.#ask();
      this.#latest = latestOf([this.#latest, position]);
      this.#mendedLosses = Math.max(this.#mendedLosses, losses);
      return position;
    } catch {
      this.#losses++;
      return undefined;
    }
  }

  /** Stores where the log is now. Of the last day it has samples, the older the fewer: one in a twentieth of their age, about 300 in all. */
  async sample(): Promise<void> {
    const at = this.#now();
    const position = await this.atPresent();
    if (position) this.#samples = thinned([{ position, at }, ...this.#samples.filter((sample) => sample.at >= at - storedMs)], at);
  }

  /**
   * For how many milliseconds a server at `position` may have lacked something of the primary, a twentieth too many at most; infinite for more than a day, and
   * for longer than this process has taken samples.
   */
  lagMs(position: LogPosition): number {
    const reached = this.#samples.find((sample) => hasReached(position, sample.position));
    return reached ? this.#now() - reached.at : Number.POSITIVE_INFINITY;
  }

  /** One statement for all that ask in the same turn. One that is under way already may have been answered before the write of the caller. */
  #ask(): Promise<LogPosition> {
    this.#asking ??= Promise.resolve().then(() => {
      this.#asking = undefined;
      return askPosition(this.#server);
    });
    return this.#asking;
  }
}

async function askPosition(server: Executor): Promise<LogPosition> {
  const [row] = await primaryPosition(server, {});
  const position = row && positionIn(row);
  if (!position) throw new Error('the primary does not say where its log is');
  return withoutHeader(position);
}

/** Leaves out samples, the latest of which is the first, as long as the one before and the one after are near each other for their age. */
function thinned(samples: readonly Sample[], now: number): Sample[] {
  const left: Sample[] = [];
  for (const [index, sample] of samples.entries()) {
    const [later, earlier] = [left.at(-1), samples[index + 1]];
    if (!later || !earlier || later.at - earlier.at > (now - later.at) * precision) left.push(sample);
  }
  return left;
}
