/**
 * Keeps events that callers can cause at will from filling the audit trail. Verified users, the subjects that a request merely names, and
 * strangers have a budget each, so that none of the three silences another. It counts in one process and knows neither requests nor the
 * database. The request log has every refusal.
 */

import { LRUCache } from 'lru-cache';

const windowMilliseconds = 60_000;

/** How many events a minute each budget takes; docs/audit.md computes the greatest growth from it. */
export const eventsPerMinute = 300;

/** How many different events a minute one subject can have: far fewer than its budget takes. */
export const kindsPerSubject = 20;

/** Beyond it the subject that has been silent for longest is forgotten, with the number of its events that were left out. */
export const maximumSubjects = 10_000;

/**
 * `users`: the subject is a user, whose credential the request has shown. `named`: it is an account, a key or an identity that the request only
 * names, such as by a wrong password. `strangers`: it is an address.
 */
export const budgets = ['users', 'named', 'strangers'] as const;

/** The user, account, key, identity or address that an event counts for. */
export interface Subject {
  budget: (typeof budgets)[number];
  name: string;
}

/** What a subject has had of the present minute, and how much has been left out since the last event that was written. */
interface Tally {
  kinds: Set<string>;
  leftOut: number;
}

export class AuditQuota {
  readonly #budgets: Record<Subject['budget'], Budget>;

  /** `now` tells milliseconds on a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#budgets = { users: new Budget(now), named: new Budget(now), strangers: new Budget(now) };
  }

  /**
   * Whether to write an event of this kind that counts for the subject: once a minute each kind, 20 kinds a subject, 300 events a budget. The
   * answer is how many of the subject's events have been left out since the last one that was written; undefined to leave out this one.
   */
  admit({ budget, name }: Subject, kind: string): number | undefined {
    return this.#budgets[budget].admit(name, kind);
  }

  /** How many events have been left out since the process began. */
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

  /** Begins another minute when the present one is over. Subjects of which nothing was left out are forgotten. */
  #beginMinute(): void {
    const now = this.#now();
    if (now - this.#since < windowMilliseconds) return;
    this.#since = now;
    this.#written = 0;
    // A copy, because lru-cache does not say what deleting does to an iteration.
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
