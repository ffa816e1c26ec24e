/** Converts the scopes of a token into a ceiling on the grants of the linked user's roles (security rule 48). */
import type { Action, Scope } from '../../database/tables.ts';
import type { AccessToken } from './verify.ts';

const actionsOf: Record<'read' | 'write', readonly Action[]> = { read: ['read'], write: ['create', 'update', 'delete'] };

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
