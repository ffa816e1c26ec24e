/**
 * Keeps what is refused from filling the audit trail. A caller who is refused a thousand times a second is told of often enough; the
 * request log has every one. It counts in one process and knows neither requests nor the database.
 */

const windowMilliseconds = 60_000;
const kindsPerSubject = 20;
const eventsPerProcess = 300;
const maximumSubjects = 10_000;

interface Tally {
  since: number;
  kinds: Set<string>;
  leftOut: number;
}

export class AuditQuota {
  readonly #subjects = new Map<string, Tally>();
  readonly #now: () => number;
  #since = -Infinity;
  #written = 0;
  /** How many events have been left out, all told. */
  leftOut = 0;

  /** `now` tells milliseconds on a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Whether to write an event of this kind that the subject has caused: once a minute, for twenty kinds a subject, and 300 times in all.
   * The answer is how many of the subject's events have been left out since the last that was written, undefined to leave out this one.
   */
  admit(subject: string, kind: string): number | undefined {
    const tally = this.#tallyOf(subject);
    if (tally.kinds.has(kind) || tally.kinds.size >= kindsPerSubject || !this.#takeOne()) {
      tally.leftOut += 1;
      this.leftOut += 1;
      return undefined;
    }
    tally.kinds.add(kind);
    const { leftOut } = tally;
    tally.leftOut = 0;
    return leftOut;
  }

  #tallyOf(subject: string): Tally {
    const now = this.#now();
    const tally = this.#subjects.get(subject) ?? { since: now, kinds: new Set(), leftOut: 0 };
    if (now - tally.since >= windowMilliseconds) {
      tally.since = now;
      tally.kinds.clear();
    }
    // Putting it last makes the first one the longest unused.
    this.#subjects.delete(subject);
    this.#subjects.set(subject, tally);
    if (this.#subjects.size > maximumSubjects) this.#subjects.delete(this.#subjects.keys().next().value ?? '');
    return tally;
  }

  #takeOne(): boolean {
    const now = this.#now();
    if (now - this.#since >= windowMilliseconds) {
      this.#since = now;
      this.#written = 0;
    }
    if (this.#written >= eventsPerProcess) return false;
    this.#written += 1;
    return true;
  }
}
