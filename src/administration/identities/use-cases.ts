/** An administrator's changes of identity links, each in one transaction with its audit event (security rules 56 and 85). */
import type { Store } from '../../database/port.ts';
import { revokeOfIdentity } from '../../sessions/revoke.ts';
import { deleteIdentity, insertIdentity, lockIdentity, lockLink, type Identity } from '../../accounts/identities.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Actor } from '../../rights/administration.ts';
import type { NamedUser } from '../users/use-cases.ts';

/** Links the identity to the user. The link of another user stays: `taken`. */
export function linkIdentity(
  store: Store,
  actor: Actor,
  { id, name }: NamedUser,
  identity: Identity,
): Promise<'linked' | 'already-linked' | 'taken'> {
  return store.transaction(async (trx) => {
    await lockIdentity(trx, identity);
    if (!(await insertIdentity(trx, identity, id))) return (await lockLink(trx, identity, id)) ? 'already-linked' : 'taken';
    const { issuer, subject } = identity;
    await recordChange(trx, actor, { event: 'identity.linked', userName: name, detail: { issuer, subject } });
    return 'linked';
  });
}

/**
 * Removes the link and ends the sessions that the user opened through the identity. Returns the number of sessions; undefined if there is
 * no such link.
 */
export function unlinkIdentity(store: Store, actor: Actor, { id, name }: NamedUser, identity: Identity): Promise<number | undefined> {
  return store.transaction(async (trx) => {
    await lockIdentity(trx, identity);
    if (!(await deleteIdentity(trx, identity, id))) return undefined;
    // After the DELETE: a sign-in holds the lock on the link until it has committed (lockLink), so this statement sees its session.
    const endedSessions = (await revokeOfIdentity(trx, id, identity, 'unlinked')).length;
    const { issuer, subject } = identity;
    const detail = { issuer, subject, endedSessions };
    await recordChange(trx, actor, { event: 'identity.unlinked', userName: name, detail });
    return endedSessions;
  });
}
