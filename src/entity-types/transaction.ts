/** What a change of a type starts from, and its short transactions. */
import { setTimeout as delay } from 'node:timers/promises';
import { sql, type Kysely, type Transaction } from 'kysely';
import { recordChange } from '../audit/actor.ts';
import type { Actor } from '../rights/administration.ts';
import type { Companion } from '../entities/companion/layout.ts';
import { inTransaction, lockWasNotHad } from '../database/failure.ts';
import type { Database } from '../database/tables.ts';
import { countEntities, type ChangedSince } from '../entities/companion/scan.ts';
import { Problem } from '../problems/errors.ts';
import { unfitEntities, unfitProblem } from './findings.ts';
import { needsCheck, type TypeChange, type TypePlan } from './plan.ts';
import { targetsOf } from './references.ts';
import { assertRequirements } from './requirements.ts';
import { companionOfDocument, completePart, needsBuild } from './companion-build.ts';
import { findStoredType, insertRevision, listRevisions, lockTypes, type StoredType, type TypeRow } from './store.ts';

/** A process lists the revisions of all types after each change. */
const maximumTypes = 1_000;
const attempts = 20;
/** For a further lock while the types are locked: others wait behind it. */
const furtherLock = sql`set local lock_timeout = '100ms'`;

/**
 * Runs `work` in a transaction that holds the lock of {@link lockTypes}, for which all writes of entities wait. A long write may hold it
 * up, so it is tried twenty times. Before that the transaction runs `prepare`, with the statements that take long; they may lock nothing
 * that a write of entities needs.
 */
export async function withTypesLocked<T, P = undefined>(
  db: Kysely<Database>,
  work: (trx: Transaction<Database>, prepared: P) => Promise<T>,
  prepare: (trx: Transaction<Database>) => Promise<P> = async () => undefined as P,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(db, async (trx) => {
        const prepared = await prepare(trx);
        await lockTypes(trx);
        await furtherLock.execute(trx);
        return await work(trx, prepared);
      });
    } catch (error) {
      if (!lockWasNotHad(error) || attempt === attempts) throw error;
      await delay(Math.random() * 500);
    }
  }
}

/** SQL: the number of the advisory lock under which the type of a name is built. Any other change takes it for its transaction. */
const buildLock = (name: string) => sql`hashtextextended(jsonb_build_array('entity type', ${name}::text)::text, 0)`;

/**
 * Takes the lock for the session of a connection; false if another process is building the type. Waiting for it would hold up the indexes
 * that are built.
 */
export async function lockBuild(db: Kysely<Database>, name: string): Promise<boolean> {
  const { rows } = await sql<{ isLocked: boolean }>`select pg_try_advisory_lock(${buildLock(name)}) as "isLocked"`.execute(db);
  return rows[0]?.isLocked === true;
}

/** Releases the lock of {@link lockBuild}. */
export async function unlockBuild(db: Kysely<Database>, name: string): Promise<void> {
  await sql`select pg_advisory_unlock(${buildLock(name)})`.execute(db);
}

/** Whether no process builds the type, nor begins to before the end of the transaction. */
export async function isNotBeingBuilt(trx: Transaction<Database>, name: string): Promise<boolean> {
  const { rows } = await sql<{ isLocked: boolean }>`select pg_try_advisory_xact_lock(${buildLock(name)}) as "isLocked"`.execute(trx);
  return rows[0]?.isLocked === true;
}

export type BuildPhase = 'check' | 'rows' | 'indexes' | 'references';

/** How far a build has come. */
export interface BuildProgress {
  name: string;
  phase: BuildPhase;
  done: number;
  total: number;
}

/** A change of a type that is about to be carried out. */
export interface Start {
  actor: Actor;
  change: TypeChange;
  plan: TypePlan;
  stored: StoredType;
  /** Whether stored entities need not fit the schema. */
  allowUnfit: boolean;
  /** The most entities that may be read; undefined for any number. */
  limit: number | undefined;
  /** Whether another type refers to the name, or is about to. */
  isReferenced: boolean;
  /** Whether the values of all rows are computed again, also where the table is complete. */
  allRows: boolean;
  onProgress: (progress: BuildProgress) => void;
}

/** The type in force afterwards, or why nothing was changed. */
export type TypeChangeResult = TypeRow | 'changed meanwhile' | 'being built';

/** The companion table that the new document needs, which has the number `id`; null for none. */
export function wantedCompanion({ change: { document }, stored, isReferenced }: Start, id: number): Companion | null {
  return document && companionOfDocument(document, id, stored.companion, isReferenced);
}

/** Whether the table must be built before the new document can be in force. */
export function isToBeBuilt({ stored, allRows }: Start, wanted: Companion | null): wanted is Companion {
  return wanted !== null && (allRows || needsBuild(completePart(stored), wanted));
}

/**
 * Whether the name has the same revision as at the start, or `revision`, and all names that the document refers to have complete companion
 * tables.
 */
export async function isUnchanged(trx: Transaction<Database>, { change, stored }: Start, revision = stored.revision): Promise<boolean> {
  if ((await findStoredType(trx, change.name)).revision !== revision) return false;
  for (const name of targetsOf(change.document ?? {}).filter((target) => target !== change.name))
    if (!completePart(await findStoredType(trx, name))) return false;
  return true;
}

/** Throws 409 or 422 unless the document can come into force: entities that were changed since then do not fit, or references. */
export async function assertApplicable(trx: Transaction<Database>, { change }: Start, since: ChangedSince | undefined): Promise<void> {
  await assertRequirements(trx, change);
  if (since) await assertFitting(trx, change, since);
}

async function assertFitting(db: Kysely<Database>, change: TypeChange, since: ChangedSince): Promise<void> {
  const { unfit, examples } = await unfitEntities(db, change, since);
  if (unfit > 0) throw unfitProblem(examples);
}

/**
 * Checks the entities that were changed at `at` or later, while others write. Returns which ones are left to check under the lock: those
 * of transactions that had not ended when this check began. Throws 409 `type-conflict` if entities do not fit.
 */
export async function checkChanged(db: Kysely<Database>, { change }: Start, at: Date): Promise<ChangedSince> {
  const { rows } = await sql<{ transaction: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as transaction`.execute(db);
  await assertFitting(db, change, { at });
  return { at, transaction: rows[0]?.transaction };
}

/** A write that was under way when a check began has its own time. It can last five seconds. */
const longestWriteSeconds = 60;

/** The time from which on entities must be checked again after a check that begins now. */
export async function checkTime(db: Kysely<Database>): Promise<Date> {
  const { rows } = await sql<{ from: Date }>`select now() - make_interval(secs => ${longestWriteSeconds}) as "from"`.execute(db);
  return rows[0]?.from ?? new Date(0);
}

/**
 * Puts the document in force, or deletes the type, and records it. `id` as for `insertRevision`. Throws 409 `type-conflict` if there are
 * 1,000 types.
 */
export async function writeChange(
  trx: Transaction<Database>,
  { actor, change, plan, stored, allowUnfit }: Start,
  companion: Companion | null,
  id?: number,
): Promise<TypeRow> {
  const { name, document, source } = change;
  if (stored.revision === '0') await assertRoom(trx, name);
  const unchecked = allowUnfit && needsCheck(plan) && { allowUnfit };
  const carriedOut = { ...plan, ...unchecked };
  const { revision, appliedAt } = await insertRevision(trx, {
    name,
    document,
    source,
    plan: carriedOut,
    mayBeUnfit: needsCheck(plan) ? allowUnfit && (await countEntities(trx, name, 0)) > 0 : stored.mayBeUnfit,
    appliedBy: actor.name,
    companion,
    id,
  });
  const event = document === null ? 'type.deleted' : stored.type ? 'type.changed' : 'type.declared';
  const userName = actor.via === 'api' ? actor.name : undefined;
  // Without steps only the companion table changes.
  if (plan.steps.length > 0)
    await recordChange(trx, actor, { event, userName, detail: { type: name, revision, effect: plan.effect, ...unchecked } });
  return { name, revision, document: document as TypeRow['document'], source, appliedAt, appliedBy: actor.name };
}

/** Throws 409 `type-conflict` if there are 1,000 types besides one called `name`, which may be there as the placeholder of its build. */
export async function assertRoom(db: Kysely<Database>, name: string): Promise<void> {
  const others = [...(await listRevisions(db)).keys()].filter((other) => other !== name);
  if (others.length >= maximumTypes)
    throw new Problem('type-conflict', { faults: [{ pointer: '', code: 'too-many-values', values: { limit: maximumTypes } }] });
}
