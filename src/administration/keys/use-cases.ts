/** An administrator's changes of API keys, each in one transaction with its audit event (rule 60). */
import { getNamedRow } from '../../accounts/named-rows.ts';
import { getAccount } from '../../accounts/users.ts';
import { findOwner, insertKey, revokeKey } from '../../api-keys/store.ts';
import { checkRights, type WantedKey } from '../../api-keys/wanted.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Store } from '../../database/port.ts';
import { Problem } from '../../problems/errors.ts';
import type { Owner } from '../../rights/administration.ts';
import type { Changed } from '../changed.ts';

/**
 * Creates a key of the user called `owner`. Throws as {@link checkRights} and {@link insertKey}, 404 `not-found` without such a user, and 409 `conflict` for a
 * disabled one, since the key would not work.
 */
export function createUserKey(
  store: Store,
  { actor }: Owner,
  owner: string,
  { name, profile, scopes, expiresInDays }: WantedKey,
): Promise<{ id: string; key: string; expiresAt: Date }> {
  return store.transaction(async (trx) => {
    const { id: userId } = await getNamedRow(trx, 'user', owner, 'no key update');
    if (!(await getAccount(trx, userId)).active) throw new Problem('conflict', { faults: [{ code: 'disabled', values: { user: owner } }] });
    const rights = await checkRights(trx, userId, { profile, scopes });
    const { id, key, expiresAt } = await insertKey(trx, { userId, name, ...rights, expiresInDays });
    const detail = { key: id, name, profile: profile ?? null, scopes: rights.scopes, expiresAt };
    await recordChange(trx, actor, { event: 'api_key.created', userName: owner, detail });
    return { id, key, expiresAt };
  });
}

/** Revokes the key, of any user, and returns its owner. Throws 404 `not-found` if there is no key with this id. */
export function revokeUserKey(store: Store, { actor }: Owner, id: string): Promise<Changed<{ id: string; user: string }>> {
  return store.transaction(async (trx) => {
    const user = await findOwner(trx, id);
    if (user === undefined) throw new Problem('not-found', { faults: [{ code: 'absent', values: { key: id } }] });
    const changed = await revokeKey(trx, id);
    if (changed) await recordChange(trx, actor, { event: 'api_key.revoked', userName: user, detail: { key: id } });
    return { state: { id, user }, changed };
  });
}
