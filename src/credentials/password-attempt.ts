/** One attempt at a password, by a sign-in or by a change of the password. An attempt that locks the account is audited. */
import { findAccount, type Account } from '../accounts/users.ts';
import { recordWithinQuota } from '../audit/record.ts';
import { insertEvent } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { AttemptContext } from './context.ts';
import { normaliseUserName } from '../user-name.ts';
import { verifyPassword, type Verification } from './hash.ts';
import { failuresUntilLocked, type Attempt } from './throttle.ts';

/**
 * Runs `evaluate`, which verifies a password of the user called `name` and returns undefined if it is wrong. Throws 429 `rate-limited`,
 * without running it, if that account or the caller's address has failed too often (rules 39 to 41).
 */
export async function underThrottle<T>(
  context: AttemptContext,
  caller: Caller,
  name: string,
  evaluate: (attempt: Attempt) => Promise<T | undefined>,
): Promise<T | undefined> {
  const {
    store: { db },
    throttle,
  } = context;
  const { granted, failures } = await throttle.attempt({ name, address: caller.origin.address }, evaluate);
  if (granted === undefined && failures === failuresUntilLocked) {
    const account = await findAccount(db, normaliseUserName(name) ?? '');
    const event = { event: 'login.locked', outcome: 'refused', userName: account?.name } as const;
    // An account is locked once until an administrator unlocks it. Any number of names do not exist, so their events count against a
    // budget.
    if (account) await insertEvent(db, caller.origin, event);
    else await recordWithinQuota(context, caller, event);
  }
  return granted;
}

/**
 * Compares a password with that of an account; undefined stands for an account that does not exist. Logs an unusable stored hash: one that
 * is out of bounds, or whose pepper is unknown (rules 36 and 37). Throws 503 `busy`.
 */
export async function comparePassword(
  context: AttemptContext,
  caller: Caller,
  account: Account | undefined,
  password: string,
): Promise<Verification> {
  const verification = await verifyPassword(context, account?.passwordHash ?? undefined, password);
  const { unusable: reason } = verification;
  if (reason) caller.log.error({ event: 'password.unusable', principal: account?.id, reason }, 'a stored hash was refused unseen');
  return verification;
}
