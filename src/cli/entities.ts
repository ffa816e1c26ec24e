/** `entities …`: files of all entities of a name, into the database and out of it. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { findAccount } from '../accounts/users.ts';
import { recordChange } from '../administration/actor.ts';
import { administratorAs, originOf } from '../administration/entities.ts';
import { assertNewFile, writeNewFile } from '../database/transfer/backup-file.ts';
import { entityLimitOf } from '../entities/entity-limits.ts';
import type { ImportMode } from '../entities/bulk/import-statements.ts';
import { countEntities } from '../entities/scan.ts';
import { readListQuery } from '../entities/lists/list-request.ts';
import { scopeFor } from '../entities/lists/match.ts';
import { uniqueBy } from '../entities/upsert.ts';
import { faultText } from '../entity-types/files.ts';
import { TypeRegistry } from '../entity-types/registry.ts';
import { Problem } from '../errors.ts';
import { translateProblem } from '../locales/describe.ts';
import { authorize } from '../rights/permit.ts';
import { columnOf, columnsOf } from '../transfer/columns.ts';
import { readCsv } from '../transfer/csv-reader.ts';
import { CsvWriter } from '../transfer/csv-writer.ts';
import { asCsv, asNdjson, exportedParts, type ExportedPart } from '../transfer/export.ts';
import { importRows, type ImportProgress } from '../transfer/import.ts';
import { readNdjson } from '../transfer/ndjson-reader.ts';
import { typeName, userName } from './arguments.ts';
import { addGroup, addCommand, onDatabase, onReaders, type Admin, type Desk, type Shown } from './command.ts';
import { printable, Refusal, type CommandOutcome } from './output.ts';
import { FileProgress } from './progress.ts';

const delimiters = { comma: ',', semicolon: ';', tab: '\t' } as const;

interface ImportCommand {
  as: string;
  format?: 'ndjson' | 'csv';
  by?: string;
  mode: ImportMode;
  dryRun?: true;
  fromRow: number;
  delimiter: keyof typeof delimiters;
}

interface ExportCommand {
  format?: 'ndjson' | 'csv';
  csvSafe?: true;
  filter?: string;
  fields?: string;
}

export function entityCommands(program: Command, desk: Desk): void {
  const entities = addGroup(program, 'entities', 'entities: files of all of a name', [
    'entities import customer customers.csv --as ada --by email --dry-run',
    'entities export customer customers.ndjson',
  ]);
  const format = () => new Option('--format <format>', 'ndjson or csv (default: by the end of the file name)').choices(['ndjson', 'csv']);
  addCommand(entities, 'import', 'create or update an entity of each row of a file; exit code 1: a row was refused', [
    'entities import customer customers.csv --as ada --by email',
    'entities import customer - --as ada < customers.ndjson',
  ])
    .argument('<name>', 'the name of the entities', typeName)
    .argument('<file>', 'the file, or - for standard input')
    .requiredOption('--as <user>', 'the user who has created and updated the entities', userName)
    .addOption(format())
    .option('--by <fields>', 'fields of a unique rule, with commas between: update the entities with the same values')
    .addOption(new Option('--mode <mode>', 'replace all fields, or merge').choices(['replace', 'merge']).default('replace'))
    .option('--dry-run', 'write nothing')
    .option('--from-row <row>', 'the first row that counts', rowNumber, 1)
    .addOption(new Option('--delimiter <name>', 'between the cells of CSV').choices(Object.keys(delimiters)).default('comma'))
    .action((name: string, file: string, options: Shown & ImportCommand) =>
      onDatabase(desk, options, (admin) => importFile(admin, name, file, options)),
    );
  addCommand(entities, 'export', 'write the entities of a name into a file', [
    'entities export customer customers.csv',
    `entities export customer - --fields company,city --filter '{"city":"London"}' | head`,
  ])
    .argument('<name>', 'the name of the entities', typeName)
    .argument('<file>', 'the file, which must not exist, or - for standard output')
    .addOption(format())
    .option('--filter <json>', 'which entities, as docs/filters.md has it (default: all)')
    .option('--fields <names>', 'the fields to write, with commas between and dots into objects (default: all)')
    .option('--csv-safe', 'put an apostrophe in front of texts that a spreadsheet would take for formulas')
    .action((name: string, file: string, options: Shown & ExportCommand) =>
      onDatabase(desk, options, (admin) => exportFile(admin, name, file, options)),
    );
}

function rowNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give the number of a row, from 1.');
  return Number(text);
}

const formatOf = (file: string, format: 'ndjson' | 'csv' | undefined) => format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson');

async function importFile(
  { desk, actor, config, store }: Admin,
  name: string,
  file: string,
  options: ImportCommand,
): Promise<CommandOutcome> {
  const account = await findAccount(store.db, options.as);
  if (!account) throw new Refusal(`there is no user called "${printable(options.as)}"`);
  const principal = administratorAs(account.name);
  const types = new TypeRegistry(store.db, config);
  const type = await types.find(name);
  const { by } = options;
  if (by !== undefined) await assertRule(() => uniqueBy(type, by));
  const limitBytes = entityLimitOf(config);
  const total = file === '-' ? undefined : (await fileAt(file)).size;
  const progress = new FileProgress(desk.errors, 'rows', total);
  const cancellation = new AbortController();
  const chunks = watched(file === '-' ? desk.input : createReadStream(file), progress, cancellation.signal);
  const delimiter = delimiters[options.delimiter];
  const rows = formatOf(file, options.format) === 'csv' ? readCsv(chunks, { delimiter, type, limitBytes }) : readNdjson(chunks, limitBytes);
  const target = {
    ...options,
    store,
    types,
    name,
    limitBytes,
    by,
    isDryRun: options.dryRun === true,
    origin: originOf(actor),
    permits: () => Promise.resolve({ create: authorize(principal, name, 'create'), update: authorize(principal, name, 'update') }),
  };
  const cancel = () => cancellation.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, cancel);
  try {
    for await (const report of importRows(target, rows)) {
      if ('problem' in report) {
        progress.tell(`row ${report.row}: ${reasonOf(report.problem)}`);
        continue;
      }
      progress.show(report.row);
      if (report.done || report.error !== undefined) return outcomeOf(report, options);
    }
    throw new Error('an import ends with a report');
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, cancel);
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

function reasonOf(problem: Problem): string {
  const faults = problem.faults.map((fault) => faultText({ ...fault, pointer: fault.pointer || 'the row' }));
  return printable(faults.length > 0 ? faults.join('; ') : translateProblem('en', problem).detail);
}

async function* watched(input: Readable, progress: FileProgress, signal: AbortSignal): AsyncGenerator<Buffer> {
  for await (const chunk of input as AsyncIterable<Buffer>) {
    if (signal.aborted) throw new Refusal('cancelled');
    progress.add(chunk.length);
    yield chunk;
  }
}

function outcomeOf(counts: ImportProgress, { by, dryRun }: ImportCommand): CommandOutcome {
  const { row, created, updated, unchanged, failed, error, uncertainTo } = counts;
  const document = {
    row,
    created,
    updated,
    unchanged,
    failed,
    done: error === undefined,
    dryRun: dryRun === true,
    ...(uncertainTo !== undefined && { uncertainTo }),
  };
  const text = `${dryRun ? 'Would have created' : 'Created'} ${created}, updated ${updated}, left ${unchanged} unchanged, refused ${failed}.`;
  if (error !== undefined) {
    const reason = error instanceof Problem ? reasonOf(error) : error instanceof Error ? error.message : 'unknown';
    return { document, text, failure: `the import ended after row ${row}: ${reason}. ${adviceOf(row, uncertainTo, by)}` };
  }
  return { document, text, ...(failed > 0 && { failure: failed === 1 ? '1 row was refused' : `${failed} rows were refused` }) };
}

/** How to go on. Without `by`, rows that may have been written would be created once more. */
function adviceOf(row: number, uncertainTo: number | undefined, by: string | undefined): string {
  if (uncertainTo === undefined || by !== undefined) return `Go on with --from-row ${row + 1}`;
  return (
    `The rows ${row + 1} to ${uncertainTo} were written, or none of them was: look whether their entities exist. ` +
    `If so, go on with --from-row ${uncertainTo + 1}, otherwise with --from-row ${row + 1}`
  );
}

async function exportFile(admin: Admin, name: string, file: string, options: ExportCommand): Promise<CommandOutcome> {
  const { desk, actor, config, store } = admin;
  const { filter, fields } = options;
  const principal = administratorAs(actor.name);
  const types = new TypeRegistry(store.db, config);
  const type = await types.find(name);
  const permit = authorize(principal, name, 'read');
  const query = { ...(filter !== undefined && { filter }), ...(fields !== undefined && { fields }) };
  const wanted = await asOptions(readListQuery(query, { includes: [] }, scopeFor(types, principal, type)));
  const present = () => Promise.resolve({ permit, wanted });
  const named = fields?.split(',').map((field) => columnOf(type, field.split('.')));
  const csvOptions = { columns: named ?? columnsOf(type), hasRest: !named, isSafe: options.csvSafe === true };
  const isToOutput = file === '-';
  if (!isToOutput) await assertNewFile(file);
  const detail = { entity: name, format: formatOf(file, options.format) };
  await recordChange(store.db, actor, { event: 'entity.exported', detail });
  const progress = new FileProgress(desk.errors, 'entities', filter === undefined ? await countEntities(store.db, name) : undefined);
  const rethrow = async (error: unknown): Promise<never> => {
    throw error;
  };
  const cancellation = new AbortController();
  const { signal } = cancellation;
  const cancel = () => cancellation.abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, cancel);
  try {
    await onReaders(admin, async (readers, after) => {
      const parts = counted(exportedParts({ readers, after, types, present }), progress);
      const texts = formatOf(file, options.format) === 'csv' ? asCsv(parts, new CsvWriter(csvOptions)) : asNdjson(parts, rethrow);
      await (isToOutput
        ? pipeline(texts, desk.output, { end: false, signal })
        : writeNewFile(file, (target) => pipeline(texts, target, { signal })));
    });
  } catch (error) {
    if (signal.aborted) throw new Refusal(isToOutput ? 'cancelled: the output is incomplete' : 'cancelled: there is no file');
    // A reader such as `head` may end before.
    if (!isToOutput || (error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, cancel);
    progress.end();
  }
  const { done } = progress;
  if (isToOutput) return { document: {}, text: undefined, note: `wrote ${done} entities` };
  return { document: { file, entities: done }, text: `Wrote ${done} entities into ${file}.` };
}

/** The faults of what `--filter` and `--fields` have. */
async function asOptions<T>(read: Promise<T>): Promise<T> {
  return await read.catch((error: unknown) => {
    if (!(error instanceof Problem) || error.faults.length === 0) throw error;
    const faults = error.faults.map((fault) => `--${fault.parameter}: ${faultText({ ...fault, pointer: fault.pointer || 'the value' })}`);
    throw new Refusal(printable(faults.join('; ')), 2);
  });
}

async function* counted(parts: AsyncIterable<ExportedPart>, progress: FileProgress): AsyncGenerator<ExportedPart> {
  for await (const part of parts) {
    yield part;
    progress.add(part.rows.length);
    progress.show(progress.done);
  }
}
