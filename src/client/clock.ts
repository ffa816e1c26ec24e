/** The client's clock and timer, which tests replace. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', abort, { once: true });
    }),
};
