/**
 * Names for statements that are built for one request and come again, such as that of a list. PostgreSQL then parses and plans each a few times on each
 * connection, which saves up to half of its time for a page (docs/performance.md). Only what comes again gets a name, and few at once: each takes about
 * 100 KB of the server's memory on each connection.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** A connection holds these besides the statements of `prepare` (timeout-pool.ts). */
const maximumNamed = 40;
/** A name that no request has used for so many milliseconds makes room for another. */
const idleMs = 60_000;
/** Characters. Longer texts have long filters, which hardly come again. */
const maximumLength = 16_384;

interface Named {
  name: string;
  /** As performance.now() says. */
  usedAt: number;
}

export class RepeatedStatements {
  readonly #seen = new LRUCache<string, true>({ maxSize: 2 ** 20, maxEntrySize: maximumLength, sizeCalculation: (_, text) => text.length });
  readonly #named = new LRUCache<string, Named>({ max: maximumNamed });

  /** The name of the text; undefined when it comes for the first time, and while {@link maximumNamed} others are in use. The same text has the same name. */
  nameOf(text: string): string | undefined {
    const known = this.#named.get(text);
    if (known) {
      known.usedAt = performance.now();
      return known.name;
    }
    if (!this.#seen.has(text)) {
      this.#seen.set(text, true);
      return undefined;
    }
    if (!this.#hasRoom()) return undefined;
    const name = `repeated.${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
    // When all names are taken the text that was used least recently loses its name.
    this.#named.set(text, { name, usedAt: performance.now() });
    return name;
  }

  #hasRoom(): boolean {
    if (this.#named.size < maximumNamed) return true;
    const [leastRecent] = this.#named.rvalues();
    return leastRecent !== undefined && performance.now() - leastRecent.usedAt > idleMs;
  }
}
