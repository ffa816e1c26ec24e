/** The rows of an import, whatever the format of the file. */
import { Problem } from '../problems/errors.ts';
import type { Fault } from '../problems/faults.ts';
import { findFault, largeJsonLimits } from '../json/json.ts';
import { parseJson } from '../json/parse-json.ts';

/** Of the fields of a row. An export may have more values than a body, since updates add to an entity. */
export const rowLimits = largeJsonLimits;

/** The fields of an entity and what else the file says of it. */
export interface ReadRow {
  row: number;
  /** As parsed. */
  fields: object;
  /** As JSON text. */
  text: string;
  /** The key of the entity; undefined where the file has none. */
  key?: string | undefined;
  /** The version of the entity that was exported; undefined where the file has none. */
  version?: string | undefined;
  /** The name of the database that has exported the file; undefined where the file has none. */
  database?: string | undefined;
  /** Whether the row is an entity as an export writes it, so that its author has not asked for the version to count. */
  isExported?: boolean;
  /** JSON text of an object with null at each field that the file has as an empty cell; undefined where there is none. */
  emptied?: () => string | undefined;
  problem?: never;
}

/** A row, or what is wrong with it. */
export type ImportRow = ReadRow | { row: number; problem: Problem };

/** The rows of a file. */
export interface ImportRows {
  batches: AsyncIterable<readonly ImportRow[]>;
  /** The names of the columns read so far that count for nothing. */
  ignored: () => readonly string[];
}

/** The file cannot be read any further. */
export class UnreadableError extends Error {
  readonly row: number;
  readonly problem: Problem;
  /** The names of the columns, if the header is at fault. */
  readonly columns: readonly string[] | undefined;

  constructor(row: number, problem: Problem, columns?: readonly string[]) {
    super(problem.code);
    this.row = row;
    this.problem = problem;
    this.columns = columns;
  }
}

/** The row with these fields, a JSON text. */
export function rowOfText(row: number, text: string): ImportRow {
  const fault = findFault(text, rowLimits);
  return fault ? refusedRow(row, fault) : { row, fields: parseJson(text) as object, text };
}

export function refusedRow(row: number, fault: Fault): ImportRow {
  return { row, problem: malformedRow(fault) };
}

export const malformedRow = (fault: Fault): Problem => new Problem('malformed-request', { faults: [fault] });
