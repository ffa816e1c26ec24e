/**
 * Signs in by name and password. Whatever is wrong with a name or a password, the caller gets the same answer for the same work (security rule 42).
 */
import { admitRefusal } from '../audit/record.ts';
import type { Subject } from '../audit/quota.ts';
import { eventInsertion } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Context } from '../context.ts';
import { Problem } from '../errors.ts';
import { hashPassword } from '../credentials/hash.ts';
import { comparePassword, underThrottle } from '../credentials/password-attempt.ts';
import type { Attempt } from '../credentials/throttle.ts';
import { updateHash, type Account } from '../accounts/users.ts';
import { openSession, type OpenedSession } from './open.ts';

/**
 * Checks a name and a password and opens a session. Throws 401 `invalid-credentials`, 429 `rate-limited` after too many
 * failures, and 503 `busy`.
 */
export async function loginByPassword(
  context: Context,
  caller: Caller,
  { user, password, locale }: { user: string; password: string; locale: string | undefined },
): Promise<OpenedSession> {
  const { db } = context;
  const opened = await underThrottle(context, caller, user, async (attempt) => {
    const { account: found } = attempt;
    const { matches, outdated } = await comparePassword(context, caller, found, password);
    if (found?.active && matches) {
      if (outdated) await updateHash(db, found.id, found.credentialVersion, await hashPassword(context, password));
      const opened = await openSession(context, caller, { account: found, method: 'password', locale, attempt }).catch(unlessRefused);
      if (opened) return opened;
    }
    noteFailure(context, caller, attempt);
    return undefined;
  });
  if (!opened) throw new Problem('invalid-credentials');
  return opened;
}

/**
 * Lets the failure of the attempt be audited, as far as the quota allows. Each failure on an account counts for the account, so that strangers'
 * failures on made-up names, which are one kind for each address, leave none of them out. The event is written by the statement that counts
 * the failure, so that the time of an answer hardly differs between a name whose event is written and one whose event is not (rule 42).
 */
function noteFailure(context: Context, caller: Caller, { account, onFailure }: Attempt): void {
  const event = { event: 'login.failed', outcome: 'refused', userName: account?.name } as const;
  const admitted = admitRefusal(context, caller, event, account && { subject: accountSubject(account), kind: caller.origin.requestId });
  if (admitted) onFailure(eventInsertion(context.db, caller.origin, admitted));
}

/** A wrong password names an account and proves nothing. */
const accountSubject = ({ name }: Account): Subject => ({ budget: 'named', name: `account ${name}` });

/** Undefined for an account that has been disabled or got another password meanwhile; throws any other error. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof Problem) || error.code !== 'invalid-credentials') throw error;
}
