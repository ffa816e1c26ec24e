/** An administrator's changes of identity links, each in one transaction with its audit event (security rules 56 and 85). */
import { deleteIdentity, insertIdentity, lockIdentity, lockLink, type Identity } from '../../accounts/identities.ts';
import { getNamedRow } from '../../accounts/named-rows.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Store } from '../../database/port.ts';
import { Problem } from '../../problems/errors.ts';
import type { Owner } from '../../rights/administration.ts';
import { revokeOfIdentity } from '../../sessions/revoke.ts';
import type { Changed } from '../changed.ts';

/** Links the identity to the user called `name`. Throws 404 `not-found` without such a user, and 409 `conflict` if it is linked to another one. */
export function linkUserIdentity(
  store: Store,
  { actor }: Owner,
  name: string,
  { issuer, subject }: Identity,
): Promise<Changed<Identity & { user: string }>> {
  return store.transaction(async (trx) => {
    await lockIdentity(trx, { issuer, subject });
    const { id } = await getNamedRow(trx, 'user', name, 'key share');
    const changed = await insertIdentity(trx, { issuer, subject }, id);
    if (!changed && !(await lockLink(trx, { issuer, subject }, id)))
      throw new Problem('conflict', { faults: [{ code: 'taken', pointer: '/subject', values: { subject, issuer } }] });
    if (changed) await recordChange(trx, actor, { event: 'identity.linked', userName: name, detail: { issuer, subject } });
    return { state: { user: name, issuer, subject }, changed };
  });
}

/**
 * Removes the link and ends the sessions that the user opened through the identity. Throws 404 `not-found` if there is no such user, or no such link of this
 * user.
 */
export function unlinkUserIdentity(
  store: Store,
  { actor }: Owner,
  name: string,
  { issuer, subject }: Identity,
): Promise<{ endedSessions: number }> {
  return store.transaction(async (trx) => {
    await lockIdentity(trx, { issuer, subject });
    const { id } = await getNamedRow(trx, 'user', name, 'key share');
    if (!(await deleteIdentity(trx, { issuer, subject }, id)))
      throw new Problem('not-found', { faults: [{ code: 'absent', values: { owner: name, subject, issuer } }] });
    // After the DELETE: a sign-in holds the lock on the link until it has committed (lockLink), so this statement sees its session.
    const endedSessions = (await revokeOfIdentity(trx, id, { issuer, subject }, 'unlinked')).length;
    await recordChange(trx, actor, { event: 'identity.unlinked', userName: name, detail: { issuer, subject, endedSessions } });
    return { endedSessions };
  });
}
