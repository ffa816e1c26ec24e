/** Puts types in force, changes and deletes them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Actor } from '../rights/administration.ts';
import { dropOrphanTables } from '../entities/companion/surplus.ts';
import { assertKnownByAll } from '../database/older-processes.ts';
import type { Store } from '../database/port.ts';
import { countEntities } from '../entities/companion/scan.ts';
import { Problem } from '../problems/errors.ts';
import { changeAtOnce, isBuiltAtOnce } from './at-once.ts';
import { buildOnline } from './build.ts';
import { faultsOfContradictions } from './contradictions.ts';
import { dropLeftovers } from './leftovers.ts';
import { newKnowledge } from './newer-keywords.ts';
import { needsConfirmation, planOf, type TypeChange, type TypePlan } from './plan.ts';
import { targetsOf } from './references.ts';
import { assertRequirements } from './requirements.ts';
import { isReferenced, isSettled } from './companion-build.ts';
import { findStoredType, listBuilds, type StoredType, type TypeRow } from './store.ts';
import { readableDocument } from './stored-document.ts';
import { assertRoom, isToBeBuilt, wantedCompanion, type BuildProgress, type TypeChangeResult, type Start } from './transaction.ts';

const rounds = 10;
const retryPauseMs = 300;
/** For how long a change that is in force waits for another build of a type that it referred to. */
const formerTargetWaitMs = 1_000;

export interface ApplyOptions {
  /**
   * Whether stored entities that do not fit the schema are accepted. They can still be read; their next update must fit. Rules hold all
   * the same.
   */
  allowUnfit?: boolean | undefined;
  /** The digest of the plan that the caller has read; a plan with the effect `narrow`, `widen` or `loss` needs it. */
  confirm?: string | undefined;
  /** Whether keywords come into force that a process of an older version does not know. It shows fields that become sensitive. */
  force?: boolean | undefined;
  /** Whether the values of all rows of the companion table are computed again, also where the table is complete. */
  allRows?: boolean | undefined;
  /** The most entities that may be read. */
  limit?: number;
  /** For how long to wait for another build of the type; without it until it ends. */
  waitMs?: number;
  /**
   * Called with the type that the change starts from and the plan; throws if the caller expects another type or may not have it checked.
   */
  expect?: (current: TypeRow | undefined, plan: TypePlan) => void;
  /** Whether a refusal may tell that there is a type of this name; by default it may. */
  mayName?: (name: string) => boolean;
  onProgress?: (progress: BuildProgress) => void;
  /** Called once if another process builds the type. */
  onWait?: (name: string) => void;
  /**
   * Receives the names of types of which something may be left to drop, whatever the outcome is. Without it the call itself tries to drop that, for a few seconds
   * at most. The housekeeping of the service drops what stays.
   */
  onLeftover?: (name: string) => void;
}

export interface Applied {
  plan: TypePlan;
  /** The type in force afterwards; undefined after a deletion. */
  type: TypeRow | undefined;
  changed: boolean;
}

/**
 * Puts the document in force, or deletes the type; does nothing if the plan has no steps. `faultsOfDocument` must have accepted the
 * document. Throws what `expect` throws, and
 * - 409 `type-conflict`: entities do not fit, there are 1,000 types, or other types refer to one that is deleted.
 * - 409 `confirmation-required`: the plan has the effect `narrow`, `widen` or `loss`, and `confirm` is not its digest.
 * - 409 `older-version`: the document has a new keyword that a process of an older version does not know.
 * - 422: what `faultsOfContradictions` and `faultsOfRequirements` refuse.
 * - 503 `busy`: other changes are always faster, or a build lasts longer than `waitMs`.
 */
export async function applyChange(store: Store, actor: Actor, change: TypeChange, options: ApplyOptions = {}): Promise<Applied> {
  return await repeatedly(change.name, options, async () => {
    const stored = await findStoredType(store.db, change.name);
    const plan = planOf(stored.type, change);
    options.expect?.(stored.type, plan);
    if (plan.steps.length === 0 && isSettled(stored)) return { plan, type: stored.type, changed: false };
    if (needsConfirmation(plan) && options.confirm !== plan.digest) throw new Problem('confirmation-required');
    const unknown = [...newKnowledge(stored.type?.document, change.document)];
    if (unknown.length > 0 && options.force !== true) await assertKnownByAll(store.db, unknown);
    const faults = faultsOfContradictions(change.document, stored.type?.document);
    if (faults.length > 0) throw new Problem('validation-failed', { faults });
    await assertRequirements(store.db, change);
    if (stored.revision === '0') await assertRoom(store.db, change.name);
    const targets = targetsOf(change.document ?? {}).filter((target) => target !== change.name);
    // It leaves nothing to drop, and the table is not needed before the reference is in force.
    for (const target of targets) await settleType(store, actor, target, { ...options, onLeftover: () => undefined }, true);
    const start = startOf(actor, change, stored, options, await isReferenced(store.db, change.name));
    const outcome = await carryOut(store, start, options);
    if (typeof outcome === 'string') return outcome;
    const formerTargets = new Set(stored.companion?.references.map(({ to }) => to).filter((to) => to !== change.name));
    for (const target of formerTargets) if (!targets.includes(target)) await settleFormerTarget(store, actor, target, options);
    return { plan, type: outcome.document ? outcome : undefined, changed: true };
  });
}

/**
 * Gives the type in force the companion table that it needs, also after a build that was interrupted; does nothing if it has it. With
 * `isTarget` another type is about to refer to the name, which needs a table of its keys. Returns whether it changed anything. Throws as
 * {@link applyChange}.
 */
export async function settleType(store: Store, actor: Actor, name: string, options: ApplyOptions = {}, isTarget = false): Promise<boolean> {
  return await repeatedly(name, options, async () => {
    const stored = await findStoredType(store.db, name);
    // A table is built by rules that this version reads.
    if (stored.id === undefined || (stored.type && readableDocument(stored.type.document) !== stored.type.document)) return false;
    const change = { name, document: stored.type?.document ?? null, source: stored.type?.source ?? ('command' as const) };
    const start = startOf(actor, change, stored, options, isTarget || (await isReferenced(store.db, name)));
    const wanted = wantedCompanion(start, stored.id);
    const isBuild = isToBeBuilt(start, wanted);
    if (isSettled(stored) && !isBuild && !wanted === !stored.companion) return false;
    const plan = { ...start.plan, effect: isBuild ? ('build' as const) : ('none' as const) };
    const outcome = await carryOut(store, { ...start, plan }, options);
    return typeof outcome === 'string' ? outcome : true;
  });
}

/**
 * Undoes builds that were interrupted, and returns their number. Those that are under way go on. Drops the tables of types that are gone.
 */
export async function settleInterrupted(store: Store, actor: Actor): Promise<number> {
  await dropOrphanTables(store.db);
  let settled = 0;
  for (const name of await listBuilds(store.db)) {
    try {
      await settleType(store, actor, name, { waitMs: 0 });
      settled += 1;
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'busy')) throw error;
    }
  }
  return settled;
}

function startOf(actor: Actor, change: TypeChange, stored: StoredType, options: ApplyOptions, referenced: boolean): Start {
  const { allowUnfit = false, allRows = false, limit, onProgress = () => undefined } = options;
  return { actor, change, stored, plan: planOf(stored.type, change), allowUnfit, allRows, limit, onProgress, isReferenced: referenced };
}

/** The change is in force already, whatever happens here. */
async function settleFormerTarget(store: Store, actor: Actor, name: string, options: ApplyOptions): Promise<void> {
  try {
    await settleType(store, actor, name, { ...options, waitMs: formerTargetWaitMs });
  } catch {
    options.onLeftover?.(name);
  }
}

async function carryOut(store: Store, start: Start, options: ApplyOptions): Promise<TypeChangeResult> {
  const { change, stored } = start;
  try {
    return await putInForce(store, start, options);
  } finally {
    const hasTable = stored.companion !== null || isToBeBuilt(start, wantedCompanion(start, stored.id ?? 0));
    if (hasTable) await leave(store, change.name, options);
  }
}

async function leave(store: Store, name: string, { onLeftover }: ApplyOptions): Promise<void> {
  if (onLeftover) onLeftover(name);
  else await dropLeftovers(store, name).catch(() => undefined);
}

async function putInForce(store: Store, start: Start, { mayName = () => true }: ApplyOptions): Promise<TypeChangeResult> {
  const { change, stored } = start;
  const wanted = wantedCompanion(start, stored.id ?? 0);
  if (!isToBeBuilt(start, wanted)) return await changeAtOnce(store, start, mayName);
  if ((await countEntities(store.db, change.name, 0)) > 0) return await store.runLong((db) => buildOnline(db, start));
  if (isBuiltAtOnce(start, wanted)) return await changeAtOnce(store, start, mayName);
  // A table without rows takes no time worth telling.
  return await store.runLong((db) => buildOnline(db, { ...start, onProgress: () => undefined }));
}

/** Runs `work` until nothing has changed meanwhile, ten times at most, and the type called `name` is not being built. */
async function repeatedly<T>(
  name: string,
  { waitMs = Infinity, onWait }: ApplyOptions,
  work: () => Promise<T | Exclude<TypeChangeResult, TypeRow>>,
): Promise<T> {
  const end = performance.now() + waitMs;
  let isWaiting = false;
  for (let round = 0; round < rounds;) {
    const result = await work();
    if (result !== 'changed meanwhile' && result !== 'being built') return result;
    if (result === 'changed meanwhile') round++;
    else if (performance.now() > end) break;
    else {
      if (!isWaiting) onWait?.(name);
      isWaiting = true;
      await delay(retryPauseMs);
    }
  }
  throw new Problem('busy', { headers: { 'Retry-After': '1' }, values: { seconds: 1 } });
}
