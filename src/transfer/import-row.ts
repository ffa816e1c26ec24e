/** The rows of an import, whatever the format of the file. */
import { Problem } from '../errors.ts';
import type { Fault } from '../faults.ts';
import { findFault, largeJsonLimits } from '../http/json.ts';
import { parseJson } from '../parse-json.ts';

/** Of the fields of a row. An export may have more values than a body, since updates add to an entity. */
export const rowLimits = largeJsonLimits;

/** The fields of an entity, as parsed and as JSON text, or what is wrong with the row. */
export type ImportRow = { row: number } & ({ fields: object; text: string; problem?: never } | { problem: Problem });

/** The file cannot be read any further. */
export class UnreadableError extends Error {
  readonly row: number;
  readonly problem: Problem;

  constructor(row: number, problem: Problem) {
    super(problem.code);
    this.row = row;
    this.problem = problem;
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

export const tooLarge = (limit: number): Problem => new Problem('content-too-large', { values: { limit } });
