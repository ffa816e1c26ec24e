/** `entities export`: the entities of a name become rows of a file. */
import { AttributeRegistry } from '../accounts/attribute-registry.ts';
import { pipeline } from 'node:stream/promises';
import { recordChange } from '../audit/actor.ts';
import { administratorAs } from '../administration/entities.ts';
import { assertNewFile, writeNewFile } from '../database/transfer/backup-file.ts';
import { readServiceSecrets } from '../database/service-secrets.ts';
import { assertSearchable } from '../entities/querying/list.ts';
import { readListQuery } from '../entities/querying/list-request.ts';
import { scopeFor } from '../entities/querying/scope.ts';
import { countEntities } from '../entities/companion/scan.ts';
import { faultText } from '../entity-types/files.ts';
import { TypeRegistry } from '../entity-types/registry.ts';
import { Problem } from '../problems/errors.ts';
import { authorize } from '../rights/permit.ts';
import type { Delimiter } from '../transfer/columns.ts';
import { csvWriterFor } from '../transfer/csv-writer.ts';
import { databaseNameOf } from '../transfer/database-name.ts';
import { asCsv, asNdjson, exportedParts, type ExportedPart } from '../transfer/export.ts';
import { Cancellation } from './cancellation.ts';
import { onReaders, type Admin } from './command.ts';
import { formatOf, type FileFormat } from './file-format.ts';
import { printableText, Refusal, type CommandOutcome } from './output.ts';
import { FileProgress } from './progress.ts';

export interface ExportCommand {
  format?: FileFormat;
  csvSafe?: true;
  delimiter: Delimiter;
  bom?: true;
  filter?: string;
  search?: string;
  sort?: string;
  fields?: string;
}

/** Throws a `Refusal` if the file exists, `--filter`, `--search`, `--sort` or `--fields` has faults, or a signal cancels the export; then there is no file. */
export async function exportFile(admin: Admin, name: string, file: string, options: ExportCommand): Promise<CommandOutcome> {
  const { desk, by, config, store } = admin;
  const { filter, search, sort, fields } = options;
  const principal = administratorAs(by.actor.name);
  const types = new TypeRegistry(store.db, config);
  const type = await types.find(name);
  const permit = authorize(principal, name, 'read');
  const query = {
    ...(filter !== undefined && { filter }),
    ...(search !== undefined && { search }),
    ...(sort !== undefined && { sort }),
    ...(fields !== undefined && { fields }),
  };
  const wanted = await asOptions(async () => {
    const read = await readListQuery(
      query,
      { includes: [] },
      scopeFor({ types, attributes: new AttributeRegistry(store.db, new Map()) }, principal, { name, type }),
    );
    assertSearchable(read, type?.companion, permit.view);
    return read;
  });
  const present = () => Promise.resolve({ permit, wanted });
  const database = databaseNameOf(await readServiceSecrets(store.db));
  const csvFile = { database, isSafe: options.csvSafe === true, delimiter: options.delimiter, hasByteOrderMark: options.bom === true };
  const isToOutput = file === '-';
  if (!isToOutput) await assertNewFile(file);
  const detail = { entity: name, format: formatOf(file, options.format) };
  await recordChange(store.db, by.actor, { event: 'entity.exported', detail });
  const progress = new FileProgress(
    desk.errors,
    'entities',
    filter === undefined && search === undefined ? await countEntities(store.db, name) : undefined,
  );
  const rethrow = async (error: unknown): Promise<never> => {
    throw error;
  };
  using cancellation = new Cancellation();
  const { signal } = cancellation;
  try {
    await onReaders(admin, async (readers, after) => {
      const parts = counted(exportedParts({ readers, after, types, present }), progress);
      const texts =
        formatOf(file, options.format) === 'csv'
          ? asCsv(parts, csvWriterFor(type, fields?.split(','), { ...csvFile, view: permit.view }))
          : asNdjson(parts, { database, problemOf: rethrow });
      await (isToOutput
        ? pipeline(texts, desk.output, { end: false, signal })
        : writeNewFile(file, (target) => pipeline(texts, target, { signal })));
    });
  } catch (error) {
    if (signal.aborted) throw new Refusal(isToOutput ? 'cancelled: the output is incomplete' : 'cancelled: there is no file');
    // A reader such as `head` may end before.
    if (!isToOutput || (error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  } finally {
    progress.end();
  }
  const { done } = progress;
  return isToOutput
    ? { document: {}, text: undefined, note: `wrote ${done} entities` }
    : { document: { file, entities: done }, text: `Wrote ${done} entities into ${file}.` };
}

/** The faults of what the options have. */
async function asOptions<T>(read: () => Promise<T>): Promise<T> {
  return await read().catch((error: unknown) => {
    if (!(error instanceof Problem) || error.faults.length === 0) throw error;
    const faults = error.faults.map((fault) => `--${fault.parameter}: ${faultText({ ...fault, pointer: fault.pointer || 'the value' })}`);
    throw new Refusal(printableText(faults.join('; ')), 2);
  });
}

async function* counted(parts: AsyncIterable<ExportedPart>, progress: FileProgress): AsyncGenerator<ExportedPart> {
  for await (const part of parts) {
    yield part;
    progress.add(part.rows.length);
    progress.show(progress.done);
  }
}
