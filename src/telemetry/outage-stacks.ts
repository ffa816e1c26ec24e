/**
 * One stack for each outage: while it lasts every request fails at the same places, and the further lines say the kind of their error alone. The outages of two
 * dependencies are two, and so are errors of two classes: the stack of one is not that of the other.
 */

/** An outage shows the stacks of no more reasons than this: messages may differ without end. */
const maximumReasons = 50;
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

interface Outage {
  /** The time of its last line. */
  toldAt: number;
  /** The codes of its errors so far, and the messages of those without one. */
  reasons: Set<unknown>;
}

export class OutageStacks {
  readonly #now: () => number;
  /** By the dependency, and by the class of the error. */
  readonly #outages = new Map<string, Map<string, Outage>>();

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The members of a line. `err` of an outage that the log has shown already becomes a {@link KnownOutage}; `outage.ended` makes the next one new. */
  shorten(line: Record<string, unknown>): Record<string, unknown> {
    const { event, err } = line;
    const dependency = dependencyOf(line);
    if (event === 'outage.ended') this.#outages.delete(dependency);
    if (!followers.has(event) || err === undefined) return line;
    const isKnown = this.#isKnown(dependency, err, event);
    return isKnown ? { ...line, err: new KnownOutage(err) } : line;
  }

  #isKnown(dependency: string, error: unknown, event: unknown): boolean {
    const now = this.#now();
    const outages = this.#outages.get(dependency) ?? new Map<string, Outage>();
    const { errorClass, reason } = kindOf(error);
    const found = outages.get(errorClass);
    const outage = found && now - found.toldAt < quietMs ? found : undefined;
    // An event or the housekeeping may fail for another reason than the outage that goes on.
    const isKnown = outage !== undefined && (event === 'outage' || outage.reasons.has(reason) || outage.reasons.size >= maximumReasons);
    if (event === 'housekeeping') return isKnown;
    const reasons = outage?.reasons ?? new Set<unknown>();
    if (reasons.size < maximumReasons) reasons.add(reason);
    outages.set(errorClass, { toldAt: now, reasons });
    this.#outages.set(dependency, outages);
    return isKnown;
  }
}

/** The issuer, another dependency, or the database (''). */
function dependencyOf({ issuer, dependency, code }: Record<string, unknown>): string {
  if (typeof issuer === 'string') return `issuer ${issuer}`;
  if (typeof dependency === 'string') return dependency;
  return code === 'issuer-unavailable' ? 'issuers' : '';
}

/** The class of the error, which is called `error` in the client of PostgreSQL, and its code, or its message if it has none. */
function kindOf(error: unknown): { errorClass: string; reason: unknown } {
  return error instanceof Error
    ? { errorClass: error.name.toLowerCase(), reason: 'code' in error ? error.code : error.message }
    : { errorClass: typeof error, reason: undefined };
}
