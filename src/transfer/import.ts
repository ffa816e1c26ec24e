/** Writes the rows of an import, and reports on them while they are read. It knows nothing of HTTP, so the command line imports in the same way. */
import type { Origin } from '../audit/store.ts';
import { writePortion, type PortionRequest, type PortionRow } from '../entities/bulk/import-portion.ts';
import type { ImportMode } from '../entities/bulk/import-statements.ts';
import { checkedBy } from '../entities/store.ts';
import { requireStoredSize } from '../entities/stored-size.ts';
import { whileTypeIsCurrent } from '../entities/type-guard.ts';
import { requireValuesOf, uniqueBy } from '../entities/upsert.ts';
import type { Store } from '../database/port.ts';
import type { EntityType, EntityTypes } from '../entity-types/types.ts';
import { Problem } from '../errors.ts';
import { Pauses } from '../http/turns.ts';
import type { Permit } from '../rights/permit.ts';
import { UnreadableError, type ImportRow } from './import-row.ts';

/** The rows of a transaction. */
const portionRows = 500;
const portionCharacters = 1_000_000;

export interface ImportPermits {
  create: Permit<'create'>;
  /** With `by` alone. */
  update: Permit<'update'> | undefined;
}

export interface ImportOptions {
  /** The fields of a unique rule, with commas between; undefined to create an entity of each row. */
  by: string | undefined;
  mode: ImportMode;
  isDryRun: boolean;
  /** Rows before this one are skipped. */
  fromRow: number;
}

export interface ImportTarget extends ImportOptions {
  store: Store;
  types: EntityTypes;
  name: string;
  origin: Origin;
  /** The permits as they are now; called before each portion. Throws when the import has to end. */
  permits: () => Promise<ImportPermits>;
  /** Bytes of the fields of an entity. */
  limitBytes: number;
}

/** What has been done so far. */
export interface ImportCounts {
  /** The last row whose outcome is known. */
  row: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
}

/** The counts, and how far the import has come. */
export interface ImportProgress extends ImportCounts {
  done: boolean;
  /** Why the import ends before the end of the file. */
  error?: unknown;
  /** The last row that may have been written or not: the outcome of its transaction is unknown. */
  uncertainTo?: number;
}

/** A row that was not written, or the counts after a portion. */
export type ImportReport = { row: number; problem: Problem } | ImportProgress;

/** Imports the rows. Throws nothing: the last report says why an import ended early. */
export async function* importRows(target: ImportTarget, batches: AsyncIterable<readonly ImportRow[]>): AsyncGenerator<ImportReport> {
  const counts: ImportCounts = { row: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
  const portions = portionsOf(batches, target.fromRow);
  let reading = readNext(portions);
  let last = 0;
  try {
    for (;;) {
      const read = await reading;
      if (read.error !== undefined) throw read.error;
      if (!read.rows) break;
      // The next portion is read while this one is written.
      reading = readNext(portions);
      last = read.rows.at(-1)?.row ?? last;
      const { refused, ...done } = await writeRows(target, read.rows);
      for (const { row, problem } of refused) yield { row, problem };
      counts.created += done.created;
      counts.updated += done.updated;
      counts.unchanged += done.unchanged;
      counts.failed += refused.length;
      counts.row = last;
      yield { done: false, ...counts };
    }
    yield { done: true, ...counts };
  } catch (error) {
    if (error instanceof UnreadableError) {
      yield { row: error.row, problem: error.problem };
      yield { done: false, ...counts, failed: counts.failed + 1, error: error.problem };
    } else {
      const isUncertain = error instanceof Problem && error.code === 'outcome-unknown';
      yield { done: false, ...counts, error, ...(isUncertain && { uncertainTo: last }) };
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

async function writeRows(target: ImportTarget, rows: readonly ImportRow[]) {
  const permits = await target.permits();
  return await whileTypeIsCurrent(target.types, target.name, async (type) => {
    const by = ruleOf(target, permits, type);
    const refused: { row: number; problem: Problem }[] = [];
    const accepted: PortionRow[] = [];
    const pauses = new Pauses();
    for (const row of rows) {
      await pauses.whenLong();
      const checked = row.problem ?? checkRow(row, type, by, target.limitBytes);
      if (checked instanceof Problem) refused.push({ row: row.row, problem: checked });
      else accepted.push(checked);
    }
    const { create } = permits;
    const request = { type, origin: target.origin, create, by, isDryRun: target.isDryRun, limitBytes: target.limitBytes };
    const written = await writePortion(target.store, request, accepted);
    return written && { ...written, refused: [...refused, ...written.refused].toSorted((one, other) => one.row - other.row) };
  });
}

function ruleOf({ by, mode }: ImportOptions, { update }: ImportPermits, type: EntityType | undefined): PortionRequest['by'] {
  return by === undefined || !update ? undefined : { ...uniqueBy(type, by), mode, update };
}

/** The row for the statement, or why the type refuses it. */
function checkRow(
  { row, fields, text }: Extract<ImportRow, { text: string }>,
  type: EntityType | undefined,
  by: PortionRequest['by'],
  limitBytes: number,
): PortionRow | Problem {
  try {
    requireStoredSize(text, limitBytes);
    // Fields to merge are checked when they are merged.
    if (by?.mode !== 'merge') type?.check(fields);
    const checked = checkedBy(type, fields);
    if (by) requireValuesOf(by.companion, by.unique, checked.companion?.values ?? {}, fields);
    return { row, fields, text, ...checked };
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
