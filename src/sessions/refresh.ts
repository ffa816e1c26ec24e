/** Refreshes a session. */
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import type { SessionContext } from './context.ts';
import { replaceToken } from './replace-token.ts';

/**
 * Replaces the session's token and moves its idle deadline; returns the new token. Of concurrent refreshes with one token one wins, the
 * others get 409 `refresh-conflict`; after a logout all get 401.
 */
export async function refreshSessionToken(context: SessionContext, caller: Caller, principal: Principal): Promise<string> {
  return await replaceToken(context, caller, principal, 'session.rotated', { refresh: context.config });
}
