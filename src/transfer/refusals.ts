/** The refused rows of an import as runs: rows in a row that are refused for the same reason are one. */
import type { RefusedRow } from '../entities/writing/import-rows.ts';
import type { Problem } from '../problems/errors.ts';

/** The most runs and rows that an import refuses before it ends, after the transaction that has the last of them. */
const maximumRuns = 1_000;
const maximumRows = 100_000;

/** The rows from `row` to `toRow`, none of which was written. */
export interface RefusedRows extends RefusedRow {
  toRow: number;
}

export class Refusals {
  #open: (RefusedRows & { reason: string }) | undefined;
  #runs = 0;
  #rows = 0;

  /** The limit that the refusals are beyond; undefined for none. */
  get exceeded(): number | undefined {
    if (this.#runs > maximumRuns) return maximumRuns;
    return this.#rows > maximumRows ? maximumRows : undefined;
  }

  /** Adds rows in their order, and returns the runs that have ended. */
  add(refused: readonly RefusedRow[]): RefusedRows[] {
    const ended: RefusedRows[] = [];
    for (const { row, problem, duplicateOf } of refused) {
      const reason = reasonOf(problem);
      this.#rows += 1;
      if (this.#open?.toRow === row - 1 && this.#open.reason === reason) {
        this.#open.toRow = row;
        continue;
      }
      ended.push(...this.end());
      this.#runs += 1;
      this.#open = { row, toRow: row, problem, duplicateOf, reason };
    }
    return ended;
  }

  /** The run that had not ended, if it ends before this row. */
  endBefore(row: number): RefusedRows[] {
    return this.#open && this.#open.toRow < row ? this.end() : [];
  }

  /** The run that had not ended. */
  end(): RefusedRows[] {
    const open = this.#open;
    this.#open = undefined;
    return open ? [{ row: open.row, toRow: open.toRow, problem: open.problem, duplicateOf: open.duplicateOf }] : [];
  }
}

const reasonOf = ({ code, faults, values }: Problem): string => JSON.stringify([code, faults, values]);
