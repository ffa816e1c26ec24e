/**
 * What a session may do, by the way it was opened (rules 47, 48, 56, 59 and 60, decision 60). Each operation of openapi.yaml names one of these
 * rights in its `x-session-rights`. docs/security.md shows what that makes of each operation; a test compares both.
 */
import { Problem } from '../problems/errors.ts';
import type { Principal } from './principal.ts';

/** How a session was opened. `narrowed`: with an access token whose scopes are a ceiling; `token`: with one that has no ceiling. */
export const sessionKinds = ['password', 'openid', 'token', 'narrowed'] as const;
type SessionKind = (typeof sessionKinds)[number];

/** `fresh`: within 15 minutes of the sign-in. `itself`: to the session that asks, and to no other. */
type SessionRight = 'yes' | 'fresh' | 'itself' | 'no';
export type SessionRights = Readonly<Record<SessionKind, SessionRight>>;

const everySession = { password: 'yes', openid: 'yes', token: 'yes', narrowed: 'yes' } as const;

/** The rights by the names that `x-session-rights` takes. A token proves what its client may do, not that the user is present. */
export const sessionRights = {
  /** The grants and scopes of the caller decide, whatever opened the session; see `authorize` in permit.ts. */
  'by-grants': everySession,
  'every-session': everySession,
  'not-narrowed': { ...everySession, narrowed: 'no' },
  'itself-by-token': { password: 'yes', openid: 'yes', token: 'itself', narrowed: 'itself' },
  'user-present': { password: 'yes', openid: 'yes', token: 'no', narrowed: 'no' },
  'recent-login': { password: 'fresh', openid: 'fresh', token: 'no', narrowed: 'no' },
} as const satisfies Record<string, SessionRights>;

/**
 * Throws 403 `forbidden` when sessions of this kind may not do it, or only to themselves and `id` names another; 403 `fresh-login-required`
 * when the sign-in was too long ago. A caller without a session passes: whether its credential is taken is decided by the contract.
 */
export function requireSessionRight(principal: Principal, to: SessionRights, id: string | undefined): void {
  const { session } = principal;
  if (!session) return;
  const kind = kindOf(principal);
  const right = kind && to[kind];
  if (right === 'yes' || (right === 'itself' && id?.toLowerCase() === session.id)) return;
  if (right !== 'fresh') throw new Problem('forbidden');
  if (!session.fresh) throw new Problem('fresh-login-required');
}

/**
 * Throws 403 `forbidden` when sessions of this kind link no identities. Linking takes minutes, so only its start, `linkIdentity`, needs a recent
 * sign-in.
 */
export function requireLinkingSession(principal: Principal): void {
  requireSessionRight(principal, sessionRights['user-present'], undefined);
}

/** A ceiling narrows a session whatever opened it. */
function kindOf({ method, scopes }: Principal): SessionKind | undefined {
  if (scopes !== null) return 'narrowed';
  return sessionKinds.find((kind) => kind === method);
}
