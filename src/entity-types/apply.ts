/** Carries out changes of types, each in one short transaction with its audit event. */
import { setTimeout as delay } from 'node:timers/promises';
import { sql, type Kysely, type Transaction } from 'kysely';
import { recordChange, type Actor } from '../administration/actor.ts';
import { lockWasNotHad } from '../database/failure.ts';
import type { Store } from '../database/port.ts';
import type { Database } from '../database/tables.ts';
import { Problem } from '../errors.ts';
import { findingsOf, planOf, unfitEntities, unfitProblem, type TypeChange, type TypePlan } from './plan.ts';
import { findType, insertRevision, listRevisions, lockTypes, type TypeRow } from './store.ts';

/** A process lists the revisions of all types after each change. */
const maximumTypes = 1_000;
/** A write that was under way when the check began has its own time. It can last five seconds. */
const longestWriteSeconds = 60;
const rounds = 10;

export interface ApplyOptions {
  /** Whether stored entities that do not fit are accepted. They can still be read; their next update must fit. */
  allowUnfit?: boolean | undefined;
  /** The digest of the plan that the caller has read; a plan with the effect `loss` needs it. */
  confirm?: string | undefined;
  /** The most entities that may be checked. */
  limit?: number;
  /** Called with the type that the change starts from and the plan; throws if the caller expects another type or may not have it checked. */
  expect?: (current: TypeRow | undefined, plan: TypePlan) => void;
}

export interface Applied {
  plan: TypePlan;
  /** The type in force afterwards; undefined after a deletion. */
  type: TypeRow | undefined;
  changed: boolean;
}

/**
 * Puts the document in force, or deletes the type; does nothing if the plan has no steps. `faultsOfDocument` must have accepted the document. Throws 409
 * `type-conflict` if entities do not fit or there are 1,000 types, 409 `confirmation-required`, 503 `busy` if other changes are always faster, and
 * what `expect` throws.
 */
export async function applyChange(store: Store, actor: Actor, change: TypeChange, options: ApplyOptions = {}): Promise<Applied> {
  for (let round = 0; round < rounds; round++) {
    const current = await findType(store.db, change.name);
    const plan = planOf(current, change);
    options.expect?.(current, plan);
    if (plan.steps.length === 0) return { plan, type: current, changed: false };
    if (plan.effect === 'loss' && options.confirm !== plan.digest) throw new Problem('confirmation-required');
    const unchecked = plan.effect === 'check' && options.allowUnfit === true;
    const checkedFrom = unchecked || plan.effect !== 'check' ? undefined : await checkEntities(store.db, plan, change, options.limit);
    const type = await withTypesLocked(store, async (trx) => {
      if (((await findType(trx, change.name))?.revision ?? '0') !== plan.revision) return undefined;
      if (checkedFrom) await refuseUnfit(trx, change, checkedFrom);
      return await writeChange(trx, actor, change, { ...plan, ...(unchecked && { allowUnfit: true }) });
    });
    if (type) return { plan, type: type.document ? type : undefined, changed: true };
  }
  throw new Problem('busy', { headers: { 'Retry-After': '1' }, values: { seconds: 1 } });
}

/** Throws 409 unless all entities fit. Returns the time from which on they must be checked again. */
async function checkEntities(db: Kysely<Database>, plan: TypePlan, change: TypeChange, limit: number | undefined): Promise<Date> {
  const { rows } = await sql<{ from: Date }>`select now() - make_interval(secs => ${longestWriteSeconds}) as "from"`.execute(db);
  const { unfit, examples } = await findingsOf(db, plan, change, limit);
  if (unfit > 0) throw unfitProblem(examples);
  return rows[0]?.from ?? new Date(0);
}

/** Entities that were written while the others were checked. */
async function refuseUnfit(trx: Kysely<Database>, change: TypeChange, since: Date): Promise<void> {
  const { unfit, examples } = await unfitEntities(trx, change, since);
  if (unfit > 0) throw unfitProblem(examples);
}

async function writeChange(trx: Kysely<Database>, actor: Actor, change: TypeChange, plan: TypePlan & { allowUnfit?: true }) {
  const { name, document, source } = change;
  const isNew = plan.revision === '0';
  if (isNew && (await listRevisions(trx)).size >= maximumTypes)
    throw new Problem('type-conflict', { faults: [{ pointer: '', code: 'too-many-values', values: { limit: maximumTypes } }] });
  const { revision, appliedAt } = await insertRevision(trx, { name, document, source, plan, appliedBy: actor.name });
  const event = document === null ? 'type.deleted' : isNew ? 'type.declared' : 'type.changed';
  const userName = actor.via === 'api' ? actor.name : undefined;
  const detail = { type: name, revision, effect: plan.effect, ...(plan.allowUnfit && { allowUnfit: true }) };
  await recordChange(trx, actor, { event, userName, detail });
  return { name, revision, document: document as TypeRow['document'], source, appliedAt, appliedBy: actor.name };
}

/** Runs `work` in a transaction that holds the lock of {@link lockTypes}. A long write of entities may hold it up, so it is tried ten times. */
async function withTypesLocked<T>(store: Store, work: (trx: Transaction<Database>) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction(async (trx) => {
        await lockTypes(trx);
        return await work(trx);
      });
    } catch (error) {
      if (!lockWasNotHad(error) || attempt === rounds) throw error;
      await delay(Math.random() * 500);
    }
  }
}
