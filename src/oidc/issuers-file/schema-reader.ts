/** Reads one mapping of a configuration file strictly: each member by its type, and nothing that was not asked for. Knows no member's meaning. */
import { isMap, isScalar, isSeq } from 'yaml';
import type { LocatedFile } from './positions.ts';

export interface TextShape {
  required?: boolean;
  pattern?: RegExp;
  /** What `pattern` asks for, as it goes after "must". */
  must?: string;
}

interface Member {
  key: unknown;
  node: unknown;
  value: unknown;
}

export class SchemaReader {
  readonly #file: LocatedFile;
  readonly #node: unknown;
  readonly #members = new Map<string, Member>();
  readonly #asked: string[] = [];
  readonly #readable: boolean;
  #where: string;

  /** `where` begins every problem, such as `issuer "corp"`; empty for the file itself. Anything but a mapping is reported at once. */
  constructor(file: LocatedFile, node: unknown, where: string) {
    this.#file = file;
    this.#node = node;
    this.#where = where;
    const mapping = file.resolve(node);
    this.#readable = isMap(mapping);
    for (const { key, value } of isMap(mapping) ? mapping.items : []) {
      const name = isScalar(key) ? String(key.value) : String(key);
      this.#members.set(name, { key, node: value, value: file.value(value) ?? null });
    }
    if (!this.#readable) this.report('must be a mapping of names to values');
  }

  /** Tells of a problem with the whole mapping, with the member called `name`, or with one item of the list that it is. */
  report(problem: string, name?: string, index?: number): void {
    if (!this.#readable && this.#asked.length > 0) return;
    const member = name === undefined ? undefined : this.#members.get(name);
    const list = this.#file.resolve(member?.node);
    const item = index !== undefined && isSeq(list) ? list.items[index] : undefined;
    const place = member?.value === null ? member.key : (item ?? member?.node ?? this.#node);
    this.#file.report(this.#where === '' ? problem : `${this.#where}: ${problem}`, place);
  }

  rename(where: string): void {
    this.#where = where;
  }

  text(name: string, { required = false, pattern, must = '' }: TextShape = {}): string | undefined {
    const value = this.#take(name, required);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || value === '')
      this.report(`${name} must be text${typeof value === 'number' ? ': put it in quotes' : ''}`, name);
    else if (pattern && !pattern.test(value)) this.report(`${name} must ${must}, not "${value}"`, name);
    else return value;
    return undefined;
  }

  /** False when it is not given. */
  flag(name: string): boolean {
    const value = this.#take(name, false);
    if (value !== undefined && typeof value !== 'boolean') this.report(`${name} must be true or false`, name);
    return value === true;
  }

  /** The items of a list, for Members to be made of; required. */
  list(name: string): unknown[] | undefined {
    const value = this.#take(name, true);
    if (value === undefined) return undefined;
    const list = this.#file.resolve(this.#members.get(name)?.node);
    if (isSeq(list)) return list.items;
    this.report(`${name} must be a list`, name);
    return undefined;
  }

  texts(name: string, { required = false, minimum }: { required?: boolean; minimum: number }): string[] | undefined {
    const value = this.#take(name, required);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length >= minimum && value.every((item) => typeof item === 'string' && item !== '')) return value;
    this.report(`${name} must be a list of at least ${minimum} text`, name);
    return undefined;
  }

  /** One text, or a list of at least one, as a list; required. */
  textOrTexts(name: string): string[] | undefined {
    if (Array.isArray(this.#members.get(name)?.value)) return this.texts(name, { required: true, minimum: 1 });
    const text = this.text(name, { required: true });
    return text === undefined ? undefined : [text];
  }

  mapping(name: string, required = false): SchemaReader | undefined {
    if (this.#take(name, required) === undefined) return undefined;
    return new SchemaReader(this.#file, this.#members.get(name)?.node, this.#where === '' ? name : `${this.#where}: ${name}`);
  }

  /** Of its members, in the order of the file. */
  names(): string[] {
    return [...this.#members.keys()];
  }

  /** Reports every member that nobody has asked for: a mistyped one would otherwise silently not count. */
  finish(): void {
    for (const [name, { key }] of this.#members) {
      if (this.#asked.includes(name)) continue;
      const problem = `${name} is not known here; known are ${this.#asked.toSorted().join(', ')}`;
      this.#file.report(this.#where === '' ? problem : `${this.#where}: ${problem}`, key);
    }
  }

  #take(name: string, required: boolean): unknown {
    this.#asked.push(name);
    const value = this.#members.get(name)?.value;
    if (value !== undefined && value !== null) return value;
    if (required || value === null) this.report(`${name} is ${value === null ? 'empty' : 'required'}`, name);
    return undefined;
  }
}
