/**
 * Chooses where a read goes that need not see the very latest: to a standby that is new enough, else to the primary (decision 170). This is the one place
 * that chooses.
 */
import { connectPool } from '../driver/pool.ts';
import type { Store } from '../port.ts';
import { hasReached, type LogPosition } from './log-position.ts';
import type { PrimaryLog } from './primary-log.ts';
import { Standby, type StandbyEvents, type StandbyState } from './standby.ts';

/** How often {@link Readers.sample} is to be called, in milliseconds. */
export const samplingMs = 250;

/** Statements that only read, all on the same server. */
export interface Reads extends Pick<Store, 'read' | 'run' | 'query' | 'queryRepeated' | 'readOnly'> {
  /** A place of the log that has all that was read so far; undefined where there is no standby, or if the server does not say. */
  position(): Promise<LogPosition | undefined>;
}

/** The state that a server must have to be read from. */
export interface Need {
  /** The position that it must have replayed; undefined for anything. */
  after: LogPosition | undefined;
  /** The name of the entities, and the revision of their type that the statements are made for; 0 for none. */
  name: string;
  typeRevision: string;
  /** Whether the statements are made for other types too, so that only the primary is sure to have what they name. */
  spansTypes?: boolean;
}

/** The result of a read, and how new it is as the header `Consistency` says it; undefined where there is no standby. */
export interface FreshResult<T> {
  value: T;
  consistency: string | undefined;
}

/** Runs `work` on the chosen server, and once more on the primary if a standby fails. */
export type Reading = <T>(work: (reads: Reads) => Promise<T>) => Promise<FreshResult<T>>;

/** The server of a read, or the reason why it was not the standby. */
export type ReadOutcome = 'standby' | 'behind' | 'lagging' | 'other-type' | 'down' | 'busy' | 'failed';

export class Readers {
  readonly #primary: Reads;
  readonly #maximumLagMs: number;
  readonly #log: PrimaryLog | undefined;
  readonly #standby: Standby | undefined;
  /** The number of reads by what became of them. */
  readonly outcomes: Record<ReadOutcome, number> = { standby: 0, behind: 0, lagging: 0, 'other-type': 0, down: 0, busy: 0, failed: 0 };
  /** For how many seconds the standby may have lacked something when it was asked last; undefined without one. */
  lagSeconds: number | undefined;

  constructor(store: Store, standby: Standby | undefined, maximumLagMs: number) {
    const { log } = store;
    this.#primary = {
      read: (statement, values) => store.read(statement, values),
      run: (statement, values) => store.run(statement, values),
      query: (query) => store.query(query),
      queryRepeated: (query) => store.queryRepeated(query),
      readOnly: (limitMs, work) => store.readOnly(limitMs, work),
      position: async () => await log?.atPresent(),
    };
    this.#maximumLagMs = maximumLagMs;
    this.#log = log;
    this.#standby = standby;
  }

  /** Whether there is a standby to read from. */
  get hasStandby(): boolean {
    return this.#standby !== undefined && this.#log !== undefined;
  }

  /** Whether the standby has answered last; undefined without one. */
  get isUp(): boolean | undefined {
    return this.#standby?.isUp;
  }

  /**
   * Waits for up to 100 ms if the standby has not replayed yet what the read needs. The server is chosen when the reading begins, so that a read that waits for
   * its turn meanwhile has no connection.
   */
  async begin(need: Need): Promise<Reading> {
    const [standby, log] = [this.#standby, this.#log];
    if (!standby || !log) return async (work) => ({ value: await work(this.#primary), consistency: undefined });
    if (need.spansTypes) return async (work) => this.#onPrimary('other-type', work);
    if (need.after) await standby.reach(need.after);
    return async (work) => {
      let lagMs = 0;
      const refuse = (state: StandbyState) => {
        lagMs = log.lagMs(state.position);
        return this.#refusal(need, state, lagMs);
      };
      const attempt = await standby.read(need.name, refuse, work);
      if ('value' in attempt) {
        this.outcomes.standby++;
        return { value: attempt.value, consistency: `bounded; lag=${inSeconds(lagMs)}` };
      }
      return await this.#onPrimary(attempt.refusal, work);
    };
  }

  async #onPrimary<T>(refusal: Exclude<ReadOutcome, 'standby'>, work: (reads: Reads) => Promise<T>): Promise<FreshResult<T>> {
    this.outcomes[refusal]++;
    return { value: await work(this.#primary), consistency: 'primary' };
  }

  async close(): Promise<void> {
    await this.#standby?.close();
  }

  #refusal({ after, typeRevision }: Need, state: StandbyState, lagMs: number): 'behind' | 'lagging' | 'other-type' | undefined {
    if (after && !hasReached(state.position, after)) return 'behind';
    if (state.typeRevision !== typeRevision) return 'other-type';
    return lagMs > this.#maximumLagMs ? 'lagging' : undefined;
  }

  /** Queries both servers for the places of their logs; call it every {@link samplingMs}. Before the first call the primary answers all reads. */
  async sample(): Promise<void> {
    const [standby, log] = [this.#standby, this.#log];
    if (!standby || !log) return;
    const [position] = await Promise.all([standby.probe(), log.sample()]);
    if (position) this.lagSeconds = log.lagMs(position) / 1_000;
    else if (!standby.isUp) this.lagSeconds = Number.POSITIVE_INFINITY;
  }
}

/** Opens the readers of `store`, with at most `size` connections to the standby at `url`; without one all reads go to `store`. */
export function openReaders(
  store: Store,
  { url, size, maximumLagMs }: { url: string | undefined; size: number; maximumLagMs: number },
  events: StandbyEvents & { onError: (error: Error) => void },
): Readers {
  const standby = url === undefined ? undefined : new Standby(connectPool(url, size, events.onError), events);
  return new Readers(store, standby, maximumLagMs);
}

/** Rounded up, with one digit. */
const inSeconds = (ms: number) => (Math.ceil(ms / 100) / 10).toFixed(1);
