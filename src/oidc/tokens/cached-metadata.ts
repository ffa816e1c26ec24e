/**
 * Caches what an issuer publishes and fetches it on demand (security rule 49). The service sends the issuer at most one such request in 30
 * seconds. While the issuer does not answer, the last value is used for up to an hour.
 */
import { Problem } from '../../problems/errors.ts';
import { innermostMessage } from './discover.ts';

const freshMs = 600_000;
const usableMs = 3_600_000;
const betweenFetchesMs = 30_000;

export interface CachedMetadataOptions {
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  /** Called with the error of each failed fetch, also while a cached value is in use. */
  onError: (error: unknown) => void;
  /** Called after each successful fetch. */
  onAnswer?: () => void;
}

export class CachedMetadata<T> {
  readonly #load: () => Promise<T>;
  readonly #failureText: string;
  readonly #options: CachedMetadataOptions;
  #kept: { value: T; fetchedAt: number } | undefined;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #attempts = 0;
  #failure: unknown;
  #running: Promise<void> | undefined;

  /** `load` fetches from the issuer. `failureText` describes its failure in the log. */
  constructor(load: () => Promise<T>, failureText: string, options: CachedMetadataOptions) {
    this.#load = load;
    this.#failureText = failureText;
    this.#options = options;
  }

  /** The published value. Throws 503 `issuer-unavailable` if the issuer does not answer and no recent enough value is cached. */
  async current(): Promise<T> {
    if (this.#kept && this.#age(this.#kept.fetchedAt) < freshMs) return this.#kept.value;
    const hasJustFailed = this.#failure !== undefined && this.#age(this.#attemptedAt) < 2 * betweenFetchesMs;
    const refreshed = this.#refresh();
    // After a recent failure, callers do not wait for the issuer again.
    if (!hasJustFailed || !this.#usable()) await refreshed;
    const kept = this.#usable();
    if (!kept) throw this.#unavailable();
    return kept.value;
  }

  /**
   * The value after a new fetch, for a caller that finds the cached one out of date. Throws 503 `issuer-unavailable` if the last fetch
   * failed.
   */
  async renewed(): Promise<T> {
    await this.#refresh();
    if (this.#failure !== undefined || !this.#kept) throw this.#unavailable();
    return this.#kept.value;
  }

  /** How many fetches have begun. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The 503 for a caller that needs a fetch which is not due yet. */
  notDue(): Problem {
    return this.#unavailable();
  }

  /** Whether the last fetch failed. */
  get isFailing(): boolean {
    return this.#failure !== undefined;
  }

  /** Fetches again if the last fetch failed and was 30 seconds ago. Never throws: `onAnswer` or `onError` receives the outcome. */
  async retryFailed(): Promise<void> {
    if (this.isFailing) await this.#refresh();
  }

  /** The cached value, unless it is too old for use without a new fetch. */
  #usable(): { value: T } | undefined {
    return this.#kept && this.#age(this.#kept.fetchedAt) < usableMs ? this.#kept : undefined;
  }

  /** Fetches once for all concurrent callers, and not within 30 seconds of the last attempt. Never throws: sets `#failure`. */
  #refresh(): Promise<void> {
    if (this.#running) return this.#running;
    if (this.#age(this.#attemptedAt) < betweenFetchesMs) return Promise.resolve();
    this.#attemptedAt = this.#options.now();
    this.#attempts += 1;
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
    const seconds = Math.max(1, Math.ceil((betweenFetchesMs - this.#age(this.#attemptedAt)) / 1_000));
    return issuerUnavailable(seconds, this.#failure);
  }
}

/** The 503 for an issuer that does not answer, with `Retry-After` of this many seconds. */
export function issuerUnavailable(seconds: number, cause: unknown): Problem {
  return new Problem('issuer-unavailable', { values: { seconds }, headers: { 'Retry-After': String(seconds) }, cause });
}
