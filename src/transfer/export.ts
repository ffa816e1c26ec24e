/** Makes the text of an export while it is read. It knows nothing of HTTP, so the command line exports in the same way. */
import { latestOf, type LogPosition } from '../database/standby/log-position.ts';
import type { Readers } from '../database/standby/readers.ts';
import { readExportPage, type EntitySelection } from '../entities/querying/export-page.ts';
import { newestPosition } from '../entities/history/ticks.ts';
import { representEntity } from '../entities/represent.ts';
import type { EntityRow } from '../entities/row.ts';
import type { EntityTypes } from '../entity-types/types.ts';
import type { RowPosition } from '../filter/order.ts';
import { readOthers } from '../rights/field-view.ts';
import type { Permit } from '../rights/permit.ts';
import type { CsvWriter } from './csv-writer.ts';
import { readByType } from '../entities/reading/reading.ts';

export interface ExportSource {
  readers: Readers;
  /** The position that the export must have at least. */
  after?: LogPosition | undefined;
  types: EntityTypes;
  /** What to read, with the rights as they are now; called before each part. Throws when the export has to end. */
  present: () => Promise<{ permit: Permit<'read'>; wanted: EntitySelection }>;
}

/** Some of the entities, which may be none. */
export interface ExportedPart {
  rows: EntityRow[];
  /** Of the newest tick when the export began; all parts have all changes that it shows. Undefined if there is no tick yet. */
  position: string | undefined;
  /** Whether the rights at that moment did not cover all entities of the name. */
  isPartial: boolean;
}

/** The entities in parts, by key. */
export async function* exportedParts({ readers, types, present, after }: ExportSource): AsyncGenerator<ExportedPart> {
  let place: RowPosition | undefined;
  let begun: { position: string | undefined } | undefined;
  // No part is older than the one before it.
  let logPosition = after;
  do {
    const { permit, wanted } = await present();
    const name = permit.entity;
    const spansTypes = wanted.targets.size > 0 || readOthers(permit);
    const { position, rows, next } = await readByType(types, name, async (type) => {
      const read = await readers.begin({ after: logPosition, name, typeRevision: type?.revision ?? '0', spansTypes });
      const found = await read(async (reads) => {
        const { position } = begun ?? { position: await newestPosition(reads) };
        const page = await readExportPage(reads, permit, wanted, type?.companion, place);
        return { ...page, position, logPosition: page.next && (await reads.position()) };
      });
      logPosition = latestOf([logPosition, found.value.logPosition]);
      return found.value;
    });
    begun = { position };
    yield { rows, position, isPartial: permit.coverage.kind !== 'all' };
    place = next;
  } while (place);
}

export interface NdjsonFile {
  /** The name of the database, as `databaseNameOf` returns it. */
  database: string;
  /** Makes the reason of an export that is not complete. */
  problemOf: (error: unknown) => Promise<object>;
}

/** The parts as NDJSON: a line for each entity, and a last line that says whether the export is complete. */
export async function* asNdjson(parts: AsyncIterable<ExportedPart>, { database, problemOf }: NdjsonFile): AsyncGenerator<string> {
  let entities = 0;
  let position: string | undefined;
  let isPartial = false;
  const trailer = (isComplete: boolean) => ({
    $complete: isComplete,
    entities,
    position,
    ...(isPartial && { partial: true }),
    database,
  });
  try {
    for await (const part of parts) {
      ({ position } = part);
      isPartial ||= part.isPartial;
      if (part.rows.length > 0)
        yield part.rows.map((row) => `${representEntity(row).text.slice(0, -1)},"database":"${database}"}\n`).join('');
      entities += part.rows.length;
    }
    yield `${JSON.stringify(trailer(true))}\n`;
  } catch (error) {
    yield `${JSON.stringify({ ...trailer(false), problem: await problemOf(error) })}\n`;
  }
}

/** The parts as CSV. An export that has to end early throws. */
export async function* asCsv(parts: AsyncIterable<ExportedPart>, writer: CsvWriter): AsyncGenerator<string> {
  yield writer.header;
  for await (const { rows } of parts) if (rows.length > 0) yield rows.map((row) => writer.line(row)).join('');
}
