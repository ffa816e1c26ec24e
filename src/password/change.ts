/**
 * Changes a password in one transaction: sets the new password, ends all other sessions and gives this session a new token. If a part
 * fails, nothing has changed (security rules 43 and 44).
 */
import { recordWithinQuota } from '../audit/record.ts';
import { insertEvent } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import type { PasswordChangeContext } from './context.ts';
import { Problem } from '../problems/errors.ts';
import type { Fault } from '../problems/faults.ts';
import { comparePassword, underThrottle } from '../credentials/password-attempt.ts';
import { revokeOthers } from '../sessions/revoke.ts';
import { rotateToken } from '../sessions/store.ts';
import { hashToken, newToken } from '../sessions/token.ts';
import { lostRace, presentTokenHash } from '../sessions/replace-token.ts';
import { listIdentities } from '../accounts/identities.ts';
import { getAccount, lockAccount, updatePassword, type Account } from '../accounts/users.ts';
import { hashPassword } from '../credentials/hash.ts';
import { normalisePassword } from '../credentials/normalise.ts';

export interface PasswordChange {
  current: string;
  next: string;
  confirmation: string;
}

/**
 * Sets the new password and returns the session's new token. Throws 403 `credential-mismatch` for a wrong present password. Throws 422
 * `password-rejected` for a new one that the policy rejects or that is not repeated exactly. Throws 429 after too many failures, and 409 or
 * 401 if the session has been refreshed or ended meanwhile.
 */
export async function changePassword(
  context: PasswordChangeContext,
  caller: Caller,
  principal: Principal,
  change: PasswordChange,
): Promise<string> {
  const { store, principals } = context;
  const origin = caller.origin;
  const oldHash = presentTokenHash(caller, context);
  const account = await getAccount(store.db, principal.user.id);
  await confirmPresent(context, caller, account, change.current);
  const faults = await faultsOf(context, account, change);
  if (faults.length > 0) {
    const reasons = faults.map(({ code }) => code);
    await recordRefusedChange(context, caller, reasons);
    throw new Problem('password-rejected', { faults });
  }
  const passwordHash = await hashPassword(context, change.next);
  const token = newToken();
  const done = await store.transaction(async (trx) => {
    // Locks the user's row first, as a login does, so that there is no deadlock between the two.
    if (!(await lockAccount(trx, account.id, account.credentialVersion))) return false;
    const id = await rotateToken(trx, oldHash, hashToken(token), { credentialVersion: account.credentialVersion + 1 });
    if (id === undefined) return false;
    await updatePassword(trx, account.id, passwordHash);
    const ended = await revokeOthers(trx, account.id, id, 'password-changed');
    const keys = await trx.selectFrom('api_key').where('user_id', '=', account.id).where('revoked_at', 'is', null).select('id').execute();
    const identities = await listIdentities(trx, account.name);
    const detail = {
      endedSessions: ended.length,
      apiKeysKept: keys.map((key) => key.id),
      identitiesKept: identities.map(({ issuer, subject }) => ({ issuer, subject })),
    };
    await insertEvent(trx, origin, { event: 'password.changed', outcome: 'ok', userName: account.name, sessionId: id, detail });
    return true;
  });
  if (!done) throw await lostRace(context, oldHash);
  principals.forget(`user ${account.id}`);
  await context.listener.settle();
  return token;
}

async function confirmPresent(context: PasswordChangeContext, caller: Caller, account: Account, current: string): Promise<void> {
  const confirmed = await underThrottle(context, caller, account.name, async () => {
    const { matches } = await comparePassword(context, caller, account, current);
    return matches || undefined;
  });
  if (confirmed) return;
  await recordRefusedChange(context, caller, ['credential-mismatch']);
  throw new Problem('credential-mismatch');
}

/** Audits each refused change of the caller, as far as the quota allows. */
function recordRefusedChange(context: PasswordChangeContext, caller: Caller, reasons: string[]): Promise<void> {
  return recordWithinQuota(
    context,
    caller,
    { event: 'password.refused', outcome: 'refused', detail: { reasons } },
    { kind: caller.origin.requestId },
  );
}

async function faultsOf(
  { policy }: PasswordChangeContext,
  account: Account,
  { current, next, confirmation }: PasswordChange,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  if (normalisePassword(next) !== normalisePassword(confirmation))
    faults.push({ pointer: '/confirm-password', code: 'not-repeated-exactly' });
  if (normalisePassword(next) === normalisePassword(current)) faults.push({ pointer: '/set-password', code: 'unchanged' });
  return [...faults, ...(await policy.check(next, { pointer: '/set-password', userName: account.name, displayName: account.displayName }))];
}
