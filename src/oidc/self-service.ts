/**
 * The identity links of one user, which that user may list and remove. A removal is one transaction with its audit events. It has taken
 * effect in every process before the caller gets the answer (security rule 56, decision 61).
 */
import type { Transaction } from 'kysely';
import type { components } from '../../generated/api.ts';
import { insertEvent } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import type { IssuerContext } from './context.ts';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';
import { lockCaller, sessionOf } from '../sessions/self-service.ts';
import { revokeOfIdentity } from '../sessions/revoke.ts';
import { deleteIdentity, listLinks, lockIdentity, lockOwnLink, type OwnLink } from '../accounts/identities.ts';
import { getAccount } from '../accounts/users.ts';
import { setClaimed } from './provisioning/claimed-profiles.ts';
import type { IssuerRegistry } from './tokens/issuer-registry.ts';

/** A link as its user sees it. */
export function describeLink(
  { id, issuer, subject, createdAt }: OwnLink,
  { session }: Principal,
  issuers: IssuerRegistry,
): components['schemas']['LinkedIdentity'] {
  const trusted = issuers.find(issuer);
  return {
    id,
    issuer,
    issuerId: trusted?.id ?? null,
    label: trusted?.label ?? null,
    subject,
    linkedAt: createdAt.toISOString(),
    current: session?.identity?.issuer === issuer && session.identity.subject === subject,
  };
}

/**
 * Removes the caller's link with this id and ends the sessions that were opened through the identity. Returns whether the session of this
 * request was one of them. With the last link to an issuer, the user loses the profiles that its claims grant. Throws 404 `not-found` if
 * the caller has no such link, and 409 `last-sign-in-method` if the user could not sign in afterwards. Throws 401 if the session of this
 * request has ended meanwhile.
 */
export async function unlinkOwn(context: IssuerContext, caller: Caller, principal: Principal, id: string): Promise<boolean> {
  const { id: currentId } = sessionOf(principal);
  const { id: userId, name: userName } = principal.user;
  const ended = await context.store.transaction(async (trx) => {
    const known = (await listLinks(trx, userId)).find((link) => link.id === id);
    if (known) await lockIdentity(trx, known);
    // Locks the link before the user. A sign-in by the link locks them in the same order, so there is no deadlock.
    const link = await lockOwnLink(trx, id, userId);
    await lockCaller(trx, principal);
    if (!link) throw new Problem('not-found');
    const others = (await listLinks(trx, userId)).filter((other) => other.id !== id);
    if (!(await canSignInBy(trx, context.issuers, others, userId))) throw new Problem('last-sign-in-method');
    await deleteIdentity(trx, link, userId);
    const sessions = await revokeOfIdentity(trx, userId, link, 'unlinked');
    const { issuer, subject } = link;
    const event = { outcome: 'ok', userName } as const;
    const detail = { by: 'user', issuer, subject, endedSessions: sessions.length };
    await insertEvent(trx, caller.origin, { ...event, event: 'identity.unlinked', sessionId: currentId, detail });
    for (const sessionId of sessions) {
      await insertEvent(trx, caller.origin, { ...event, event: 'session.revoked', sessionId, detail: { bySession: currentId } });
    }
    const profiles = context.issuers.find(issuer)?.profiles;
    if (profiles && !others.some((other) => other.issuer === issuer)) {
      await setClaimed(trx, caller, { user: principal.user, by: 'user', identity: { issuer, subject } }, profiles, []);
    }
    return sessions;
  });
  // The cache contains access tokens of the identity as well as sessions.
  context.principals.forget(`user ${userId}`);
  await context.listener.settle();
  return ended.includes(currentId);
}

/** Whether the user has a password, or one of `links` is to an issuer at which users sign in by a browser. */
async function canSignInBy(trx: Transaction<Database>, issuers: IssuerRegistry, links: OwnLink[], userId: string): Promise<boolean> {
  if ((await getAccount(trx, userId)).passwordHash !== null) return true;
  const providers = new Set(issuers.providers.map(({ issuer }) => issuer));
  return links.some(({ issuer }) => providers.has(issuer));
}
