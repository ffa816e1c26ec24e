/**
 * A user's control over their own API keys (security rule 60), each change one transaction with its audit event. Which sessions may change
 * them has been decided by `rights/session-rights.ts`: never one that was opened with a token, so no ceiling can be left by making a key.
 */
import type { Transaction } from 'kysely';
import { insertEvent, type AuditEventName } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../authn/principal.ts';
import { grantMap } from '../rights/permit.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../database/failure.ts';
import type { Database, Scope } from '../database/tables.ts';
import { Problem } from '../errors.ts';
import { findProfile, listRoles } from '../accounts/profiles.ts';
import { lockCaller } from '../sessions/self-service.ts';
import { faultsOfScopes } from './scopes.ts';
import { insertKey, lockKey, replaceKey, revokeKey } from './store.ts';

export interface WantedKey {
  name: string;
  /** The name of one of the user's profiles; undefined for whichever is the default one when the key is used. */
  profile?: string;
  /** Undefined for no ceiling. */
  scopes?: Scope[];
  expiresInDays: number;
}

/** A key as it is shown once. */
export interface MadeKey {
  id: string;
  name: string;
  profile: string | null;
  scopes: Scope[] | null;
  createdAt: Date;
  expiresAt: Date;
  key: string;
}

/**
 * Makes a key. Throws 422 `validation-failed` for a profile that is not the user's and for scopes that the profile does not grant now; 409
 * `conflict` when the user has too many.
 */
export async function createKey(context: Context, caller: Caller, principal: Principal, wanted: WantedKey): Promise<MadeKey> {
  const { name, expiresInDays } = wanted;
  return await inTransaction(context.db, async (trx) => {
    await lockCaller(trx, principal);
    const { profileId, scopes } = await checkRights(trx, principal, wanted);
    const made = await insertKey(trx, { userId: principal.user.id, name, profileId, scopes, expiresInDays });
    const profile = wanted.profile ?? null;
    await audit(trx, caller, principal, 'api_key.created', { key: made.id, name, profile, expiresAt: made.expiresAt });
    return { ...made, name, profile, scopes };
  });
}

/** Ends one of the caller's keys, in every process before it returns. Throws 404 `not-found`. */
export async function revokeOwnKey(context: Context, caller: Caller, principal: Principal, id: string): Promise<void> {
  await inTransaction(context.db, async (trx) => {
    await lockCaller(trx, principal);
    if (!(await revokeKey(trx, id, principal.user.id))) throw new Problem('not-found');
    await audit(trx, caller, principal, 'api_key.revoked', { key: id });
  });
  await tellEveryone(context, id);
}

/**
 * Makes a key like the caller's key `id`, which goes on for `overlapSeconds` at most. Throws 404 `not-found`; 409 `conflict` when the key has
 * been replaced already, or the user has too many.
 */
export async function rotateKey(
  context: Context,
  caller: Caller,
  principal: Principal,
  id: string,
  overlapSeconds: number,
): Promise<MadeKey> {
  const { id: userId } = principal.user;
  const made = await inTransaction(context.db, async (trx) => {
    await lockCaller(trx, principal);
    const old = await lockKey(trx, id, userId);
    if (!old) throw new Problem('not-found');
    if (old.replaced) throw new Problem('conflict');
    const { name, profile, profileId, scopes, expiresInDays } = old;
    // First, so that without an overlap the old key does not count among the live ones any more.
    const worksUntil = await replaceKey(trx, id, overlapSeconds);
    const successor = await insertKey(trx, { userId, name, profileId, scopes, expiresInDays });
    await audit(trx, caller, principal, 'api_key.created', { key: successor.id, name, profile, expiresAt: successor.expiresAt });
    await audit(trx, caller, principal, 'api_key.rotated', { key: id, successor: successor.id, worksUntil });
    return { ...successor, name, profile, scopes };
  });
  await tellEveryone(context, id);
  return made;
}

/** The profile and the scopes that the new key is to have. */
async function checkRights(
  trx: Transaction<Database>,
  principal: Principal,
  wanted: WantedKey,
): Promise<{ profileId: string | null; scopes: Scope[] | null }> {
  const profile = await findProfile(trx, principal.user.id, wanted.profile);
  if (wanted.profile !== undefined && !profile) {
    throw new Problem('validation-failed', { faults: [{ pointer: '/profile', code: 'invalid-value' }] });
  }
  const profileId = wanted.profile === undefined ? null : (profile?.id ?? null);
  if (!wanted.scopes) return { profileId, scopes: null };
  const roles = profile ? await listRoles(trx, profile.id) : [];
  const faults = faultsOfScopes(wanted.scopes, grantMap(roles.flatMap((role) => role.grants)));
  if (faults.length > 0) throw new Problem('validation-failed', { faults });
  return { profileId, scopes: wanted.scopes };
}

async function audit(
  trx: Transaction<Database>,
  caller: Caller,
  { user, session }: Principal,
  event: AuditEventName,
  detail: Record<string, unknown>,
): Promise<void> {
  await insertEvent(trx, caller.origin, { event, outcome: 'ok', userName: user.name, sessionId: session?.id, detail });
}

async function tellEveryone({ principals, listener }: Context, id: string): Promise<void> {
  principals.forget(`key ${id}`);
  await listener.settle();
}
