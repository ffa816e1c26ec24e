/**
 * A user's operations on their own API keys (security rule 60). Each change is one transaction with its audit event.
 * `rights/session-rights.ts` decides which sessions may change keys: never one that was opened with a token. So no caller can escape a
 * ceiling by creating a key.
 */
import type { Transaction } from 'kysely';
import { insertEvent, type AuditEventName } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import type { KeyContext } from './context.ts';
import type { Database } from '../database/tables.ts';
import type { Scope } from '../rights/vocabulary.ts';
import { Problem } from '../problems/errors.ts';
import { lockCaller } from '../sessions/self-service.ts';
import { insertKey, lockKey, replaceKey, revokeKey } from './store.ts';
import { checkRights, type WantedKey } from './wanted.ts';

/** A new key. Only the answer to its creation contains it. */
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
 * Creates a key. Throws 422 `validation-failed` for a profile that the user does not have and for scopes that the profile does not grant
 * now. Throws 409 `conflict` if the user has {@link liveKeysPerUser} live keys.
 */
export async function createKey(context: KeyContext, caller: Caller, principal: Principal, wanted: WantedKey): Promise<MadeKey> {
  const { name, expiresInDays } = wanted;
  return await context.store.transaction(async (trx) => {
    await lockCaller(trx, principal);
    const { profileId, scopes } = await checkRights(trx, principal.user.id, wanted);
    const made = await insertKey(trx, { userId: principal.user.id, name, profileId, scopes, expiresInDays });
    const profile = wanted.profile ?? null;
    await audit(trx, caller, principal, 'api_key.created', { key: made.id, name, profile, scopes, expiresAt: made.expiresAt });
    return { ...made, name, profile, scopes };
  });
}

/** Revokes one of the caller's keys, in every process before it returns. Throws 404 `not-found`. */
export async function revokeOwnKey(context: KeyContext, caller: Caller, principal: Principal, id: string): Promise<void> {
  await context.store.transaction(async (trx) => {
    await lockCaller(trx, principal);
    if (!(await revokeKey(trx, id, principal.user.id))) throw new Problem('not-found');
    await audit(trx, caller, principal, 'api_key.revoked', { key: id });
  });
  await tellEveryone(context, id);
}

/**
 * Creates a successor of the caller's key `id`, which remains valid for `overlapSeconds` at most. Throws 404 `not-found`; 409 `conflict` if
 * the key has a successor already, or the user has too many keys.
 */
export async function rotateKey(
  context: KeyContext,
  caller: Caller,
  principal: Principal,
  id: string,
  overlapSeconds: number,
): Promise<MadeKey> {
  const { id: userId } = principal.user;
  const made = await context.store.transaction(async (trx) => {
    await lockCaller(trx, principal);
    const old = await lockKey(trx, id, userId);
    if (!old) throw new Problem('not-found');
    if (old.replaced) throw new Problem('conflict');
    const { name, profile, profileId, scopes, expiresInDays } = old;
    // Before the insert, so that without an overlap the old key no longer counts among the live ones.
    const worksUntil = await replaceKey(trx, id, overlapSeconds);
    const successor = await insertKey(trx, { userId, name, profileId, scopes, expiresInDays });
    await audit(trx, caller, principal, 'api_key.created', { key: successor.id, name, profile, scopes, expiresAt: successor.expiresAt });
    await audit(trx, caller, principal, 'api_key.rotated', { key: id, successor: successor.id, worksUntil });
    return { ...successor, name, profile, scopes };
  });
  await tellEveryone(context, id);
  return made;
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

async function tellEveryone({ principals, listener }: KeyContext, id: string): Promise<void> {
  principals.forget(`key ${id}`);
  await listener.settle();
}
