/**
 * What an issuer publishes, fetched when somebody needs it and kept (security rule 49). Whatever callers ask, the issuer is asked at most
 * once in thirty seconds; while it does not answer, what it gave last serves for an hour.
 */
import { Problem } from '../../errors.ts';
import { innermostMessage } from './discover.ts';

const freshMilliseconds = 600_000;
const usableMilliseconds = 3_600_000;
const betweenFetchesMilliseconds = 30_000;

export interface CachedMetadataOptions {
  /** Milliseconds on a clock that never goes back. */
  now: () => number;
  /** Told why nothing could be fetched, also while what there is serves. */
  onError: (error: unknown) => void;
  /** Told of everything that could be fetched. */
  onAnswer?: () => void;
}

export class CachedMetadata<T> {
  readonly #load: () => Promise<T>;
  readonly #failureText: string;
  readonly #options: CachedMetadataOptions;
  #kept: { value: T; fetchedAt: number } | undefined;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #running: Promise<void> | undefined;

  /** `load` asks the issuer. `failureText` says, for the log, what it means that it threw. */
  constructor(load: () => Promise<T>, failureText: string, options: CachedMetadataOptions) {
    this.#load = load;
    this.#failureText = failureText;
    this.#options = options;
  }

  /** What the issuer publishes. Throws 503 `issuer-unavailable` when it does not answer and nothing young enough is there. */
  async current(): Promise<T> {
    if (this.#kept && this.#age(this.#kept.fetchedAt) < freshMilliseconds) return this.#kept.value;
    const hasJustFailed = this.#failure !== undefined && this.#age(this.#attemptedAt) < 2 * betweenFetchesMilliseconds;
    const refreshed = this.#refresh();
    // Nobody waits again for an issuer that did not answer a moment ago.
    if (!hasJustFailed || !this.#usable()) await refreshed;
    const kept = this.#usable();
    if (!kept) throw this.#unavailable();
    return kept.value;
  }

  /** What it publishes now, for when what is kept seems out of date. Throws 503 `issuer-unavailable` when the issuer did not answer last. */
  async renewed(): Promise<T> {
    await this.#refresh();
    if (this.#failure !== undefined || !this.#kept) throw this.#unavailable();
    return this.#kept.value;
  }

  /** What we have, unless it is too old to be believed without asking. */
  #usable(): { value: T } | undefined {
    return this.#kept && this.#age(this.#kept.fetchedAt) < usableMilliseconds ? this.#kept : undefined;
  }

  /** Fetches, once for all who ask meanwhile; not at all within thirty seconds of the last try. Never throws: sets `#failure`. */
  #refresh(): Promise<void> {
    if (this.#running) return this.#running;
    if (this.#age(this.#attemptedAt) < betweenFetchesMilliseconds) return Promise.resolve();
    this.#attemptedAt = this.#options.now();
    this.#running = this.#fetch().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #fetch(): Promise<void> {
    const startedAt = this.#attemptedAt;
    try {
      this.#kept = { value: await this.#load(), fetchedAt: startedAt };
      this.#failure = undefined;
      this.#options.onAnswer?.();
    } catch (error) {
      this.#failure = new Error(`${this.#failureText}: ${innermostMessage(error)}`, { cause: error });
      this.#options.onError(this.#failure);
    }
  }

  #age(since: number): number {
    return this.#options.now() - since;
  }

  #unavailable(): Problem {
    const seconds = Math.max(1, Math.ceil((betweenFetchesMilliseconds - this.#age(this.#attemptedAt)) / 1_000));
    return issuerUnavailable(seconds, this.#failure);
  }
}

/** The 503 for an issuer that does not answer, to be tried again after so many seconds. */
export function issuerUnavailable(seconds: number, cause: unknown): Problem {
  return new Problem('issuer-unavailable', { values: { seconds }, headers: { 'Retry-After': String(seconds) }, cause });
}
