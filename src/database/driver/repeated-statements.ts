/**
 * Names for statements that are built for one request and come again, such as that of a list. PostgreSQL then parses and plans each a few times on each
 * connection, which saves up to half of its time for a page (decision 77). A name takes about 100 bytes of the server's memory for each character of the text,
 * on each connection. So only what comes again gets one, and only as long as there is room.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const maximumNamed = 40;
/** Of all texts with names together: about 6 MB for each connection. The text of a page has 700 to 1,300. */
const maximumCharacters = 60_000;
/** A name that no request has used for so many milliseconds makes room for another. */
const idleMs = 60_000;
/** Characters. Longer texts have long filters, which hardly come again. */
const maximumLength = 4_096;

interface NamedStatement {
  name: string;
  /** As performance.now() says. */
  usedAt: number;
}

export class RepeatedStatements {
  readonly #seen = new LRUCache<string, true>({ maxSize: 2 ** 20, maxEntrySize: maximumLength, sizeCalculation: (_, text) => text.length });
  readonly #named = new LRUCache<string, NamedStatement>({ max: maximumNamed, dispose: (_, text) => (this.#characters -= text.length) });
  /** Of the texts with names. */
  #characters = 0;

  /** The name of the text. Undefined when the text comes for the first time, and while other texts take all the room. A text always has the same name. */
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
    if (!this.#makeRoom(text.length)) return undefined;
    const name = `repeated.${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
    this.#named.set(text, { name, usedAt: performance.now() });
    this.#characters += text.length;
    return name;
  }

  /** Removes names that are no longer used, until there is room for a text of so many characters. False if there is no room. */
  #makeRoom(characters: number): boolean {
    while (this.#named.size === maximumNamed || this.#characters + characters > maximumCharacters) {
      const [leastRecent] = this.#named.rkeys();
      const named = leastRecent === undefined ? undefined : this.#named.peek(leastRecent);
      if (leastRecent === undefined || !named || performance.now() - named.usedAt <= idleMs) return false;
      this.#named.delete(leastRecent);
    }
    return true;
  }
}
