/**
 * Signs in by name and password: admits the attempt, verifies the password, and lets the attempt succeed or fail. Whatever is wrong with a name
 * or a password, the caller gets the same answer for the same work (security rule 42).
 */
import { updateHash, type Account } from '../accounts/users.ts';
import type { Subject } from '../audit/quota.ts';
import { admitToQuota } from '../audit/record.ts';
import { eventInsertion } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { LoginContext } from './context.ts';
import { hashPassword } from '../credentials/hash.ts';
import { comparePassword, underThrottle } from '../credentials/password-attempt.ts';
import type { Attempt } from '../credentials/throttle.ts';
import { Problem } from '../problems/errors.ts';
import { openSession, type OpenedSession } from './open.ts';

export interface PasswordLogin {
  user: string;
  password: string;
  /** Undefined: the one of the default profile, else of the user, else English. */
  locale: string | undefined;
}

/** The result of a verified password: the account, and whether a new hash of the password must be stored. */
interface Verified {
  account: Account;
  outdated: boolean;
}

/** Opens a session. Throws 401 `invalid-credentials`, 429 `rate-limited` after too many failures, and 503 `busy`. */
export async function loginByPassword(context: LoginContext, caller: Caller, login: PasswordLogin): Promise<OpenedSession> {
  const opened = await underThrottle(context, caller, login.user, async (attempt) => {
    const verified = await verify(context, caller, attempt, login);
    const session = verified && (await succeed(context, caller, attempt, verified, login));
    if (!session) fail(context, caller, attempt);
    return session;
  });
  if (!opened) throw new Problem('invalid-credentials');
  return opened;
}

/** The active account whose password this is; undefined for any other. An unknown name takes the same time. */
async function verify(
  context: LoginContext,
  caller: Caller,
  { account }: Attempt,
  { password }: PasswordLogin,
): Promise<Verified | undefined> {
  const { matches, outdated } = await comparePassword(context, caller, account, password);
  return account?.active && matches ? { account, outdated } : undefined;
}

/** Opens the session. Undefined when the account was disabled or got another password after it was read. */
async function succeed(
  context: LoginContext,
  caller: Caller,
  attempt: Attempt,
  { account, outdated }: Verified,
  { password, locale }: PasswordLogin,
): Promise<OpenedSession | undefined> {
  if (outdated) await updateHash(context.store.db, account.id, account.credentialVersion, await hashPassword(context, password));
  const opened = await openSession(context, caller, { account, method: 'password', locale, attempt });
  return 'refused' in opened ? undefined : opened;
}

/**
 * Lets the failure of the attempt be audited, as far as the quota allows. Each failure on an account counts for the account. So failures on names
 * that do not exist, which are one kind for each address, leave none of them out. The statement that counts the failure writes the event, so
 * that the time of an answer hardly depends on whether an event is written (rule 42).
 */
function fail(context: LoginContext, caller: Caller, { account, onFailure }: Attempt): void {
  const event = { event: 'login.failed', outcome: 'refused', userName: account?.name } as const;
  const admitted = admitToQuota(context, caller, event, account && { subject: accountSubject(account), kind: caller.origin.requestId });
  if (admitted) onFailure(eventInsertion(context.store.db, caller.origin, admitted));
}

/** A wrong password names an account and proves nothing. */
const accountSubject = ({ name }: Account): Subject => ({ budget: 'named', name: `account ${name}` });
