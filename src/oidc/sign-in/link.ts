/** Links an identity to a signed-in user who has proved both (security rule 56): the session here, and the sign-in at the provider. */
import { insertEvent } from '../../audit/store.ts';
import type { Caller } from '../../authn/caller.ts';
import type { Principal } from '../../rights/principal.ts';
import type { IssuerContext } from '../context.ts';
import { afterCommittedPart } from '../../database/failure.ts';
import { Problem } from '../../problems/errors.ts';
import { lockCaller } from '../../sessions/self-service.ts';
import { freshMinutes } from '../../sessions/verify.ts';
import { insertIdentity, lockIdentity, lockLink } from '../../accounts/identities.ts';
import { followClaims } from '../provisioning/claimed-profiles.ts';
import { SignInError } from './sign-in-errors.ts';
import type { SignedIn } from './id-token.ts';
import type { Provider } from '../tokens/issuer-registry.ts';

/**
 * Returns `principal` if its session has the id `sessionId`. Throws 401 without a session, and {@link SignInError} for another session,
 * which may be another user's.
 */
export function requireSameSession(principal: Principal | undefined, sessionId: string): Principal {
  if (!principal?.session) throw new Problem('unauthenticated');
  if (principal.session.id !== sessionId) throw new SignInError('other-session', { userName: principal.user.name });
  return principal;
}

/**
 * Links the subject that has signed in at the provider to the principal's user, whose profiles then follow the claims of the ID token. An
 * existing link stays. Throws 401 if the session has ended meanwhile. Throws {@link SignInError} `taken` if the identity is linked to
 * another user, and `too-old` if the sign-in at the provider is not fresh. The browser may have removed the parameter that demands a fresh
 * one. Throws 503 `outcome-unknown` if the profiles could not follow: the link is in force.
 */
export async function linkOwn(
  context: IssuerContext,
  caller: Caller,
  principal: Principal,
  provider: Provider,
  { subject, authenticatedAt, issuedAt, claims }: SignedIn,
): Promise<void> {
  const { id, name: userName } = principal.user;
  const identity = { issuer: provider.issuer, subject };
  const age = context.issuers.clock.wall() - authenticatedAt.getTime();
  if (age >= freshMinutes * 60_000) throw new SignInError('too-old', { about: { subject }, userName });
  await context.store.transaction(async (trx) => {
    // Locks the identity before its user. Removing a link locks them in the same order, so there is no deadlock.
    await lockIdentity(trx, identity);
    await lockCaller(trx, principal);
    const isNew = await insertIdentity(trx, identity, id, issuedAt);
    if (!isNew && !(await lockLink(trx, identity, id))) throw new SignInError('taken', { about: { subject }, userName });
    const event = { outcome: 'ok', userName, sessionId: principal.session?.id } as const;
    await insertEvent(trx, caller.origin, { ...event, event: 'oidc.completed', detail: identity });
    if (isNew) await insertEvent(trx, caller.origin, { ...event, event: 'identity.linked', detail: { by: 'user', ...identity } });
  });
  // The link is in force. The profiles also follow the claims of the next sign-in.
  await afterCommittedPart(() => followClaims(context, caller, { issuer: provider, subject, claims, issuedAt }));
}
