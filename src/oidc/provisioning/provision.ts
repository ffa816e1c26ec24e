/**
 * Finds the user for an issuer and a subject: the linked user, or a new user if the issuer is configured for automatic provisioning. An
 * existing user is never linked automatically (security rule 56). The profiles of both follow the subject's claims.
 */
import { createHash } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { insertEvent } from '../../audit/store.ts';
import type { Caller } from '../../authn/caller.ts';
import type { IssuerContext } from '../context.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import { insertAssignment, lockAnyProfiles } from '../../accounts/assignments.ts';
import { findLinkedAccount, insertIdentity, lockIdentity, type Identity } from '../../accounts/identities.ts';
import { findUnlinkedClaimsAt, updateClaims } from '../../accounts/identity-claims.ts';
import { normaliseUserName } from '../../user-name.ts';
import { insertUser } from '../../accounts/users.ts';
import { claimedProfiles, followClaims, type IssuedClaims } from './claimed-profiles.ts';
import { claimedRights } from './claimed-rights.ts';
import { recordUnknownClaim, unknownClaimReason } from './unknown-claims.ts';
import { isText } from '../tokens/claims.ts';
import { TokenError } from '../tokens/token-errors.ts';

/** A subject of a token that has just been verified. */
export interface Presented extends IssuedClaims {
  /** Whether the subject is a client without a user. Clients get no automatic user, and an administrator decides their profiles. */
  isClient: boolean;
}

/**
 * Returns the result of `find` for the identity, after a missing user has been created and changed profiles have been stored. Throws {@link
 * TokenError} `not-linked`, `client-not-linked` or `no-profile`. The user may be disabled: the caller must check that.
 */
export async function findOrProvision<T>(
  context: IssuerContext,
  caller: Caller,
  presented: Presented,
  find: (db: Kysely<Database>, identity: Identity) => Promise<T | undefined>,
): Promise<T> {
  const { issuer, subject, isClient } = presented;
  const identity = { issuer: issuer.issuer, subject };
  const found = await find(context.store.db, identity);
  if (found !== undefined && (isClient || !(await followClaims(context, caller, presented)))) return found;
  if (found === undefined) {
    if (isClient) throw new TokenError('client-not-linked', { about: identity });
    if (!issuer.provision) throw new TokenError('not-linked', { about: identity });
    await provision(context, caller, presented, issuer.provision.profile);
  }
  const settled = await find(context.store.db, identity);
  if (settled === undefined) throw new TokenError('not-linked', { about: identity });
  return settled;
}

/**
 * Creates a user with the profile and links the identity to it, unless another request has done so meanwhile. Claims that are older than
 * those of a removed link create nothing.
 */
async function provision(context: IssuerContext, caller: Caller, presented: Presented, profile: string): Promise<void> {
  const { store } = context;
  const { issuer, subject, claims, issuedAt } = presented;
  const identity = { issuer: issuer.issuer, subject };
  const created = await store.transaction(async (trx) => {
    await lockIdentity(trx, identity);
    if (await findLinkedAccount(trx, identity)) return undefined;
    const unlinkedAt = await findUnlinkedClaimsAt(trx, identity);
    const isOutdated = unlinkedAt !== undefined && issuedAt < unlinkedAt;
    const claimed = isOutdated ? [] : claimedProfiles(issuer.profiles, claims);
    const names = [...new Set([...claimed, profile])];
    const profiles = await lockAnyProfiles(trx, names);
    if (!profiles.some(({ name }) => name === profile)) throw new TokenError('no-profile', { about: identity });
    const user = await insertUnderFreeName(trx, presented);
    // The administration command of version 0.1.0 links without the lock.
    if (!(await insertIdentity(trx, identity, user.id, issuedAt))) throw new Problem('unavailable', { headers: { 'Retry-After': '1' } });
    const values = isOutdated ? null : claimedRights(issuer, claims, caller);
    if (values) await updateClaims(trx, identity, issuedAt, values);
    const origin = caller.origin;
    const noted = { outcome: 'ok', userName: user.name } as const;
    const by = 'issuer';
    await insertEvent(trx, origin, { ...noted, event: 'user.created', detail: { by, ...identity } });
    await insertEvent(trx, origin, { ...noted, event: 'identity.linked', detail: { by, ...identity } });
    for (const { id, name } of profiles) {
      const assigned = await insertAssignment(trx, user.id, id, false);
      const detail = { by, ...identity, profile: name, default: assigned?.isDefault };
      await insertEvent(trx, origin, { ...noted, event: 'profile.assigned', detail });
    }
    return user;
  });
  const unknown = issuer.profiles && unknownClaimReason(issuer.profiles, claims);
  if (created && unknown) await recordUnknownClaim(context, caller, presented, created.name, unknown);
}

async function insertUnderFreeName(trx: Transaction<Database>, presented: Presented): Promise<{ id: string; name: string }> {
  const { claims, issuer, subject } = presented;
  for (const name of namesFor(presented)) {
    const { name: shown } = claims;
    const displayName = isText(shown) && Array.from(shown).length <= 200 ? shown : name;
    const id = await insertUser(trx, { name, displayName, locale: null, passwordHash: null });
    if (id !== undefined) return { id, name };
  }
  throw new TokenError('not-linked', { about: { issuer: issuer.issuer, subject } });
}

/**
 * User names to try, the most readable first; a name that is taken belongs to another user. People choose `preferred_username` themselves,
 * so only plain letters of it are used: no name looks like another user's. Generated names contain `:` and `#`.
 */
function* namesFor({ issuer: { id, issuer }, subject, claims }: Presented): Generator<string> {
  const { preferred_username: preferred } = claims;
  const wanted = typeof preferred === 'string' ? normaliseUserName(preferred) : undefined;
  if (wanted !== undefined && /^[a-z0-9._@+-]{1,64}$/.test(wanted)) yield wanted;
  const derived = normaliseUserName(`${id}:${subject}`);
  if (derived !== undefined) yield derived;
  yield `${id}#${createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex')
    .slice(0, 32)}`;
}
