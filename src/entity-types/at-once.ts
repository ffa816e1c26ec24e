/** Changes of types for which no entity has to be indexed: in one short transaction. */
import { dropSurplus, dropTable, ensureColumns, ensureIndexes, ensureReferences, validateReferences } from '../companion/table.ts';
import type { Store } from '../database/port.ts';
import { countEntities } from '../entities/scan.ts';
import { findingsOf, unfitProblem } from './findings.ts';
import { needsCheck } from './plan.ts';
import { assertNotReferenced } from './references.ts';
import { completePart, needsBuild } from './rules.ts';
import { drawId } from './store.ts';
import { assertApplicable, checkTime, isNotBeingBuilt, isUnchanged, wantedCompanion, withTypesLocked, writeChange } from './transaction.ts';
import type { TypeChangeResult, Start } from './transaction.ts';

/**
 * Carries the change out if there is nothing to build, or no entity of the name. Throws 409 `type-conflict` if entities do not fit, or if other types refer to
 * one that is deleted; the refusal has the names for which `mayName` is true.
 */
export async function changeAtOnce(store: Store, start: Start, mayName: (name: string) => boolean): Promise<TypeChangeResult> {
  const { change, stored } = start;
  const { name, document } = change;
  const since = await checkEntities(store, start);
  return await withTypesLocked(store.db, async (trx) => {
    if (!(await isNotBeingBuilt(trx, name))) return 'being built';
    if (!(await isUnchanged(trx, start))) return 'changed meanwhile';
    await assertApplicable(trx, start, since);
    if (document === null) await assertNotReferenced(trx, name, mayName);
    const id = stored.id ?? (wantedCompanion(start, 0) ? await drawId(trx) : undefined);
    const wanted = id === undefined ? null : wantedCompanion(start, id);
    if (needsBuild(completePart(stored), wanted)) {
      if ((await countEntities(trx, name, 0)) > 0) return 'changed meanwhile';
      await ensureColumns(trx, wanted);
      await ensureIndexes(trx, wanted, false);
      await ensureReferences(trx, name, wanted);
      await validateReferences(trx, wanted);
    }
    if (wanted) await dropSurplus(trx, wanted);
    else if (stored.companion) await dropTable(trx, stored.companion.table);
    return await writeChange(trx, start, wanted, id);
  });
}

/** Throws 409 unless all entities fit the schema. Returns the time from which on they must be checked again; undefined if they need not be. */
async function checkEntities({ db }: Store, { change, plan, allowUnfit, limit }: Start): Promise<Date | undefined> {
  if (!needsCheck(plan) || allowUnfit) return undefined;
  const since = await checkTime(db);
  const { unfit, examples } = await findingsOf(db, plan, change, { limit });
  if (unfit > 0) throw unfitProblem(examples);
  return since;
}
