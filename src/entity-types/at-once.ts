/**
 * Changes of types for which no entity has to be indexed: in one transaction, which locks the types at its end only. A new table is made
 * before, and what is left of an old one is dropped behind (`leftovers.ts`).
 */
import type { Transaction } from 'kysely';
import type { Companion } from '../entities/companion/layout.ts';
import { dropSurplusRules, endReferences } from '../entities/companion/surplus.ts';
import { createTable, ensureIndexes, ensureReferences, validateReferences } from '../entities/companion/table.ts';
import type { Store } from '../database/port.ts';
import type { Database } from '../database/tables.ts';
import { countEntities, type ChangedSince } from '../entities/companion/scan.ts';
import { findingsOf, unfitProblem } from './findings.ts';
import { needsCheck } from './plan.ts';
import { assertNotReferenced } from './references.ts';
import { completePart, needsBuild } from './companion-build.ts';
import { drawId } from './store.ts';
import {
  assertApplicable,
  checkChanged,
  checkTime,
  isNotBeingBuilt,
  isUnchanged,
  wantedCompanion,
  withTypesLocked,
  writeChange,
} from './transaction.ts';
import type { TypeChangeResult, Start } from './transaction.ts';

/** With more foreign keys on other tables the lock would be held for too long. */
const maximumReferences = 4;

/** Whether {@link changeAtOnce} can do what is to be built: it makes a new table only, in which no entity has a row. */
export function isBuiltAtOnce({ stored }: Start, wanted: Companion): boolean {
  return stored.companion === null && wanted.references.length <= maximumReferences;
}

/**
 * Carries the change out if there is nothing to build, or no entity of the name. Throws 409 `type-conflict` if entities do not fit, or if
 * other types refer to one that is deleted; the refusal has the names for which `mayName` is true.
 */
export async function changeAtOnce(store: Store, start: Start, mayName: (name: string) => boolean): Promise<TypeChangeResult> {
  const { name, document } = start.change;
  const since = await checkEntities(store, start);
  return await withTypesLocked<TypeChangeResult, PreparedTable | undefined>(
    store.db,
    async (trx, table) => {
      if (!table) return 'being built';
      const { id, wanted, isNew } = table;
      if (!(await isUnchanged(trx, start))) return 'changed meanwhile';
      await assertApplicable(trx, start, since);
      if (document === null) await assertNotReferenced(trx, name, mayName);
      if (isNew && wanted) {
        if ((await countEntities(trx, name, 0)) > 0) return 'changed meanwhile';
        await ensureReferences(trx, name, wanted);
        await validateReferences(trx, wanted);
      } else if (wanted) await dropSurplusRules(trx, wanted);
      else if (start.stored.companion) await endReferences(trx, start.stored.companion.table);
      return await writeChange(trx, start, wanted, id);
    },
    (trx) => prepareTable(trx, start),
  );
}

interface PreparedTable {
  id: number | undefined;
  wanted: Companion | null;
  /** Whether the table is new. */
  isNew: boolean;
}

/** Makes a new table with its indexes, of which no write knows yet. Undefined if the type is being built. */
async function prepareTable(trx: Transaction<Database>, start: Start): Promise<PreparedTable | undefined> {
  const { change, stored } = start;
  if (!(await isNotBeingBuilt(trx, change.name))) return undefined;
  const id = stored.id ?? (wantedCompanion(start, 0) ? await drawId(trx) : undefined);
  const wanted = id === undefined ? null : wantedCompanion(start, id);
  const isNew = needsBuild(completePart(stored), wanted);
  if (isNew) {
    await createTable(trx, wanted);
    await ensureIndexes(trx, wanted, false);
  }
  return { id, wanted, isNew };
}

/** Throws 409 unless all entities fit the schema. Returns which ones must be checked again; undefined if none. */
async function checkEntities({ db }: Store, start: Start): Promise<ChangedSince | undefined> {
  const { change, plan, allowUnfit, limit } = start;
  if (!needsCheck(plan) || allowUnfit) return undefined;
  const since = await checkTime(db);
  const { unfit, examples } = await findingsOf(db, plan, change, { limit });
  if (unfit > 0) throw unfitProblem(examples);
  return await checkChanged(db, start, since);
}
