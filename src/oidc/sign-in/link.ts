/** Links an identity to a signed-in user who has proved both (security rule 56): the session here, and the sign-in at the provider. */
import type { FastifyRequest } from 'fastify';
import { insertEvent, originOf } from '../../audit/store.ts';
import type { Principal } from '../../authn/principal.ts';
import { requireLinkingSession } from '../../rights/session-rights.ts';
import type { Context } from '../../context.ts';
import { inTransaction } from '../../database/failure.ts';
import { Problem } from '../../errors.ts';
import { lockCaller } from '../../sessions/self-service.ts';
import { freshMinutes } from '../../sessions/verify.ts';
import { insertIdentity, lockIdentity, lockLink } from '../../accounts/identities.ts';
import { followClaims } from '../provisioning/claimed-profiles.ts';
import { SignInError } from './sign-in-errors.ts';
import type { SignedIn } from './id-token.ts';
import type { Provider } from '../tokens/issuer-registry.ts';

/**
 * The caller, which is then the request's `principal`, if it is the session called `sessionId` that comes back. Throws 401 when none comes,
 * {@link SignInError} for another, which may be another user's, and 403 `forbidden` for a session that links no identities.
 */
export function returningCaller(request: FastifyRequest, sessionId: string): Principal {
  const principal = request.session.caller?.principal;
  if (!principal?.session) throw new Problem('unauthenticated');
  if (principal.session.id !== sessionId) throw new SignInError('other-session', { userName: principal.user.name });
  request.principal = principal;
  requireLinkingSession(principal);
  return principal;
}

/**
 * Links the subject that has signed in at the provider to the caller, whose profiles then follow the claims of the ID token; a link that is
 * there already stays. Throws 401 when the session has
 * ended meanwhile, and {@link SignInError}: `taken` when the identity is another user's, `too-old` when the provider has not asked who it
 * is, since the browser may have changed what it was told to ask for.
 */
export async function linkOwn(
  context: Context,
  request: FastifyRequest,
  caller: Principal,
  provider: Provider,
  { subject, authenticatedAt, issuedAt, claims }: SignedIn,
): Promise<void> {
  const { id, name: userName } = caller.user;
  const identity = { issuer: provider.issuer, subject };
  const age = context.issuers.clock.wall() - authenticatedAt.getTime();
  if (age >= freshMinutes * 60_000) throw new SignInError('too-old', { about: { subject }, userName });
  await inTransaction(context.db, async (trx) => {
    // The identity before its user, as where a link is removed: neither transaction waits for the other for ever.
    await lockIdentity(trx, identity);
    await lockCaller(trx, caller);
    const isNew = await insertIdentity(trx, identity, id, issuedAt);
    if (!isNew && !(await lockLink(trx, identity, id))) throw new SignInError('taken', { about: { subject }, userName });
    const event = { outcome: 'ok', userName, sessionId: caller.session?.id } as const;
    await insertEvent(trx, originOf(request), { ...event, event: 'oidc.completed', detail: identity });
    if (isNew) await insertEvent(trx, originOf(request), { ...event, event: 'identity.linked', detail: { by: 'user', ...identity } });
  });
  await followClaims(context, request, { issuer: provider, subject, claims, issuedAt });
}
