/** An administrator's changes of API keys, each in one transaction with its audit event (rule 60). */
import type { Store } from '../../database/port.ts';
import type { Account } from '../../accounts/users.ts';
import { findOwner, insertKey, revokeKey } from '../../api-keys/store.ts';
import { checkRights, type WantedKey } from '../../api-keys/wanted.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Actor } from '../../rights/administration.ts';

/** Creates a key of the user. Throws as {@link checkRights} and {@link insertKey}. */
export function createKey(
  store: Store,
  actor: Actor,
  user: Pick<Account, 'id' | 'name'>,
  { name, profile, scopes, expiresInDays }: WantedKey,
): Promise<{ id: string; key: string; expiresAt: Date }> {
  return store.transaction(async (trx) => {
    const rights = await checkRights(trx, user.id, { profile, scopes });
    const made = await insertKey(trx, { userId: user.id, name, ...rights, expiresInDays });
    const detail = { key: made.id, name, profile: profile ?? null, scopes: rights.scopes, expiresAt: made.expiresAt };
    await recordChange(trx, actor, { event: 'api_key.created', userName: user.name, detail });
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
