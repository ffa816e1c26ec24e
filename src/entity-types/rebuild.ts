/** Makes the companion tables of all types from the entities, when these have been copied or restored. */
import { sql, type Kysely } from 'kysely';
import {
  dropAllTables,
  ensureColumns,
  ensureIndexes,
  ensureReferences,
  gatherStatistics,
  validateReferences,
} from '../entities/companion/table.ts';
import type { Database } from '../database/tables.ts';
import { fillCompanion } from '../entities/companion/fill.ts';
import { companionOfDocument, isReferenced } from './companion-build.ts';
import { findStoredType, insertRevision, listBuilds, listCompanions } from './store.ts';

/** Call it in the transaction that has loaded the rows and locked their tables. It ends builds that were under way in the source. */
export async function rebuildCompanions(trx: Kysely<Database>): Promise<void> {
  if (!(await hasCompanions(trx))) return;
  await dropAllTables(trx);
  for (const name of await listBuilds(trx)) await endBuild(trx, name);
  const companions = await listCompanions(trx);
  for (const { name, companion } of companions) {
    await ensureColumns(trx, companion);
    await fillCompanion(trx, name, companion, () => undefined, { isAlone: true });
    await ensureIndexes(trx, companion, false);
  }
  for (const { name, companion } of companions) {
    await ensureReferences(trx, name, companion);
    await validateReferences(trx, companion);
    await gatherStatistics(trx, companion);
  }
}

/** A backup of an earlier version has none. */
async function hasCompanions(trx: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql`
    select from pg_attribute where attrelid = to_regclass('entity_type_revision') and attname = 'companion'`.execute(trx);
  return rows.length > 0;
}

/** The type in force is that of before the build. */
async function endBuild(trx: Kysely<Database>, name: string): Promise<void> {
  const { type, id = 0, companion, mayBeUnfit } = await findStoredType(trx, name);
  const end = { name, plan: { isUndone: true }, mayBeUnfit, appliedBy: type?.appliedBy ?? 'entity-service' };
  if (!type) await insertRevision(trx, { ...end, document: null, source: 'command' });
  else {
    const { document, source } = type;
    const own = companionOfDocument(document, id, companion, await isReferenced(trx, name));
    await insertRevision(trx, { ...end, document, source, companion: own });
  }
}
