/**
 * What changes a living session: refresh, profile switch and logout, each one guarded transaction with its audit event. Every transition
 * but logout replaces the token (security rule 15).
 */
import type { FastifyRequest } from 'fastify';
import { insertEvent, originOf, type AuditEventName } from '../audit/store.ts';
import type { Principal } from '../authn/principal.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../database/failure.ts';
import { Problem } from '../errors.ts';
import { findProfile } from '../accounts/profiles.ts';
import { sessionCookie, tokenIn, tokensIn } from './cookie.ts';
import { revokeByToken } from './revoke.ts';
import { refreshWaitSeconds, rotateToken } from './store.ts';
import { hashToken, newToken } from './token.ts';
import { findPrincipal } from './verify.ts';

/** The hash of the token that the request was authenticated by. Throws 401 when it carries none. */
export function presentTokenHash(request: FastifyRequest, { config }: Context): Buffer {
  const token = tokenIn(request.headers.cookie, sessionCookie(config).name);
  if (token === undefined) throw new Problem('unauthenticated');
  return hashToken(token);
}

/**
 * Replaces the session's token and moves its idle deadline; returns the new token. Of concurrent refreshes with one token one wins, the
 * others get 409 `refresh-conflict`; after a logout all get 401.
 */
export async function refresh(context: Context, request: FastifyRequest, principal: Principal): Promise<string> {
  return await change(context, request, principal, 'session.rotated', { refresh: context.config });
}

/**
 * Switches to the user's profile called `name`, or to the default one for undefined; returns the new token once no process accepts an
 * older one (rule 15). Throws 404 `not-found` for anything else (rule 63).
 */
export async function switchProfile(
  context: Context,
  request: FastifyRequest,
  principal: Principal,
  name: string | undefined,
): Promise<string> {
  const profile = await findProfile(context.db, principal.user.id, name);
  if (!profile) throw new Problem('not-found');
  const to = { profileId: profile.id, locale: profile.locale ?? undefined };
  const token = await change(context, request, principal, 'profile.changed', to);
  await context.listener.settle();
  return token;
}

async function change(
  context: Context,
  request: FastifyRequest,
  principal: Principal,
  event: AuditEventName,
  to: Parameters<typeof rotateToken>[3],
): Promise<string> {
  const oldHash = presentTokenHash(request, context);
  const token = newToken();
  const id = await inTransaction(context.db, async (trx) => {
    const rotated = await rotateToken(trx, oldHash, hashToken(token), to);
    if (rotated) {
      const detail = 'profileId' in to ? { profileId: to.profileId } : {};
      await insertEvent(trx, originOf(request), { event, outcome: 'ok', userName: principal.user.name, sessionId: rotated, detail });
    }
    return rotated;
  });
  if (id === undefined) throw await lostRace(context, oldHash);
  context.principals.forget(`session ${id}`);
  return token;
}

/**
 * Why a compare-and-swap found nothing: the session is over (401), another refresh was faster (409), or there have been too many refreshes
 * within the minute (429).
 */
export async function lostRace(context: Context, oldHash: Buffer): Promise<Problem> {
  const found = await findPrincipal(context, oldHash);
  if (!found?.principal.session) return new Problem('unauthenticated');
  const { id, current } = found.principal.session;
  const seconds = current ? await refreshWaitSeconds(context.db, id) : undefined;
  if (seconds === undefined) return new Problem('refresh-conflict');
  const headers = { 'Retry-After': String(seconds), 'RateLimit-Policy': '"refresh";q=6;w=60', RateLimit: `"refresh";r=0;t=${seconds}` };
  return new Problem('rate-limited', { headers });
}

/**
 * Ends the session that the request carries, if any, and returns once every process has been told; the answer is where the session at the
 * provider can be ended that it was opened through, if any. Of two different tokens both sessions end: one was planted, the other is the
 * user's, and after a logout neither may be left (rule 25).
 */
export async function logout(context: Context, request: FastifyRequest): Promise<string | undefined> {
  const tokens = tokensIn(request.headers.cookie, sessionCookie(context.config).name);
  if (tokens.length === 0) return undefined;
  const ended = await inTransaction(context.db, async (trx) => {
    const sessions: { id: string; endSessionUrl: string | null }[] = [];
    for (const token of tokens) {
      const session = await revokeByToken(trx, hashToken(token), 'logout');
      if (!session) continue;
      await insertEvent(trx, originOf(request), { event: 'logout', outcome: 'ok', userName: session.userName, sessionId: session.id });
      sessions.push(session);
    }
    return sessions;
  });
  if (ended.length === 0) return undefined;
  for (const { id } of ended) context.principals.forget(`session ${id}`);
  await context.listener.settle();
  return ended.find(({ endSessionUrl }) => endSessionUrl !== null)?.endSessionUrl ?? undefined;
}
