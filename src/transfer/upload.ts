/** Reads the body of a request while it arrives. */
import type { IncomingMessage } from 'node:http';
import { Problem } from '../problems/errors.ts';
import { sizeProblem } from '../entities/writing/rules.ts';

/** The server waits this number of milliseconds for one of these numbers of bytes. Otherwise a client that sends a byte a minute would hold a place for days. */
const stallMs = 60_000;
/** At 1 MiB a minute, the longest upload holds a place that another user wants for about an hour. */
const stallBytes = { usual: 16_384, wanted: 1_048_576 };

/**
 * The bytes of the body. What is left of it after an error is not read. Throws
 * - 400: the client has left.
 * - 408: the server has waited a minute for 16 KiB, or for 1 MiB while `isPlaceWanted`.
 * - 413: the body has more than `limitBytes`.
 * - the reason of `stopping` when that is aborted.
 */
export async function* readUpload(
  body: IncomingMessage,
  limitBytes: number,
  stopping: AbortSignal,
  isPlaceWanted: () => boolean,
): AsyncGenerator<Buffer> {
  // Otherwise an early end would destroy the connection, and with it the answer.
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  let bytes = 0;
  const allowance = () => [stallMs, isPlaceWanted() ? stallBytes.wanted : stallBytes.usual] as const;
  let [leftMs, leftBytes] = allowance();
  try {
    for (;;) {
      const since = performance.now();
      const { done, value } = await nextInTime(chunks, leftMs, stopping);
      if (done) return;
      bytes += value.length;
      leftMs -= performance.now() - since;
      leftBytes -= value.length;
      if (leftBytes <= 0) [leftMs, leftBytes] = allowance();
      if (bytes > limitBytes) throw sizeProblem(limitBytes);
      yield value;
    }
  } finally {
    // Lets go of the body, so that its rest can be read. Ends behind a read that is still under way.
    void chunks.return?.();
  }
}

async function nextInTime(chunks: AsyncIterator<Buffer>, limitMs: number, stopping: AbortSignal): Promise<IteratorResult<Buffer>> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onStop = () => reject(stopping.reason as Error);
  const timer = setTimeout(() => reject(new Problem('request-timeout')), limitMs).unref();
  if (stopping.aborted) onStop();
  stopping.addEventListener('abort', onStop);
  const next = chunks.next().catch((cause: unknown) => {
    throw new Problem('malformed-request', { cause });
  });
  // Whichever loses is not waited for.
  next.catch(() => undefined);
  try {
    return await Promise.race([next, promise]);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', onStop);
  }
}
