/** Reads one mapping of a configuration file strictly: each member by its type, and nothing that was not asked for. Knows no member's meaning. */

export interface TextShape {
  required?: boolean;
  pattern?: RegExp;
  /** What `pattern` asks for, as it goes after "must". */
  must?: string;
}

export class Members {
  readonly #values: Map<string, unknown>;
  readonly #asked: string[] = [];
  readonly #report: (problem: string) => void;
  readonly #readable: boolean;
  #where: string;

  /** `where` begins every problem, such as `issuer "corp"`; empty for the file itself. Anything but a mapping is reported at once. */
  constructor(value: unknown, where: string, report: (problem: string) => void) {
    this.#where = where;
    this.#report = report;
    this.#readable = typeof value === 'object' && value !== null && !Array.isArray(value);
    this.#values = new Map(this.#readable ? Object.entries(value as object) : []);
    if (!this.#readable) this.report('must be a mapping of names to values');
  }

  report(problem: string): void {
    if (!this.#readable && this.#asked.length > 0) return;
    this.#report(this.#where === '' ? problem : `${this.#where}: ${problem}`);
  }

  rename(where: string): void {
    this.#where = where;
  }

  text(name: string, { required = false, pattern, must = '' }: TextShape = {}): string | undefined {
    const value = this.#take(name, required);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || value === '')
      this.report(`${name} must be text${typeof value === 'number' ? ': put it in quotes' : ''}`);
    else if (pattern && !pattern.test(value)) this.report(`${name} must ${must}, not "${value}"`);
    else return value;
    return undefined;
  }

  /** False when it is not given. */
  flag(name: string): boolean {
    const value = this.#take(name, false);
    if (value !== undefined && typeof value !== 'boolean') this.report(`${name} must be true or false`);
    return value === true;
  }

  list(name: string): unknown[] | undefined {
    const value = this.#take(name, true);
    if (value === undefined || Array.isArray(value)) return value;
    this.report(`${name} must be a list`);
    return undefined;
  }

  texts(name: string, { required = false, minimum }: { required?: boolean; minimum: number }): string[] | undefined {
    const value = this.#take(name, required);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length >= minimum && value.every((item) => typeof item === 'string' && item !== '')) return value;
    this.report(`${name} must be a list of at least ${minimum} text`);
    return undefined;
  }

  /** One text, or a list of at least one, as a list; required. */
  textOrTexts(name: string): string[] | undefined {
    if (Array.isArray(this.#values.get(name))) return this.texts(name, { required: true, minimum: 1 });
    const text = this.text(name, { required: true });
    return text === undefined ? undefined : [text];
  }

  mapping(name: string, required = false): Members | undefined {
    const value = this.#take(name, required);
    return value === undefined ? undefined : new Members(value, this.#where === '' ? name : `${this.#where}: ${name}`, this.#report);
  }

  /** Of its members, in the order of the file. */
  names(): string[] {
    return [...this.#values.keys()];
  }

  /** Reports every member that nobody has asked for: a mistyped one would otherwise silently not count. */
  finish(): void {
    for (const name of this.#values.keys()) {
      if (!this.#asked.includes(name)) this.report(`${name} is not known here; known are ${this.#asked.toSorted().join(', ')}`);
    }
  }

  #take(name: string, required: boolean): unknown {
    this.#asked.push(name);
    const value = this.#values.get(name);
    if (value !== undefined && value !== null) return value;
    if (required || value === null) this.report(`${name} is ${value === null ? 'empty' : 'required'}`);
    return undefined;
  }
}
