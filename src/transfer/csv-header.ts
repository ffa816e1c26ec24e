/** The header of a CSV file, and how it makes the fields of an entity of a row. */
import { validationProblem } from '../entities/writing/rules.ts';
import { maximumFaults, type Fault } from '../problems/faults.ts';
import type { EntityType } from '../entity-types/types.ts';
import { isEnvelopeName, type Field } from '../filter/fields.ts';
import { findFault, jsonLimits } from '../json/json.ts';
import { memberTexts } from '../json/json-parts.ts';
import { placeOf, pointerTo } from '../problems/pointer.ts';
import { Pauses } from '../admission/turns.ts';
import type { Cell } from './csv-cells.ts';
import {
  columnOf,
  columnsOf,
  databaseHeader,
  delimiters,
  ignoredHeader,
  keyHeader,
  referenceDepth,
  restHeader,
  versionHeader,
  type CellKind,
  type Delimiter,
  type ReferenceTargets,
} from './columns.ts';
import { malformedRow, refusedRow, rowLimits, rowOfText, UnreadableError, type ImportRow } from './import-row.ts';
import { unescapedText } from './safe-texts.ts';

/** A member of an object: one of a cell, or an object. */
type ColumnBranch = { index: number; kind: CellKind } | Map<string, ColumnBranch>;

interface HeaderFormat {
  delimiter: Delimiter;
  type: EntityType | undefined;
  targets: ReferenceTargets;
  isSafe: boolean;
}

const numberText = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

export class CsvHeader {
  /** The names of the columns that count for nothing, in their order, each once. */
  readonly ignored: readonly string[];
  readonly #ignoredAt: ReadonlySet<number>;
  /** Up to the last column with a name. */
  readonly #length: number;
  readonly #root = new Map<string, ColumnBranch>();
  /** The objects of columns that name the target of a reference. */
  readonly #references = new Set<ReadonlyMap<string, ColumnBranch>>();
  readonly #nameless: readonly number[];
  readonly #database: string | undefined;
  /** The column with the members that no other column has; -1 without one, as for the next two. */
  readonly #restIndex: number;
  readonly #keyIndex: number;
  readonly #versionIndex: number;
  /** By the names of columns. */
  readonly #declared: ReadonlyMap<string, CellKind>;
  readonly #format: HeaderFormat;

  /**
   * Reads the header in this row. Throws {@link UnreadableError} for names that are repeated, or not those of fields, for a header with another delimiter, and for more
   * names than an entity has values. Columns without a name are accepted as long as their cells are empty.
   */
  static async read(row: number, cells: readonly Cell[], format: HeaderFormat): Promise<CsvHeader> {
    if (cells.length > jsonLimits.values)
      throw new UnreadableError(row, malformedRow({ pointer: '', code: 'too-many-values', values: { limit: jsonLimits.values } }));
    const written = cells.map((cell) => (format.isSafe ? unescapedText(cell ?? '') : (cell ?? '')));
    const databases = written.filter((name) => name.startsWith(databaseHeader));
    // This column has no cells.
    const names = written.map((name) => (name.startsWith(databaseHeader) ? '' : name));
    const header = new CsvHeader(names, databases[0]?.slice(databaseHeader.length), format);
    const faults: Fault[] = [];
    const pauses = new Pauses();
    for (const [index, name] of names.entries()) {
      await pauses.whenLong();
      const fault = header.#add(name, index, names);
      if (fault) faults.push(fault);
      if (faults.length === maximumFaults) break;
    }
    if (new Set(databases).size > 1) faults.push({ pointer: '', position: written.indexOf(databases.at(-1) ?? '') + 1, code: 'repeated' });
    if (faults.length > 0) throw new UnreadableError(row, validationProblem(faults.slice(0, maximumFaults)), names);
    return header;
  }

  private constructor(names: readonly string[], database: string | undefined, format: HeaderFormat) {
    this.#database = database;
    this.#format = format;
    this.#length = names.findLastIndex((name) => name !== '') + 1;
    this.#nameless = names.flatMap((name, index) => (name === '' ? [index] : []));
    this.#declared = new Map(columnsOf(format.type).map(({ field, kind }) => [field.join('.'), kind]));
    [this.#restIndex, this.#keyIndex, this.#versionIndex] = [
      names.indexOf(restHeader),
      names.indexOf(keyHeader),
      names.indexOf(versionHeader),
    ];
    const counted = new Set([this.#keyIndex, this.#versionIndex]);
    const isIgnored = (name: string, index: number) => name === ignoredHeader || (isEnvelopeName(name) && !counted.has(index));
    this.ignored = [...new Set(names.filter(isIgnored))];
    this.#ignoredAt = new Set(names.flatMap((name, index) => (isIgnored(name, index) ? [index] : [])));
  }

  /** Whether all cells of the row are empty, besides those of columns that count for nothing. */
  isBlank(cells: readonly Cell[]): boolean {
    return cells.every((cell, index) => cell === undefined || this.#ignoredAt.has(index));
  }

  /** The row with these cells. */
  row(row: number, cells: readonly Cell[]): ImportRow {
    const expected = { kind: 'value', values: { value: String(this.#length) } } as const;
    if (cells.length < this.#length) return refusedRow(row, { pointer: '', code: 'cell-count', expected });
    const nameless = this.#nameless.find((index) => cells[index] !== undefined);
    if (nameless !== undefined) return refusedRow(row, { pointer: '', position: nameless + 1, code: 'unnamed-column' });
    if (cells.length > this.#length && cells.slice(this.#length).some((cell) => cell !== undefined))
      return refusedRow(row, { pointer: '', code: 'cell-count', expected });
    const read = this.#fields(row, cells);
    if (read.problem) return read;
    const [key, version] = [cells[this.#keyIndex] ?? undefined, cells[this.#versionIndex] ?? undefined];
    return {
      ...read,
      key,
      version,
      database: this.#database,
      emptied: () => this.#emptied(cells, this.#root, restOf(cells[this.#restIndex])),
    };
  }

  #fields(row: number, cells: readonly Cell[]): ImportRow {
    const rest = cells[this.#restIndex];
    if (rest === undefined || rest === null) return rowOfText(row, this.#object(cells, this.#root, undefined) ?? '{}');
    const pointer = pointerTo([restHeader]);
    const fault = findFault(rest, rowLimits);
    if (fault) return refusedRow(row, { ...fault, pointer });
    if (!rest.trimStart().startsWith('{'))
      return refusedRow(row, { pointer, code: 'invalid-type', expected: { kind: 'value', values: { value: 'object' } } });
    return rowOfText(row, this.#object(cells, this.#root, memberTexts(rest)) ?? '{}');
  }

  #add(name: string, index: number, names: readonly string[]): Fault | undefined {
    if (name === '' || name === ignoredHeader) return undefined;
    if (name === restHeader && index === this.#restIndex) return undefined;
    const { type, targets } = this.#format;
    const position = index + 1;
    const place = placeOf([name], () => position);
    if (isEnvelopeName(name)) return names.indexOf(name) === index ? undefined : { ...place, code: 'repeated' };
    const field = name.split('.');
    if (field.includes('')) return { pointer: '', position, code: 'required' };
    // As texts in UTF-16 have it.
    if (name.includes('\0')) return { pointer: '', position, code: 'invalid-encoding' };
    if (field.length > jsonLimits.depth) return { pointer: '', position, code: 'too-deep', values: { limit: jsonLimits.depth } };
    const depth = referenceDepth(targets, field);
    const isUnknown = name.startsWith('$') || (type !== undefined && depth === 0 && type.fields.typeOf(field) === undefined);
    const other = isUnknown || this.#length === 1 ? this.#otherDelimiter(name) : undefined;
    if (other) return { pointer: '', position, code: 'other-delimiter', values: { delimiter: other } };
    const fieldPlace = placeOf(field, () => position);
    if (isUnknown) return { ...fieldPlace, code: 'unknown-field' };
    let members = this.#root;
    for (const [index, step] of field.slice(0, -1).entries()) {
      const branch = members.get(step) ?? new Map<string, ColumnBranch>();
      if (!(branch instanceof Map)) return { ...fieldPlace, code: 'conflicting' };
      members.set(step, branch);
      members = branch;
      if (index + 1 === depth) this.#references.add(branch);
    }
    const last = field.at(-1) ?? '';
    if (members.has(last)) return { ...fieldPlace, code: members.get(last) instanceof Map ? 'conflicting' : 'repeated' };
    members.set(last, { index, kind: depth > 0 ? this.#targetKind(field, depth) : (this.#declared.get(name) ?? 'text') });
    return undefined;
  }

  /** How a column below a reference has its value: as its target declares it. */
  #targetKind(field: Field, depth: number): CellKind {
    return columnOf(this.#format.targets.get(field.slice(0, depth).join('.')), field.slice(depth)).kind;
  }

  /** The delimiter that seems to be between the names in this one; undefined for a field that the type declares. */
  #otherDelimiter(name: string): Delimiter | undefined {
    if (this.#declared.has(name)) return undefined;
    return Object.entries(delimiters)
      .filter(([each]) => each !== this.#format.delimiter)
      .find(([, character]) => name.includes(character))?.[0] as Delimiter | undefined;
  }

  /** The JSON text of an object with the values of the cells, and the members of `rest`; undefined without any. */
  #object(cells: readonly Cell[], branches: ReadonlyMap<string, ColumnBranch>, rest: Map<string, string> | undefined): string | undefined {
    const members: string[] = [];
    for (const [name, branch] of branches) {
      const besides = rest?.get(name);
      const text =
        branch instanceof Map ? this.#inner(cells, branch, besides) : (this.#valueOf(cells[branch.index], branch.kind) ?? besides);
      if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
    }
    for (const [name, text] of rest ?? []) if (!branches.has(name)) members.push(`${JSON.stringify(name)}:${text}`);
    return members.length > 0 ? `{${members.join()}}` : undefined;
  }

  #inner(cells: readonly Cell[], branches: ReadonlyMap<string, ColumnBranch>, rest: string | undefined): string | undefined {
    return this.#object(cells, branches, restOf(rest)) ?? rest;
  }

  /**
   * The JSON text of an object with null at each field whose cell is empty, and that `rest` does not have; undefined without any. A reference is empty if all columns
   * that name its target are.
   */
  #emptied(cells: readonly Cell[], branches: ReadonlyMap<string, ColumnBranch>, rest: Map<string, string> | undefined): string | undefined {
    const members: string[] = [];
    for (const [name, branch] of branches) {
      const besides = rest?.get(name);
      const isObject = branch instanceof Map && !this.#references.has(branch);
      const isEmptied = !isObject && besides === undefined && isEmpty(cells, branch);
      const text = isObject ? this.#emptied(cells, branch, restOf(besides)) : isEmptied ? 'null' : undefined;
      if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
    }
    return members.length > 0 ? `{${members.join()}}` : undefined;
  }

  /** The JSON text of a cell. A cell that is not of the kind is a text, which the type then refuses. */
  #valueOf(cell: Cell, kind: CellKind): string | undefined {
    if (cell === undefined) return undefined;
    if (cell === null) return 'null';
    switch (kind) {
      case 'text':
      case 'decimal':
        return JSON.stringify(this.#format.isSafe ? unescapedText(cell) : cell);
      case 'number':
        return numberText.test(cell) ? cell : JSON.stringify(cell);
      case 'boolean':
        return /^(true|false)$/i.test(cell) ? cell.toLowerCase() : JSON.stringify(cell);
      case 'json':
        return findFault(cell, rowLimits)?.code === 'invalid-json' ? JSON.stringify(cell) : cell;
    }
  }
}

function isEmpty(cells: readonly Cell[], branch: ColumnBranch): boolean {
  return branch instanceof Map ? [...branch.values()].every((each) => isEmpty(cells, each)) : cells[branch.index] === undefined;
}

/** The members of a JSON object; undefined for any other value. */
function restOf(rest: Cell): Map<string, string> | undefined {
  return typeof rest === 'string' && rest.trimStart().startsWith('{') ? memberTexts(rest) : undefined;
}
