/** Reads the body of a request while it arrives. */
import type { IncomingMessage } from 'node:http';
import { Problem } from '../errors.ts';
import { tooLarge } from './import-row.ts';

/** How long a client may send nothing, in milliseconds. */
const silenceMs = 60_000;

/**
 * The bytes of the body. Throws 413 after `limitBytes`, 408 when the client sends nothing for a minute, 400 when it has left, and the reason of `stopping` when that is
 * aborted. What is left of the body is not read then.
 */
export async function* readUpload(body: IncomingMessage, limitBytes: number, stopping: AbortSignal): AsyncGenerator<Buffer> {
  // Otherwise an early end would destroy the connection, and with it the answer.
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  let bytes = 0;
  for (;;) {
    const { done, value } = await nextInTime(chunks, stopping);
    if (done) return;
    bytes += value.length;
    if (bytes > limitBytes) throw tooLarge(limitBytes);
    yield value;
  }
}

async function nextInTime(chunks: AsyncIterator<Buffer>, stopping: AbortSignal): Promise<IteratorResult<Buffer>> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onStop = () => reject(stopping.reason as Error);
  const timer = setTimeout(() => reject(new Problem('request-timeout')), silenceMs).unref();
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
