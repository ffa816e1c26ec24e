/** Companion tables of entities that tests insert without the service. */
import { sql } from 'kysely';
import type { Companion } from '../../src/entities/companion/layout.ts';
import { inSchema } from '../../src/entities/companion/table.ts';
import { fillCompanion } from '../../src/entities/companion/fill.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import { declareType } from './entities.ts';
import type { TestService } from './service.ts';

/** Puts the document in force, and returns its companion table with a row for each entity called `name` and no other row. */
export async function declareIndexed(service: TestService, name: string, document: Record<string, unknown>): Promise<Companion> {
  await declareType(service, name, document);
  const { companion } = await findStoredType(service.db, name);
  if (!companion) throw new Error('the document has no rules');
  await sql`truncate ${inSchema(companion.table)}`.execute(service.db);
  await fillCompanion(service.db, name, companion, () => undefined);
  return companion;
}
