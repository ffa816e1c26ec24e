/** Makes the text of an export while it is read. It knows nothing of HTTP, so the command line exports in the same way. */
import { latestOf, type LogPosition } from '../database/standby/log-position.ts';
import type { Readers } from '../database/standby/readers.ts';
import { readPart, type Wanted } from '../entities/lists/pages.ts';
import { representEntity } from '../entities/represent.ts';
import type { EntityRow } from '../entities/row.ts';
import { readByType } from '../entities/type-guard.ts';
import type { EntityTypes } from '../entity-types/types.ts';
import type { RowPosition } from '../filter/order.ts';
import type { Permit } from '../rights/permit.ts';
import type { CsvWriter } from './csv-writer.ts';

export interface ExportSource {
  readers: Readers;
  /** What the export must have at least. */
  after?: LogPosition | undefined;
  types: EntityTypes;
  /** What to read, with the rights as they are now; called before each part. Throws when the export has to end. */
  present: () => Promise<{ permit: Permit<'read'>; wanted: Wanted }>;
}

/** The entities in parts, by key. */
export async function* exportedParts({ readers, types, present, after }: ExportSource): AsyncGenerator<EntityRow[]> {
  let place: RowPosition | undefined;
  // No part is older than the one before it.
  let position = after;
  do {
    const { permit, wanted } = await present();
    const name = permit.entity;
    const spansTypes = wanted.targets.size > 0;
    const { rows, next } = await readByType(types, name, async (type) => {
      const read = await readers.begin({ after: position, name, typeRevision: type?.revision ?? '0', spansTypes });
      const found = await read(async (reads) => {
        const part = await readPart(reads, permit, wanted, type?.companion, place);
        return { part, position: part.next && (await reads.position()) };
      });
      position = latestOf([position, found.value.position]);
      return found.value.part;
    });
    if (rows.length > 0) yield rows;
    place = next;
  } while (place);
}

/**
 * The parts as NDJSON: a line for each entity, and a last line that says whether the export is complete. `problemOf` makes the reason of one that is
 * not.
 */
export async function* asNdjson(
  parts: AsyncIterable<readonly EntityRow[]>,
  problemOf: (error: unknown) => Promise<object>,
): AsyncGenerator<string> {
  let entities = 0;
  try {
    for await (const rows of parts) {
      yield rows.map((row) => `${representEntity(row).text}\n`).join('');
      entities += rows.length;
    }
    yield `${JSON.stringify({ $complete: true, entities })}\n`;
  } catch (error) {
    yield `${JSON.stringify({ $complete: false, entities, problem: await problemOf(error) })}\n`;
  }
}

/** The parts as CSV. An export that has to end early throws. */
export async function* asCsv(parts: AsyncIterable<readonly EntityRow[]>, writer: CsvWriter): AsyncGenerator<string> {
  yield writer.header;
  for await (const rows of parts) yield rows.map((row) => writer.line(row)).join('');
}
