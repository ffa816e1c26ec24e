/** Ends the session that a request carries. */
import { insertEvent } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { SessionContext } from './context.ts';
import { sessionCookie, tokensIn } from './cookie.ts';
import { revokeByToken } from './revoke.ts';
import { hashToken } from './token.ts';

/**
 * Ends the session that the request carries, if any, and returns once no process accepts it. Returns where the session at the provider can be ended;
 * undefined when the session was not opened through one. Of two different tokens both sessions end: an attacker planted one, the other is the
 * user's, and a logout must leave neither (rule 25).
 */
export async function logoutSession(context: SessionContext, caller: Caller): Promise<string | undefined> {
  const tokens = tokensIn(caller.cookies.header, sessionCookie(context.config).name);
  if (tokens.length === 0) return undefined;
  const ended = await context.store.transaction(async (trx) => {
    const sessions: { id: string; endSessionUrl: string | null }[] = [];
    for (const token of tokens) {
      const session = await revokeByToken(trx, hashToken(token), 'logout');
      if (!session) continue;
      await insertEvent(trx, caller.origin, { event: 'logout', outcome: 'ok', userName: session.userName, sessionId: session.id });
      sessions.push(session);
    }
    return sessions;
  });
  if (ended.length === 0) return undefined;
  for (const { id } of ended) context.principals.forget(`session ${id}`);
  await context.listener.settle();
  return ended.find(({ endSessionUrl }) => endSessionUrl !== null)?.endSessionUrl ?? undefined;
}
