/** Makes the text of an export while it is read. It knows nothing of HTTP, so the command line exports in the same way. */
import type { Store } from '../database/port.ts';
import { readPart, type Wanted } from '../entities/pages.ts';
import { representEntity } from '../entities/represent.ts';
import type { EntityRow } from '../entities/row.ts';
import { readByType } from '../entities/type-guard.ts';
import type { EntityTypes } from '../entity-types/types.ts';
import type { RowPosition } from '../filter/order.ts';
import type { Permit } from '../rights/permit.ts';
import type { CsvWriter } from './csv-writer.ts';

export interface ExportSource extends Wanted {
  store: Store;
  types: EntityTypes;
  /** The permit as it is now; called before each part. Throws when the export has to end. */
  permit: () => Promise<Permit<'read'>>;
}

/** The entities in parts, by key. */
export async function* exportedParts({ store, types, permit, ...wanted }: ExportSource): AsyncGenerator<EntityRow[]> {
  let after: RowPosition | undefined;
  do {
    const current = await permit();
    const { rows, next } = await readByType(types, current.entity, (type) => readPart(store, current, wanted, type?.companion, after));
    if (rows.length > 0) yield rows;
    after = next;
  } while (after);
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
