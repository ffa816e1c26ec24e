/** Logs an outage when it begins, with each further reason once, once a minute while it lasts, and when it has ended. */
import type { FastifyBaseLogger } from 'fastify';

const repeatMs = 60_000;

export class OutageLog {
  readonly #now: () => number;
  #since: number | undefined;
  #loggedAt = 0;
  /** The messages of this outage. A lost connection may be followed by one that is refused, whose message says what to do. */
  readonly #told = new Set<string>();

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Call it at each failure. */
  failed(log: FastifyBaseLogger | undefined, error: Error, message: string): void {
    const now = this.#now();
    const isFirst = this.#since === undefined;
    this.#since ??= now;
    if (this.#told.has(message) && now - this.#loggedAt < repeatMs) return;
    this.#told.add(message);
    this.#loggedAt = now;
    log?.warn({ event: 'outage', err: error, ...(!isFirst && { durationMs: Math.round(now - this.#since) }) }, message);
  }

  /** Call it when the work has succeeded. Without an outage it logs nothing. */
  succeeded(log: FastifyBaseLogger | undefined, message: string): void {
    if (this.#since === undefined) return;
    log?.info({ event: 'outage.ended', durationMs: Math.round(this.#now() - this.#since) }, message);
    this.#since = undefined;
    this.#told.clear();
  }
}
