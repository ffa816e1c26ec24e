/** `entities import`: the rows of a file become entities. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { readServiceSecrets } from '../database/service-secrets.ts';
import { getNamedRow } from '../accounts/named-rows.ts';
import { administratorAs, originOf } from '../administration/entities.ts';
import type { ImportMode } from '../entities/writing/import-statements.ts';
import { entityLimitOf } from '../entities/entity-limits.ts';
import { uniqueBy } from '../entities/writing/upsert.ts';
import { faultText } from '../entity-types/files.ts';
import { TypeRegistry } from '../entity-types/registry.ts';
import { Problem } from '../problems/errors.ts';
import type { Fault } from '../problems/faults.ts';
import { translateProblem } from '../locales/describe.ts';
import { authorize } from '../rights/permit.ts';
import { readCsv } from '../transfer/csv-reader.ts';
import { importRows, type ImportState, type ImportRefusal } from '../transfer/import.ts';
import { isOtherDatabase } from '../transfer/database-name.ts';
import { readNdjson } from '../transfer/ndjson-reader.ts';
import { Cancellation } from './cancellation.ts';
import type { Admin } from './command.ts';
import { formatOf, type FileFormat } from './file-format.ts';
import { keyHeader, targetsOf, type Delimiter } from '../transfer/columns.ts';
import { printableText, Refusal, type CommandOutcome } from './output.ts';
import { FileProgress } from './progress.ts';

/** Characters of the name of a column in a message. */
const longestName = 100;

export interface ImportCommand {
  as: string;
  format?: FileFormat;
  by?: string;
  mode: ImportMode;
  dryRun?: true;
  fromRow: number;
  delimiter: Delimiter;
  csvSafe?: true;
  keepKeys?: true;
}

/** Prints each refused row. Throws 404 `not-found` without the user, and a `Refusal` if the file cannot be read or `--by` names no unique rule. */
export async function importFile(
  { desk, by: { actor }, config, store }: Admin,
  name: string,
  file: string,
  options: ImportCommand,
): Promise<CommandOutcome> {
  const principal = administratorAs((await getNamedRow(store.db, 'user', options.as)).name);
  const types = new TypeRegistry(store.db, config);
  const type = await types.find(name);
  const { by } = options;
  if (by !== undefined && by !== keyHeader) await assertRule(() => uniqueBy(type, by));
  const limitBytes = entityLimitOf(config);
  const total = file === '-' ? undefined : (await fileAt(file)).size;
  const progress = new FileProgress(desk.errors, 'rows', total);
  using cancellation = new Cancellation();
  const chunks = watched(file === '-' ? desk.input : createReadStream(file), progress, cancellation.signal);
  const targets = await targetsOf(type, types);
  const csvFormat = { delimiter: options.delimiter, type, targets, limitBytes, isSafe: options.csvSafe === true };
  const rows = formatOf(file, options.format) === 'csv' ? readCsv(chunks, csvFormat) : readNdjson(chunks, limitBytes);
  const secrets = await readServiceSecrets(store.db);
  const target = {
    ...options,
    store,
    types,
    name,
    limitBytes,
    by,
    isDryRun: options.dryRun === true,
    keepsKeys: options.keepKeys === true,
    isOtherDatabase: (database: string) => isOtherDatabase(database, secrets),
    origin: originOf(actor),
    permits: () => Promise.resolve({ create: authorize(principal, name, 'create'), update: authorize(principal, name, 'update') }),
  };
  try {
    for await (const report of importRows(target, rows)) {
      if ('problem' in report) {
        progress.writeLine(`${rowsOf(report)}: ${reasonOf(report.problem, report.columns)}`);
        continue;
      }
      progress.show(report.row);
      if (report.done || report.error !== undefined) return outcomeOf(report, options);
    }
    throw new Error('an import ends with a report');
  } finally {
    progress.end();
  }
}

async function assertRule(find: () => unknown): Promise<void> {
  try {
    find();
  } catch (error) {
    throw error instanceof Problem ? new Refusal(`--by: ${reasonOf(error)}`, 2) : error;
  }
}

async function fileAt(file: string) {
  return await stat(file).catch((error: unknown) => {
    throw new Refusal(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
}

const rowsOf = ({ row, toRow }: ImportRefusal): string => (toRow > row ? `rows ${row}–${toRow}` : `row ${row}`);

/** `columns` are the names of the header, for faults that have the position of a column alone. */
function reasonOf(problem: Problem, columns: readonly string[] = []): string {
  const faults = problem.faults.map((fault) => faultText({ ...fault, pointer: fault.pointer || columnOf(fault, columns) }));
  return printableText(faults.length > 0 ? faults.join('; ') : translateProblem('en', problem).detail);
}

function columnOf({ position }: Fault, columns: readonly string[]): string {
  if (position === undefined) return 'the row';
  const name = columns[position - 1] ?? '';
  return name === '' ? `column ${position}` : `column ${position} "${name.slice(0, longestName)}"`;
}

async function* watched(input: Readable, progress: FileProgress, signal: AbortSignal): AsyncGenerator<Buffer> {
  for await (const chunk of input as AsyncIterable<Buffer>) {
    if (signal.aborted) throw new Refusal('cancelled');
    progress.add(chunk.length);
    yield chunk;
  }
}

function outcomeOf(counts: ImportState, { by, dryRun }: ImportCommand): CommandOutcome {
  const { row, created, updated, unchanged, failed, removedFields, ignored, error, uncertainTo } = counts;
  const document = {
    row,
    created,
    updated,
    unchanged,
    failed,
    removedFields,
    ...(ignored.length > 0 && { ignored }),
    done: error === undefined,
    dryRun: dryRun === true,
    ...(uncertainTo !== undefined && { uncertainTo }),
  };
  const removed = removedFields > 0 ? ` Fields removed by updates: ${removedFields}.` : '';
  const text = `${dryRun ? 'Would have created' : 'Created'} ${created}, updated ${updated}, left ${unchanged} unchanged, refused ${failed}.${removed}`;
  const note = ignored.length > 0 ? { note: noteOf(ignored, by) } : {};
  if (error !== undefined) {
    const reason = error instanceof Problem ? reasonOf(error) : error instanceof Error ? error.message : 'unknown';
    return { document, text, ...note, failure: `the import ended after row ${row}: ${reason}. ${adviceOf(row, uncertainTo, by)}` };
  }
  return { document, text, ...note, ...(failed > 0 && { failure: failed === 1 ? '1 row was refused' : `${failed} rows were refused` }) };
}

function noteOf(ignored: readonly string[], by: string | undefined): string {
  const names = `ignored the columns ${ignored.join(', ')}`;
  const advice = `each row created an entity: --by '${keyHeader}' updates the entities with these keys`;
  return printableText(by === undefined && ignored.includes(keyHeader) ? `${names}; ${advice}` : names);
}

/** How to go on. Without `by`, rows that may have been written would be created once more. */
function adviceOf(row: number, uncertainTo: number | undefined, by: string | undefined): string {
  if (uncertainTo === undefined || by !== undefined) return `Go on with --from-row ${row + 1}`;
  return (
    `The rows ${row + 1} to ${uncertainTo} were written, or none of them was: look whether their entities exist. ` +
    `If so, go on with --from-row ${uncertainTo + 1}, otherwise with --from-row ${row + 1}`
  );
}
