/** An administrator's changes of API keys, each in one transaction with its audit event (rule 60). */
import type { Store } from '../database/port.ts';
import { findOwner, insertKey, revokeKey, type NewKey } from '../api-keys/store.ts';
import { recordChange, type Actor } from './actor.ts';

/** Creates a key as {@link insertKey}; `userName` and `profile` are the names of the ids in `wanted`. */
export function createKey(
  store: Store,
  actor: Actor,
  userName: string,
  profile: string | null,
  wanted: NewKey,
): Promise<{ id: string; key: string; expiresAt: Date }> {
  return store.transaction(async (trx) => {
    const made = await insertKey(trx, wanted);
    const detail = { key: made.id, name: wanted.name, profile, expiresAt: made.expiresAt };
    await recordChange(trx, actor, { event: 'api_key.created', userName, detail });
    return made;
  });
}

/** Revokes a key. Returns its owner, and whether it had not been revoked before; undefined if there is no key with this id. */
export function endKey(store: Store, actor: Actor, id: string): Promise<{ user: string; changed: boolean } | undefined> {
  return store.transaction(async (trx) => {
    const user = await findOwner(trx, id);
    if (user === undefined) return undefined;
    const changed = await revokeKey(trx, id);
    if (changed) await recordChange(trx, actor, { event: 'api_key.revoked', userName: user, detail: { key: id } });
    return { user, changed };
  });
}
