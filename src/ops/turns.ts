/** Long synchronous work, piece by piece, so that other requests are served between two pieces. */
import { AsyncLocalStorage } from 'node:async_hooks';

const waiting: (() => void)[] = [];
/** After a piece of more milliseconds, the next one waits for as long as that piece took: the rest of the process has half of the time. */
const longMilliseconds = 2;

/** Runs `work`, which must not throw, in a later turn of the event loop, after what was given before and in the caller's async context. */
export function inTurn(work: () => void): void {
  if (waiting.push(AsyncLocalStorage.bind(work)) === 1) setImmediate(runNext);
}

function runNext(): void {
  const began = performance.now();
  waiting[0]?.();
  waiting.shift();
  if (waiting.length === 0) return;
  const took = performance.now() - began;
  if (took > longMilliseconds) setTimeout(runNext, took);
  else setImmediate(runNext);
}
