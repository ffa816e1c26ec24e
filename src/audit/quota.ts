/**
 * Prevents events that callers can cause at will from filling the audit trail. Verified users, the subjects that a request only names, and
 * unknown clients have a budget each, so none of the three displaces another. It counts in one process and depends neither on requests nor
 * on the database. The request log has every refusal.
 */

import { LRUCache } from 'lru-cache';

const windowMs = 60_000;

/** Maximum number of events of each budget in a minute; docs/audit.md computes the greatest growth from it. */
export const eventsPerMinute = 300;

/** Maximum number of kinds of events of one subject in a minute: far fewer than its budget. */
export const kindsPerSubject = 20;

/**
 * Maximum number of subjects in a budget. Beyond it the subject that has been inactive for longest is removed, together with its number of
 * omitted events.
 */
export const maximumSubjects = 10_000;

/**
 * `users`: the subject is a user whose credential the request has shown. `named`: it is an account, a key or an identity that the request
 * only names, such as by a wrong password. `strangers`: it is an address.
 */
export const budgets = ['users', 'named', 'strangers'] as const;

/** The user, account, key, identity or address to which an event is attributed. */
export interface Subject {
  budget: (typeof budgets)[number];
  name: string;
}

/** The kinds of a subject's events in the present minute, and the number of events omitted since the last one that was written. */
interface Tally {
  kinds: Set<string>;
  leftOut: number;
}

export class AuditQuota {
  readonly #budgets: Record<Subject['budget'], Budget>;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#budgets = { users: new Budget(now), named: new Budget(now), strangers: new Budget(now) };
  }

  /**
   * Decides whether to write an event of this kind for the subject: each kind once a minute, 20 kinds a subject, 300 events a budget.
   * Returns the number of the subject's events that were omitted since the last written one; undefined to omit this one.
   */
  admit({ budget, name }: Subject, kind: string): number | undefined {
    return this.#budgets[budget].admit(name, kind);
  }

  /** The number of omitted events since the start of the process. */
  get leftOut(): number {
    return Object.values(this.#budgets).reduce((sum, { leftOut }) => sum + leftOut, 0);
  }
}

class Budget {
  readonly #tallies = new LRUCache<string, Tally>({ max: maximumSubjects });
  readonly #now: () => number;
  #since = -Infinity;
  #written = 0;
  leftOut = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  admit(subject: string, kind: string): number | undefined {
    this.#beginMinute();
    const tally = this.#tallyOf(subject);
    if (tally.kinds.has(kind) || tally.kinds.size >= kindsPerSubject || this.#written >= eventsPerMinute) {
      tally.leftOut += 1;
      this.leftOut += 1;
      return undefined;
    }
    tally.kinds.add(kind);
    this.#written += 1;
    const { leftOut } = tally;
    tally.leftOut = 0;
    return leftOut;
  }

  /** Begins a new minute when the present one is over. Removes subjects without omitted events. */
  #beginMinute(): void {
    const now = this.#now();
    if (now - this.#since < windowMs) return;
    this.#since = now;
    this.#written = 0;
    // A copy, because lru-cache does not define iteration during deletion.
    const tallies = [...this.#tallies.entries()];
    for (const [subject, { kinds, leftOut }] of tallies) {
      if (leftOut === 0) this.#tallies.delete(subject);
      else kinds.clear();
    }
  }

  #tallyOf(subject: string): Tally {
    const known = this.#tallies.get(subject);
    if (known) return known;
    const tally: Tally = { kinds: new Set(), leftOut: 0 };
    this.#tallies.set(subject, tally);
    return tally;
  }
}
