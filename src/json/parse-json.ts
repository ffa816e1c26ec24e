/**
 * `JSON.parse` without an error of V8 that Node.js 24 has (nodejs/node#63785): it may read a member's name that is written with an escape as another
 * name, with a backslash, of an object that was parsed or made before. A client could so hide a member from all checks of the parsed value.
 */
const [quote, backslash, colon, comma] = [34, 92, 58, 44];
const [openArray, closeArray, openObject, closeObject] = [91, 93, 123, 125];

/** The value of a JSON text of any origin. Throws a SyntaxError for another text, and a RangeError for one that is nested too deeply for the stack. */
export function parseJson(text: string): unknown {
  return hasEscapedName(text) ? new JsonReader(text).read() : JSON.parse(text);
}

function hasEscapedName(text: string): boolean {
  if (!text.includes('\\')) return false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = endOfString(text, at);
    const isEscaped = text.slice(at, end).includes('\\');
    at = skipSpace(text, end);
    if (isEscaped && text.charCodeAt(at) === colon) return true;
  }
  return false;
}

/** The offset in a JSON text after the string that opens at `at`, or the length of the text if it does not end. */
export function endOfString(text: string, at: number): number {
  for (at++; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at++;
  }
  return text.length;
}

/** The offset in a JSON text of the first character from `at` that is no space. */
export function skipSpace(text: string, at: number): number {
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** Reads names by themselves: V8's error is in names of objects only. */
class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    const value = this.#value();
    this.#next();
    if (this.#at < this.#text.length) throw this.#error();
    return value;
  }

  #value(): unknown {
    const first = this.#next();
    if (first === openObject) return this.#object();
    return first === openArray ? this.#array() : this.#scalar(first);
  }

  #object(): object {
    const members: [string, unknown][] = [];
    this.#at++;
    if (this.#next() === closeObject) this.#at++;
    else
      do {
        if (this.#next() !== quote) throw this.#error();
        const name = this.#scalar(quote) as string;
        if (this.#next() !== colon) throw this.#error();
        this.#at++;
        members.push([name, this.#value()]);
      } while (this.#goesOn(closeObject));
    if (!members.some(([name]) => name.includes('\\'))) return Object.fromEntries(members);
    // An object that is made without a prototype is a table of its own, also when it has one later. So V8 expects none of these names in another
    // object.
    const table = Object.create(null) as Record<string, unknown>;
    for (const [name, value] of members) table[name] = value;
    return Object.setPrototypeOf(table, Object.prototype) as object;
  }

  #array(): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    if (this.#next() === closeArray) this.#at++;
    else
      do items.push(this.#value());
      while (this.#goesOn(closeArray));
    return items;
  }

  /** Whether a comma follows; otherwise `close` does. */
  #goesOn(close: number): boolean {
    const next = this.#next();
    if (next !== comma && next !== close) throw this.#error();
    this.#at++;
    return next === comma;
  }

  #scalar(first: number): unknown {
    const start = this.#at;
    if (first === quote) this.#at = endOfString(this.#text, start);
    else while (this.#at < this.#text.length && !',]}: \n\r\t'.includes(this.#text.charAt(this.#at))) this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at));
  }

  /** The code of the next character that is no space. */
  #next(): number {
    this.#at = skipSpace(this.#text, this.#at);
    return this.#text.charCodeAt(this.#at);
  }

  #error(): SyntaxError {
    return new SyntaxError(`unexpected text at ${this.#at}`);
  }
}
