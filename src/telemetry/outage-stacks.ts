/** One stack for each outage: while it lasts every request fails at the same places, and the further lines say the kind of their error alone. */

/** An outage is over when no line has told of it for this long, since one that goes on repeats itself each minute. */
const quietMs = 300_000;

/** The events whose lines an outage causes, time and again. */
const followers: ReadonlySet<unknown> = new Set(['outage', 'audit.lost', 'housekeeping']);

/** An error of an outage whose stack the log has. */
export class KnownOutage {
  readonly cause: unknown;
  constructor(cause: unknown) {
    this.cause = cause;
  }
}

export class OutageStacks {
  readonly #now: () => number;
  /** The time of the last line about the outage of an issuer, or of the database (''). */
  readonly #toldAt = new Map<string, number>();

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The members of a line. `err` of an outage that the log has shown already becomes a {@link KnownOutage}; `outage.ended` makes the next one new. */
  shorten(line: Record<string, unknown>): Record<string, unknown> {
    const { event, err, issuer } = line;
    const of = typeof issuer === 'string' ? issuer : '';
    if (event === 'outage.ended') this.#toldAt.delete(of);
    if (!followers.has(event) || err === undefined) return line;
    const now = this.#now();
    const isKnown = now - (this.#toldAt.get(of) ?? Number.NEGATIVE_INFINITY) < quietMs;
    // The failure of housekeeping may be another one.
    if (event !== 'housekeeping') this.#toldAt.set(of, now);
    return isKnown ? { ...line, err: new KnownOutage(err) } : line;
  }
}
