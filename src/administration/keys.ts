/** What an administrator does to API keys: each a transaction that also writes its audit event (rule 60). */
import type { Store } from '../database/port.ts';
import { findOwner, insertKey, revokeKey, type NewKey } from '../api-keys/store.ts';
import { recordChange, type Actor } from './actor.ts';

/** As {@link insertKey}; `userName` and `profile` are the names behind the ids in `wanted`. */
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

/** Ends a key; undefined when there is none with this id, else its owner and whether it had not been revoked before. */
export function endKey(store: Store, actor: Actor, id: string): Promise<{ user: string; changed: boolean } | undefined> {
  return store.transaction(async (trx) => {
    const user = await findOwner(trx, id);
    if (user === undefined) return undefined;
    const changed = await revokeKey(trx, id);
    if (changed) await recordChange(trx, actor, { event: 'api_key.revoked', userName: user, detail: { key: id } });
    return { user, changed };
  });
}
