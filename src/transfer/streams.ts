/** Sends texts as they are made. */
import { Readable } from 'node:stream';

/** How long a client may take for a part, in milliseconds. */
const stallMs = 60_000;

/** The texts as a stream, which makes `aheadBytes` before the client reads. Calls `onStall` when the client takes more than a minute to read a text. */
export function streamOf(texts: AsyncIterable<string>, onStall: () => void, aheadBytes = 16_384): Readable {
  return Readable.from(whileRead(texts, onStall), { objectMode: false, highWaterMark: aheadBytes });
}

async function* whileRead(texts: AsyncIterable<string>, onStall: () => void): AsyncGenerator<string> {
  for await (const text of texts) {
    const timer = setTimeout(onStall, stallMs).unref();
    try {
      yield text;
    } finally {
      clearTimeout(timer);
    }
  }
}
