/** Deletes an entity, under the caller's precondition and with what the types of referring entities declare. */
import type { Caller } from '../../authn/caller.ts';
import { withUnknownOutcome } from '../../database/failure.ts';
import type { Statements } from '../../database/port.ts';
import { statementsWithin } from '../../database/statements-within.ts';
import type { EntityType } from '../../entity-types/types.ts';
import { Problem } from '../../problems/errors.ts';
import type { Origin } from '../../network/origin.ts';
import type { Fault } from '../../problems/faults.ts';
import type { Permit } from '../../rights/permit.ts';
import { stateOf } from '../find-entity.ts';
import { changeValues } from './changed.ts';
import { lockablePlace } from './lockable.ts';
import { countReadable } from './referrers.ts';
import { Removal } from './removal.ts';
import { holdTypes, type Deleted } from './removal-statements.ts';
import { maximumVictims, StillReferencedError } from './still-referenced.ts';
import { refusalOf } from './refusal.ts';
import { lacksGuard, requirePrecondition, type Guard } from './rules.ts';
import { lockOne, type Versions } from './statements.ts';
import { whileTypeIsCurrent } from './type-guard.ts';
import type { Writes } from './update.ts';
import { isStillReferenced, whileTableExists } from './violations.ts';
import { deletionOf } from './write-statements.ts';

export interface RemovalRequest extends Guard {
  key: string;
  /** Whether the entity does not go to the trash, whatever its type says. Those that are deleted with it do. */
  isFinal?: boolean;
  /** The caller's permit to read entities of a name; undefined for a name that the caller may not read. */
  readable: (name: string) => Permit<'read'> | undefined;
}

/** Deletes the entity. Throws what {@link refusalOf} returns, 412 and 428, 503 `busy` when others restore it again and again, and what {@link deleteEntity} throws. */
export async function removeEntity(
  writes: Writes,
  permit: Permit<'delete'>,
  caller: Caller,
  { key, isFinal = false, readable, ...guard }: RemovalRequest,
): Promise<void> {
  const { versions } = guard;
  await whileTypeIsCurrent(writes.types, permit.entity, async (type) => {
    const deletion = { versions, type, isFinal, readable };
    if (!lacksGuard(type, guard) && (await deleteEntity(writes, permit, caller, key, deletion))) return true;
    const state = await stateOf(writes.store, permit, key);
    if (!state) throw await refusalOf(writes.store, permit, key);
    if (state.typeRevision !== (type?.revision ?? '0')) return undefined;
    requirePrecondition(type, guard, state.version);
    // Another request has changed the entity, or deleted and restored it, meanwhile.
    return undefined;
  });
}

export interface Deletion {
  /** The versions that the caller accepts; null accepts any. */
  versions: Versions;
  /** The type that the process has looked at. */
  type: EntityType | undefined;
  /** Whether the entity does not go to the trash, whatever its type says. */
  isFinal: boolean;
  /** The caller's permit to read entities of a name; undefined for a name that the caller may not read. */
  readable: (name: string) => Permit<'read'> | undefined;
}

/** Bytes that a deletion writes. The fields stay where they are, in the trash and in the history. */
const deletionBytes = 1_024;

/**
 * Deletes the entity if its version is one of `versions` and the type has not changed; false when nothing was deleted. If others refer to it, what
 * their types declare is done in the same transaction, when it is the caller's turn for heavy writes. Throws 409 `still-referenced` if one of them keeps it from being
 * deleted, or if more than 1,000 would be deleted or changed.
 */
async function deleteEntity(writes: Writes, permit: Permit<'delete'>, caller: Caller, key: string, deletion: Deletion): Promise<boolean> {
  const { store, admission } = writes;
  caller.origin.cost?.add('written', deletionBytes);
  try {
    return await admission.run('delete', { flow: permit.userName, caller }, () =>
      deleteUnreferenced(store, permit, caller.origin, key, deletion),
    );
  } catch (error) {
    if (!isStillReferenced(error)) throw error;
  }
  const { type, isFinal } = deletion;
  if (!type) throw new Error('PostgreSQL has told of a reference to an entity without a type');
  const trashKeep = isFinal ? null : type.trashKeep;
  const isDeleted = await admission.run('heavy-write', { flow: permit.userName, caller }, () =>
    removeLocked(writes, permit, caller, { ...deletion, type, key }, async (removal, deleted) => {
      await removal.run({ ...deleted, trashKeep }, key);
      return true;
    }),
  );
  return isDeleted === true;
}

export interface LockedRemoval extends Pick<Deletion, 'versions' | 'readable'> {
  key: string;
  type: EntityType;
}

/**
 * Runs `work` in a transaction that has locked the entity. Returns undefined if its version is none of `versions`, or if the permit covers it no more. Throws
 * 409 `still-referenced` for a {@link StillReferencedError} of `work`.
 */
export async function removeLocked<T>(
  { store, types }: Writes,
  permit: Permit<'delete'>,
  caller: Caller,
  { key, versions, type, readable }: LockedRemoval,
  work: (removal: Removal, deleted: Deleted) => Promise<T>,
): Promise<T | undefined> {
  const { companion } = type;
  if (!companion) throw new Error('PostgreSQL has told of a reference to an entity without a companion row');
  const change = changeValues(permit, caller.origin, type.revision);
  try {
    return await store.transaction(async (trx) => {
      await holdTypes.execute(trx);
      const lockable = await lockablePlace(statementsWithin(trx), permit, key, versions);
      if (!lockable) return undefined;
      const { rights, place, ...accepted } = lockable;
      const { rows } = await trx.executeQuery(lockOne(rights).query({ ...change, ...place, ...accepted }));
      if (rows.length === 0) return undefined;
      return await work(new Removal(trx, types, change), { name: permit.entity, companion, trashKeep: null });
    });
  } catch (error) {
    if (error instanceof StillReferencedError) throw await problemOfRemoval(store, error, readable);
    // The wall behind it: a type that is being changed has a reference that it does not declare yet.
    if (isStillReferenced(error)) throw new Problem('still-referenced');
    throw error;
  }
}

/** What entities that keep another one from being deleted mean for a caller who may read those called `name` if `readable(name)` is a permit. */
export async function problemOfRemoval(
  store: Statements,
  { keys, obstacle }: StillReferencedError,
  readable: Deletion['readable'],
): Promise<Problem> {
  const faults: Fault[] = obstacle === 'too many' ? [{ pointer: '', code: 'too-many-referrers', values: { limit: maximumVictims } }] : [];
  for (const [name, referring] of keys) {
    const permit = readable(name);
    const count = permit ? await countReadable(store.db, permit, [...referring]) : 0;
    if (count > 0) faults.push({ pointer: '', code: 'referenced', values: { name, count } });
  }
  return new Problem('still-referenced', { faults });
}

/**
 * Deletes the entity if its version is one of `versions` (null: any) and `type` is still the type; false when nothing was deleted. It goes to the trash
 * if the type says so, unless the deletion is `isFinal`. Throws a violation of a reference to the entity as PostgreSQL does.
 */
async function deleteUnreferenced(
  store: Statements,
  permit: Permit<'delete'>,
  origin: Origin,
  key: string,
  { versions, type, isFinal }: { versions: Versions; type: EntityType | undefined; isFinal: boolean },
): Promise<boolean> {
  const trashKeep = isFinal ? null : (type?.trashKeep ?? null);
  const lockable = await lockablePlace(store, permit, key, versions);
  if (!lockable) return false;
  const { rights, place, ...accepted } = lockable;
  const deletion = deletionOf(type?.companion, rights, trashKeep);
  const values = { ...changeValues(permit, origin, type?.revision ?? '0'), ...place, ...accepted, trashKeep };
  const row = await withUnknownOutcome(whileTableExists(type?.companion, async () => (await store.run(deletion, values))[0]));
  return row !== undefined;
}
