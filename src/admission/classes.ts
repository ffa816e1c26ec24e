/**
 * The classes of work that wait for a place, with the places of each. A request has 15 seconds: up to twelve for its waits, and the rest for its statements.
 * `generated/admission.md` shows the table (decision 314).
 */
import type { QueueLimits } from './queue.ts';

/** The milliseconds for which a user pauses after a job that took longer than `longMs`: so many times as long, up to `maximumMs`. */
interface Pause {
  longMs: number;
  times: number;
  maximumMs: number;
}

export interface AdmissionClass {
  /** The work, for the generated page. */
  work: string;
  /** A user unless named. */
  flow?: 'user' | 'account' | 'address';
  /** Of one flow: jobs that run, jobs that wait, milliseconds of a wait. */
  user?: QueueLimits;
  /** Of the process: jobs that run, users that wait (jobs, where users have no limit), milliseconds that are added to the wait. */
  process?: QueueLimits;
  /** The class in which a job with a place here needs a place too. */
  within?: 'list' | 'pool';
  /** The class whose places these jobs have. */
  places?: 'heavy-write';
  pause?: Pause;
}

/**
 * A user has less than all places of the process in each class, so that another user waits for none of its jobs (rule 165). A class in which none waits answers
 * 429 with its name to a flow that has all of its places.
 */
export const classes = {
  // A write waits for the one before it, because heavy writes of one user mostly change the same entities.
  'heavy-write': {
    work: 'Writes of large entities, bulk creates, batches, restores, purges',
    user: [1, 256, 6_000],
    process: [2, 4_096, 3_000],
    within: 'pool',
  },
  // With the pause the patches of a user take a third of one core of PostgreSQL, and the p95 of small writes of others falls by half (docs/performance.md).
  'heavy-patch': {
    work: 'Updates by a large patch, or of a large entity',
    places: 'heavy-write',
    pause: { longMs: 10, times: 2, maximumMs: 200 },
  },
  // A read waits for no row, and one user may be an application that reads for many people.
  'heavy-read': {
    work: 'Reads of large entities, views, histories, earlier versions',
    user: [3, 1_024, 6_000],
    process: [4, 4_096, 3_000],
    within: 'pool',
  },
  list: { work: 'Lists', user: [3, 1_024, 4_000], process: [4, 4_096, 3_000], within: 'pool' },
  aggregation: { work: 'Aggregations', user: [2, 1_024, 2_000], process: [3, 4_096, 1_000], within: 'list' },
  // Two, so that one write that waits long for a row does not hold up those of other rows.
  'contended-write': { work: 'Updates and creates that wait for a lock of another request', user: [2, 256, 4_000], within: 'pool' },
  'keyed-write': { work: 'Writes with an `Idempotency-Key`', user: [4, 1_024, 6_000], within: 'pool' },
  delete: { work: 'Deletes', user: [4, 1_024, 6_000], within: 'pool' },
  // A job has a place of its class when it waits here. The numbers are those of a pool of eight connections, which DATABASE_POOL_SIZE changes.
  pool: {
    work: 'Jobs of the classes that need a place of `pool` too: a connection for each',
    user: [7, 64, 1_000],
    process: [8, 4_096, 1_000],
  },
  'type-change': { work: 'Plans and changes of entity types', user: [1, 16, 6_000] },
  // One thread, which ends a job after ten seconds at the latest.
  sandbox: { work: 'Checks of documents and patterns of callers, in a thread of their own', process: [1, 256, 5_000] },
  contract: { work: 'The contract with the types of a caller', user: [1, 16, 6_000], process: [2, 256, 3_000] },
  // None waits: a client can come back, and an upload should not begin in vain.
  exports: { work: 'Exports', user: [2, 0, 0], process: [4, 0, 0] },
  imports: { work: 'Imports', user: [1, 0, 0], process: [2, 0, 0] },
  // 50 sign-ins at once need about a second on two cores.
  'sign-in-account': { work: 'Attempts at a password of one account', flow: 'account', user: [4, 256, 5_000] },
  'sign-in-address': { work: 'Attempts at passwords from one address', flow: 'address', user: [8, 512, 5_000] },
  // At most one for each core of a worker: more do not finish sooner, and each takes 19 MiB. A hash takes 20 ms of a core.
  hashing: { work: 'Hashes of passwords', process: [4, 128, 4_000] },
  introspection: { work: 'Introspections of opaque tokens', flow: 'address', user: [20, 0, 0], process: [100, 0, 0] },
} satisfies Record<string, AdmissionClass>;

export type ClassName = keyof typeof classes;

export const classNames = Object.keys(classes) as ClassName[];

/** The class, with all members. */
export const classOf = (name: ClassName): AdmissionClass => classes[name];
