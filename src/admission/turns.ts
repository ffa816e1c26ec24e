/** Divides long synchronous work into pieces, so that other requests are served between two pieces. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The pieces of each caller that has any, in the order of the callers' turns. */
const waiting = new Map<string, (() => void)[]>();
/** After a piece that took longer, the next one waits for as long as that piece took. So the rest of the process gets half of the time. */
const longPieceMs = 2;
let isScheduled = false;

/**
 * Runs `work`, which must not throw, in a later turn of the event loop and in the async context of this call. Callers with work have one
 * piece run each in rotation, so the queue of one caller delays another by one piece.
 */
export function inTurn(caller: string, work: () => void): void {
  const pieces = waiting.get(caller) ?? [];
  pieces.push(AsyncLocalStorage.bind(work));
  waiting.set(caller, pieces);
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(runNext);
}

function runNext(): void {
  const began = performance.now();
  const [next] = waiting;
  if (next) runFirst(...next);
  const took = performance.now() - began;
  isScheduled = waiting.size > 0;
  if (!isScheduled) return;
  if (took > longPieceMs) setTimeout(runNext, took);
  else setImmediate(runNext);
}

/** Runs the first piece of the caller, whose next turn comes after those of all other callers. */
function runFirst(caller: string, pieces: (() => void)[]): void {
  waiting.delete(caller);
  const piece = pieces.shift();
  if (pieces.length > 0) waiting.set(caller, pieces);
  piece?.();
}

/** Work in many small steps that returns to the event loop whenever it has held it for long. */
export class Pauses {
  #since = performance.now();

  /** Lets other requests be served if the steps since the last pause took more than 2 ms; call it between two steps. */
  async whenLong(): Promise<void> {
    if (performance.now() - this.#since <= longPieceMs) return;
    await nextTurn();
    this.#since = performance.now();
  }
}
