/**
 * Reads one mapping of a configuration file strictly: checks the type of each member and reports members that were not read. It does not
 * know the meaning of any member.
 */
import { isMap, isScalar, isSeq } from 'yaml';
import type { LocatedFile } from './positions.ts';

export interface TextShape {
  required?: boolean;
  pattern?: RegExp;
  /** Describes `pattern` in a problem, after the word "must". */
  must?: string;
}

interface SchemaMember {
  key: unknown;
  node: unknown;
  value: unknown;
}

export class SchemaReader {
  readonly #file: LocatedFile;
  readonly #node: unknown;
  readonly #members = new Map<string, SchemaMember>();
  readonly #asked: string[] = [];
  readonly #readable: boolean;
  #where: string;

  /** `where` begins every problem, such as `issuer "corp"`; empty for the file itself. A node that is no mapping is reported at once. */
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

  /** Reports a problem of the whole mapping, of the member called `name`, or of one item of that member's list. */
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

  /** False if the member is missing. */
  flag(name: string): boolean {
    const value = this.#take(name, false);
    if (value !== undefined && typeof value !== 'boolean') this.report(`${name} must be true or false`, name);
    return value === true;
  }

  /** The items of a required list. */
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

  /** A required text or list of at least one text, as a list. */
  textOrTexts(name: string): string[] | undefined {
    if (Array.isArray(this.#members.get(name)?.value)) return this.texts(name, { required: true, minimum: 1 });
    const text = this.text(name, { required: true });
    return text === undefined ? undefined : [text];
  }

  mapping(name: string, required = false): SchemaReader | undefined {
    if (this.#take(name, required) === undefined) return undefined;
    return new SchemaReader(this.#file, this.#members.get(name)?.node, this.#where === '' ? name : `${this.#where}: ${name}`);
  }

  /** The names of the members, in the order of the file. */
  names(): string[] {
    return [...this.#members.keys()];
  }

  /** Reports every member that was not read, because a mistyped member would otherwise be ignored silently. */
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
