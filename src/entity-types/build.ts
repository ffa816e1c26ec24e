/**
 * Changes of types that index entities, while these are written. First the old document comes into force again, with the new columns: from
 * then on every write of an entity writes them too. Then the rows of all entities are filled, the indexes and constraints are made, and
 * the new document comes into force (decision 127).
 */
import { isDeepStrictEqual } from 'node:util';
import { DatabaseError } from 'pg';
import type { Kysely, Transaction } from 'kysely';
import type { Companion } from '../entities/companion/layout.ts';
import { dropSurplusRules, endReferences } from '../entities/companion/surplus.ts';
import {
  assertColumnRoom,
  createTable,
  ensureColumns,
  ensureIndexes,
  ensureReferences,
  gatherStatistics,
  validateReferences,
} from '../entities/companion/table.ts';
import { afterCommittedPart } from '../database/failure.ts';
import type { Database } from '../database/tables.ts';
import { fillCompanion } from '../entities/companion/fill.ts';
import { countEntities } from '../entities/companion/scan.ts';
import { Problem } from '../problems/errors.ts';
import { findingsOf, unfitProblem, type UnfitEntity } from './findings.ts';
import { needsCheck } from './plan.ts';
import { assertRequirements } from './requirements.ts';
import { completePart, needsRows, whileBuilding } from './companion-build.ts';
import { drawId, findStoredType, insertRevision, type TypeRow } from './store.ts';
import {
  assertApplicable,
  assertRoom,
  checkChanged,
  checkTime,
  isUnchanged,
  lockBuild,
  unlockBuild,
  wantedCompanion,
  withTypesLocked,
  writeChange,
} from './transaction.ts';
import type { TypeChangeResult, Start } from './transaction.ts';

/** The build as its first transaction has begun it. */
interface Begun {
  /** The revision with the old document. */
  revision: string;
  /** The table as the new document needs it. */
  wanted: Companion;
}

/**
 * Carries the change out on a connection without limits of time, whose end releases the lock of the build. Throws 409 `type-conflict` if
 * entities do not fit the new document or its rules; then the table is as before. If the process or the connection ends meanwhile, the
 * same change continues the build.
 */
export async function buildOnline(db: Kysely<Database>, start: Start): Promise<TypeChangeResult> {
  const { name } = start.change;
  if (!(await lockBuild(db, name))) return 'being built';
  try {
    return await build(db, start);
  } finally {
    // The end of the connection does it too, unless there is a transaction pooler in between.
    await unlockBuild(db, name).catch(() => undefined);
  }
}

async function build(db: Kysely<Database>, start: Start): Promise<TypeChangeResult> {
  await assertWithinLimits(db, start);
  const since = await checkTime(db);
  const { unfit, examples } = await examine(db, start);
  if (unfit > 0) throw unfitProblem(examples);
  const begun = await begin(db, start);
  if (!begun) return 'changed meanwhile';
  return await complete(db, start, begun, needsCheck(start.plan) && !start.allowUnfit ? since : undefined);
}

async function complete(db: Kysely<Database>, start: Start, begun: Begun, since: Date | undefined): Promise<TypeChangeResult> {
  try {
    await fill(db, start, begun);
    await index(db, start, begun);
    return await finish(db, start, begun, since);
  } catch (error) {
    const isUndone =
      (error instanceof Problem || error instanceof DatabaseError) &&
      (await undo(db, start, begun).then(
        () => true,
        () => false,
      ));
    const refusal = isViolation(error) ? await violationProblem(db, start, error) : error;
    if (isUndone) throw refusal;
    // The build counts as interrupted, and its revision is committed.
    return await afterCommittedPart(() => Promise.reject(refusal));
  }
}

/** Throws 409 `type-conflict` if there are more entities than may be read, or if the table has had too many columns. */
async function assertWithinLimits(db: Kysely<Database>, start: Start): Promise<void> {
  const { change, limit, stored } = start;
  const wanted = stored.id === undefined ? null : wantedCompanion(start, stored.id);
  if (wanted) await assertColumnRoom(db, whileBuilding(completePart(stored), wanted));
  if (limit !== undefined && (await countEntities(db, change.name, limit)) > limit)
    throw new Problem('type-conflict', { faults: [{ pointer: '', code: 'too-many-values', values: { limit } }] });
}

async function examine(db: Kysely<Database>, { change, plan, allowUnfit, limit, onProgress }: Start) {
  const total = await countEntities(db, change.name, Infinity);
  const report = (done: number) => onProgress({ name: change.name, phase: 'check', done: Math.min(done, total), total });
  return await findingsOf(db, plan, change, { limit, rulesOnly: allowUnfit, onProgress: report });
}

/** Undefined if the type has changed meanwhile. */
async function begin(db: Kysely<Database>, start: Start): Promise<Begun | undefined> {
  const { actor, change, plan, stored } = start;
  const { name } = change;
  const isNew = stored.companion === null;
  return await withTypesLocked<Begun | undefined, PreparedBuild>(
    db,
    async (trx, { id, wanted, companion }) => {
      if (!(await isUnchanged(trx, start))) return undefined;
      await assertRequirements(trx, change);
      if (stored.revision === '0') await assertRoom(trx, name);
      if (!isNew) await ensureColumns(trx, companion);
      const old = stored.type
        ? { document: stored.type.document, source: stored.type.source, plan }
        : { document: {}, source: change.source, plan: { ...plan, isPlaceholder: true } };
      const { mayBeUnfit } = stored;
      const { revision } = await insertRevision(trx, { name, ...old, mayBeUnfit, appliedBy: actor.name, companion, id });
      return { revision, wanted };
    },
    async (trx) => {
      const table = prepared(start, stored.id ?? (await drawId(trx)));
      if (isNew) await createTable(trx, table.companion);
      return table;
    },
  );
}

interface PreparedBuild {
  id: number;
  /** The table as the new document needs it. */
  wanted: Companion;
  /** The table while it is being built. */
  companion: Companion;
}

function prepared(start: Start, id: number): PreparedBuild {
  const wanted = wantedCompanion(start, id);
  if (!wanted) throw new Error(`nothing is to be built for ${start.change.name}`);
  return { id, wanted, companion: whileBuilding(completePart(start.stored), wanted) };
}

/** Fills the rows if the table or one of its columns is new, or if all rows are to be computed again. */
async function fill(db: Kysely<Database>, { change: { name }, stored, allRows, onProgress }: Start, { wanted }: Begun): Promise<void> {
  const complete = completePart(stored);
  if (!allRows && !needsRows(complete, wanted)) return;
  const total = await countEntities(db, name, Infinity);
  let done = 0;
  const tooLong = await fillCompanion(db, name, whileBuilding(complete, wanted), (rows) => {
    done = Math.min(done + rows, total);
    onProgress({ name, phase: 'rows', done, total });
  });
  if (tooLong.length > 0) throw unfitProblem(tooLong.map((key): UnfitEntity => ({ key, errors: [{ pointer: '', code: 'too-long' }] })));
}

async function index(db: Kysely<Database>, { change: { name }, onProgress }: Start, { wanted }: Begun): Promise<void> {
  await ensureIndexes(db, wanted, true, (done, total) => onProgress({ name, phase: 'indexes', done, total }));
  if (wanted.references.length > 0) {
    onProgress({ name, phase: 'references', done: 0, total: wanted.references.length });
    // Without the lock it could wait for writers that wait for it.
    for (const reference of wanted.references)
      await withTypesLocked(db, (trx) => ensureReferences(trx, name, { ...wanted, references: [reference] }));
    await validateReferences(db, wanted);
    onProgress({ name, phase: 'references', done: wanted.references.length, total: wanted.references.length });
  }
  await gatherStatistics(db, wanted);
}

async function finish(db: Kysely<Database>, start: Start, { revision, wanted }: Begun, since: Date | undefined): Promise<TypeChangeResult> {
  const changed = since && (await checkChanged(db, start, since));
  return await withTypesLocked(db, async (trx): Promise<TypeRow | 'changed meanwhile'> => {
    if (!(await isUnchanged(trx, start, revision))) return 'changed meanwhile';
    await assertApplicable(trx, start, changed);
    await dropSurplusRules(trx, wanted);
    return await writeChange(trx, start, wanted);
  });
}

/** Restores the revision of before. `leftovers.ts` drops what the build has made. */
async function undo(db: Kysely<Database>, start: Start, { revision, wanted }: Begun): Promise<void> {
  await withTypesLocked(db, async (trx) => {
    if ((await findStoredType(trx, start.change.name)).revision === revision) await restore(trx, start, wanted);
  });
}

/** Does nothing if the column of the search has the texts of both documents: `settleType` fills it again. */
async function restore(trx: Transaction<Database>, { actor, change, plan, stored }: Start, wanted: Companion): Promise<void> {
  const { name, source } = change;
  const complete = completePart(stored);
  const revision = { name, plan: { ...plan, isUndone: true }, mayBeUnfit: stored.mayBeUnfit, appliedBy: actor.name };
  const old = stored.type ? { document: stored.type.document, source: stored.type.source } : { document: null, source };
  if (!complete) {
    await insertRevision(trx, { ...revision, ...old });
    await endReferences(trx, wanted.table);
    return;
  }
  if (!isDeepStrictEqual(whileBuilding(complete, wanted).complete?.search, complete.search)) return;
  await insertRevision(trx, { ...revision, ...old, companion: { ...complete, next: wanted.next } });
  await dropSurplusRules(trx, complete);
}

/** Rows that share a value, or refer to none. */
function isViolation(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && (error.code === '23505' || error.code === '23503');
}

/** The refusal with the entities that violate a rule now. They may have been written after the check. */
async function violationProblem(db: Kysely<Database>, start: Start, { code }: DatabaseError): Promise<Problem> {
  const { examples } = await examine(db, start);
  return examples.length > 0
    ? unfitProblem(examples)
    : new Problem('type-conflict', { faults: [{ pointer: '', code: code === '23505' ? 'duplicate-value' : 'reference-not-found' }] });
}
