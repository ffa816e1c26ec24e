/** The deadline of one attempt together with the caller's signal, and which of them ended the attempt. */
import type { Clock } from './clock.ts';
import { ClientError, type FailedRequest } from './errors.ts';

export class RequestDeadline {
  readonly #stop = new AbortController();
  readonly #over = new AbortController();
  readonly #timer = new AbortController();
  readonly #caller: AbortSignal | undefined;
  #late = false;

  constructor(clock: Clock, timeoutMs: number, caller: AbortSignal | undefined) {
    this.#caller = caller;
    const abort = () => this.#stop.abort(caller?.reason);
    if (caller?.aborted) abort();
    else caller?.addEventListener('abort', abort, { once: true, signal: this.#over.signal });
    void this.#watch(clock, timeoutMs);
  }

  /** Aborted at the deadline, or when the caller's signal is aborted. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The promise's value; rejects as soon as the signal is aborted. */
  async race<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    signal.throwIfAborted();
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: this.#over.signal });
      promise.then(resolve, reject);
    });
  }

  async #watch(clock: Clock, timeoutMs: number): Promise<void> {
    try {
      await clock.sleep(timeoutMs, this.#timer.signal);
    } catch {
      return;
    }
    this.#late = true;
    this.#stop.abort();
  }

  /** The meaning of a failure of a step of the attempt. */
  failure(cause: unknown, request: FailedRequest): ClientError {
    if (this.#caller?.aborted) return new ClientError('aborted', { cause: this.#caller.reason as unknown, request });
    return this.#late ? new ClientError('timeout', { request }) : new ClientError('network', { cause, request });
  }

  /** The answer has begun: only the caller's signal ends it from now on. */
  begun(): void {
    this.#timer.abort();
  }

  /** Releases the timer and the caller's signal. Call it when the attempt has ended, however it ended. */
  over(): void {
    this.#timer.abort();
    this.#over.abort();
  }
}
