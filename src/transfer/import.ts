/** Writes the rows of an import, and reports on them while they are read. It knows nothing of HTTP, so the command line imports in the same way. */
import { Problem } from '../problems/errors.ts';
import { UnreadableError, type ImportRow, type ImportRows } from './import-row.ts';
import { ImportWork, type ImportTarget } from './import-work.ts';
import { Refusals, type RefusedRows } from './refusals.ts';

/** The rows of a transaction. */
const portionRows = 500;
const portionCharacters = 1_000_000;

/** The work that is done so far. */
export interface ImportCounts {
  /** The last row whose outcome is known. */
  row: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  /** The members of objects, outside of arrays, that updates have removed. */
  removedFields: number;
  /** The names of the columns that count for nothing; for NDJSON those of the members around the fields. */
  ignored: readonly string[];
}

/** The counts, and how far the import has come. */
export interface ImportState extends ImportCounts {
  done: boolean;
  /** Why the import ends before the end of the file. */
  error?: unknown;
  /** The last row that may have been written or not: the outcome of its transaction is unknown. */
  uncertainTo?: number;
}

/** Rows that were not written, with the names of the columns if the header is at fault. */
export interface ImportRefusal extends RefusedRows {
  columns?: readonly string[] | undefined;
}

/** Rows that were not written, or the counts after a portion. */
export type ImportReport = ImportRefusal | ImportState;

/** Imports the rows. Throws nothing: the last report says why an import ended early. */
export async function* importRows(target: ImportTarget, rows: ImportRows): AsyncGenerator<ImportReport> {
  const counts = { row: 0, created: 0, updated: 0, unchanged: 0, failed: 0, removedFields: 0 };
  const refusals = new Refusals();
  const work = new ImportWork(target);
  const progress = (): ImportCounts => ({ ...counts, ignored: [...rows.ignored(), ...work.ignored] });
  const portions = portionsOf(rows.batches, target.fromRow);
  let reading = readNext(portions);
  let last = 0;
  try {
    for (;;) {
      const read = await reading;
      if (read.error !== undefined) throw read.error;
      if (!read.rows) break;
      // The next portion is read while this one is written.
      reading = readNext(portions);
      for (let left = read.rows; left.length > 0;) {
        last = left.at(-1)?.row ?? last;
        const { refused, rest, ...done } = await work.write(left);
        last = left.at(-rest.length - 1)?.row ?? last;
        left = rest;
        yield* refusals.add(refused);
        counts.created += done.created;
        counts.updated += done.updated;
        counts.unchanged += done.unchanged;
        counts.removedFields += done.removedFields;
        counts.failed += refused.length;
        counts.row = last;
        yield* refusals.endBefore(last);
        yield { done: false, ...progress() };
        work.requireRoom();
        const limit = refusals.exceeded;
        if (limit !== undefined) throw new Problem('too-many-refusals', { values: { limit } });
      }
    }
    yield* refusals.end();
    yield { done: true, ...progress() };
  } catch (error) {
    yield* refusals.end();
    if (error instanceof UnreadableError) {
      yield { row: error.row, toRow: error.row, problem: error.problem, columns: error.columns };
      yield { done: false, ...progress(), failed: counts.failed + 1, error: error.problem };
    } else {
      const isUncertain = error instanceof Problem && error.code === 'outcome-unknown';
      yield { done: false, ...progress(), error, ...(isUncertain && { uncertainTo: last }) };
    }
  } finally {
    await portions.return(undefined);
  }
}

interface Read {
  rows?: readonly ImportRow[] | undefined;
  error?: unknown;
}

/** The next portion. It does not reject, because it may fail while the portion before is written. */
async function readNext(portions: AsyncGenerator<readonly ImportRow[]>): Promise<Read> {
  try {
    const { value, done } = await portions.next();
    return done ? {} : { rows: value };
  } catch (error) {
    return { error };
  }
}

/** The rows in portions. Those that were read before a failure come first. */
async function* portionsOf(batches: AsyncIterable<readonly ImportRow[]>, fromRow: number): AsyncGenerator<readonly ImportRow[]> {
  let portion: ImportRow[] = [];
  let characters = 0;
  let failure: { error: unknown } | undefined;
  const source = batches[Symbol.asyncIterator]();
  try {
    for (;;) {
      const read = await source.next().catch((error: unknown) => ({ error }));
      if ('error' in read) failure = read;
      if ('error' in read || read.done) break;
      for (const row of read.value) {
        if (row.row < fromRow) continue;
        portion.push(row);
        characters += row.problem ? 0 : row.text.length;
        if (portion.length < portionRows && characters < portionCharacters) continue;
        yield portion;
        portion = [];
        characters = 0;
      }
    }
    if (portion.length > 0) yield portion;
    if (failure) throw failure.error;
  } finally {
    await source.return?.();
  }
}
