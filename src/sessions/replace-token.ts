/**
 * Replaces the token of a live session in one transaction with its audit event (security rule 15). A refresh, a profile switch and a
 * change of the password do this.
 */
import { insertEvent, type AuditEventName } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import type { SessionContext } from './context.ts';
import { Problem } from '../problems/errors.ts';
import { sessionCookie, tokenIn } from './cookie.ts';
import { isPredecessorToken, refreshWaitSeconds, rotateToken, type TokenChange } from './store.ts';
import { hashToken, newToken } from './token.ts';
import { findPrincipal } from './verify.ts';

/** The hash of the token that authenticated the request. Throws 401 when the request carries none. */
export function presentTokenHash(caller: Caller, { config }: SessionContext): Buffer {
  const token = tokenIn(caller.cookies.header, sessionCookie(config).name);
  if (token === undefined) throw new Problem('unauthenticated');
  return hashToken(token);
}

/** Gives the session another token, with what goes with it in `to`, in one transaction with its audit event. Throws what {@link lostRace} returns. */
export async function replaceToken(
  context: SessionContext,
  caller: Caller,
  principal: Principal,
  event: AuditEventName,
  to: TokenChange,
): Promise<string> {
  const oldHash = presentTokenHash(caller, context);
  const token = newToken();
  const id = await context.store.transaction(async (trx) => {
    const rotated = await rotateToken(trx, oldHash, hashToken(token), to);
    if (rotated) {
      const detail = 'profileId' in to ? { profileId: to.profileId } : {};
      await insertEvent(trx, caller.origin, { event, outcome: 'ok', userName: principal.user.name, sessionId: rotated, detail });
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
export async function lostRace(context: SessionContext, oldHash: Buffer): Promise<Problem> {
  const found = await findPrincipal(context, oldHash);
  if (!found?.principal.session) return new Problem('unauthenticated');
  const { id, current } = found.principal.session;
  const { db } = context.store;
  const mayRefresh = current || (await isPredecessorToken(db, oldHash));
  const seconds = mayRefresh ? await refreshWaitSeconds(db, id) : undefined;
  if (seconds === undefined) return new Problem('refresh-conflict');
  const headers = { 'Retry-After': String(seconds), 'RateLimit-Policy': '"refresh";q=6;w=60', RateLimit: `"refresh";r=0;t=${seconds}` };
  return new Problem('rate-limited', { headers, audit: { limit: 'refresh' } });
}
