/** Converts the scopes of a token into a ceiling on the grants of the linked user's roles (security rule 48). */
import type { Action, Scope } from '../../rights/vocabulary.ts';
import type { AccessToken } from './verify.ts';

const actionsOf: Record<'read' | 'write', readonly Action[]> = { read: ['read', 'label'], write: ['create', 'update', 'delete'] };

/** One scope (RFC 6749, section 3.3). */
export const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * The scopes of a claim: a text with spaces between them (RFC 9068, section 2.2.3), or a list with one in each item, as Okta and Duende
 * send. Empty without the claim. Undefined for any other value, also for a list whose items are no scopes.
 */
export function scopesOf(claim: unknown): readonly string[] | undefined {
  if (claim === undefined) return [];
  if (typeof claim === 'string') return claim.split(' ').filter(Boolean);
  if (!Array.isArray(claim)) return undefined;
  const scopes = claim.filter((item): item is string => typeof item === 'string' && scopeToken.test(item));
  return scopes.length === claim.length ? scopes : undefined;
}

/** The ceiling on the grants; null if scopes of this issuer do not restrict tokens, empty if the token permits no action on entities. */
export function ceilingOf({ issuer, scopes }: Pick<AccessToken, 'issuer' | 'scopes'>): Scope[] | null {
  if (!issuer.scopes) return null;
  const { read, write } = issuer.scopes;
  const actions = [
    ...(read !== undefined && scopes.includes(read) ? actionsOf.read : []),
    ...(write !== undefined && scopes.includes(write) ? actionsOf.write : []),
  ];
  return actions.length > 0 ? [{ entity: '*', actions }] : [];
}
