/** The header of a CSV file, and how it makes the fields of an entity of a row. */
import { Problem } from '../errors.ts';
import { maximumFaults, type Fault } from '../faults.ts';
import type { EntityType } from '../entity-types/types.ts';
import { isEnvelopeName } from '../filter/fields.ts';
import { findFault, jsonLimits } from '../http/json.ts';
import { memberTexts } from '../http/json-parts.ts';
import { placeOf, pointerTo } from '../http/pointer.ts';
import { columnsOf, restHeader, type CellKind } from './columns.ts';
import { malformedRow, refusedRow, rowLimits, rowOfText, UnreadableError, type ImportRow } from './import-row.ts';

/** Undefined for a missing value. */
export type Cell = string | null | undefined;

/** A member of an object: one of a cell, or an object. */
type ColumnBranch = { index: number; kind: CellKind } | Map<string, ColumnBranch>;

const numberText = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

export class CsvHeader {
  readonly length: number;
  readonly #root = new Map<string, ColumnBranch>();
  /** The column with the members that no other column has; -1 without one. */
  readonly #restIndex: number;
  /** By the names of columns. */
  readonly #declared: ReadonlyMap<string, CellKind>;

  /**
   * Throws {@link UnreadableError} for names that are empty, repeated, or not those of fields, and for more names than an entity has values. Columns of the
   * envelope are ignored.
   */
  constructor(names: readonly Cell[], type: EntityType | undefined) {
    if (names.length > jsonLimits.values)
      throw new UnreadableError(1, malformedRow({ pointer: '', code: 'too-many-values', values: { limit: jsonLimits.values } }));
    this.length = names.length;
    this.#declared = new Map(columnsOf(type).map(({ field, kind }) => [field.join('.'), kind]));
    this.#restIndex = names.indexOf(restHeader);
    const faults = names.flatMap((name, index) => this.#add(name ?? '', index, type) ?? []);
    if (faults.length > 0) throw new UnreadableError(1, new Problem('validation-failed', { faults: faults.slice(0, maximumFaults) }));
  }

  /** The row with these cells, as many as the header has. */
  row(row: number, cells: readonly Cell[]): ImportRow {
    const rest = cells[this.#restIndex];
    if (rest === undefined || rest === null) return rowOfText(row, this.#object(cells, this.#root, undefined) ?? '{}');
    const pointer = pointerTo([restHeader]);
    const fault = findFault(rest, rowLimits);
    if (fault) return refusedRow(row, { ...fault, pointer });
    if (!rest.trimStart().startsWith('{'))
      return refusedRow(row, { pointer, code: 'invalid-type', expected: { kind: 'value', values: { value: 'object' } } });
    return rowOfText(row, this.#object(cells, this.#root, memberTexts(rest)) ?? '{}');
  }

  #add(name: string, index: number, type: EntityType | undefined): Fault | undefined {
    if (name === restHeader && index === this.#restIndex) return undefined;
    if (isEnvelopeName(name)) return undefined;
    const field = name.split('.');
    const position = index + 1;
    if (name === '' || field.includes('')) return { pointer: '', position, code: 'required' };
    // As texts in UTF-16 have it.
    if (name.includes('\0')) return { pointer: '', position, code: 'invalid-encoding' };
    if (field.length > jsonLimits.depth) return { pointer: '', position, code: 'too-deep', values: { limit: jsonLimits.depth } };
    const place = placeOf(field, () => position);
    if (name.startsWith('$')) return { ...place, code: 'unknown-field' };
    if (type && type.fields.typeOf(field) === undefined) return { ...place, code: 'unknown-field' };
    let members = this.#root;
    for (const step of field.slice(0, -1)) {
      const branch = members.get(step) ?? new Map<string, ColumnBranch>();
      if (!(branch instanceof Map)) return { ...place, code: 'conflicting' };
      members.set(step, branch);
      members = branch;
    }
    const last = field.at(-1) ?? '';
    if (members.has(last)) return { ...place, code: members.get(last) instanceof Map ? 'conflicting' : 'repeated' };
    members.set(last, { index, kind: this.#declared.get(name) ?? 'text' });
    return undefined;
  }

  /** The JSON text of an object with the values of the cells, and the members of `rest`; undefined without any. */
  #object(cells: readonly Cell[], branches: ReadonlyMap<string, ColumnBranch>, rest: Map<string, string> | undefined): string | undefined {
    const members: string[] = [];
    for (const [name, branch] of branches) {
      const besides = rest?.get(name);
      const text = branch instanceof Map ? this.#inner(cells, branch, besides) : (valueOf(cells[branch.index], branch.kind) ?? besides);
      if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
    }
    for (const [name, text] of rest ?? []) if (!branches.has(name)) members.push(`${JSON.stringify(name)}:${text}`);
    return members.length > 0 ? `{${members.join()}}` : undefined;
  }

  #inner(cells: readonly Cell[], branches: ReadonlyMap<string, ColumnBranch>, rest: string | undefined): string | undefined {
    const inner = rest?.startsWith('{') ? memberTexts(rest) : undefined;
    return this.#object(cells, branches, inner) ?? rest;
  }
}

/** The JSON text of a cell. What is not of the kind is a text, which the type then refuses. */
function valueOf(cell: Cell, kind: CellKind): string | undefined {
  if (cell === undefined) return undefined;
  if (cell === null) return 'null';
  switch (kind) {
    case 'text':
      return JSON.stringify(cell);
    case 'number':
      return numberText.test(cell) ? cell : JSON.stringify(cell);
    case 'boolean':
      return /^(true|false)$/i.test(cell) ? cell.toLowerCase() : JSON.stringify(cell);
    case 'json':
      return findFault(cell, rowLimits)?.code === 'invalid-json' ? JSON.stringify(cell) : cell;
  }
}
