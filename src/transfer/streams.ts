/** Sends texts as they are made. */
import { Readable } from 'node:stream';

/** How long a client may take for a part, in milliseconds. */
const stallMs = 60_000;

/** The texts as a stream. Calls `onStall` when the client takes more than a minute to read one. */
export function streamOf(texts: AsyncIterable<string>, onStall: () => void): Readable {
  return Readable.from(whileRead(texts, onStall), { objectMode: false });
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
