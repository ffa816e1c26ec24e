/**
 * What a session may do, by the way it was opened: one table for every operation outside the Entities API, where `authorize` decides
 * (security rules 47, 48, 56, 59 and 60, decision 60). docs/security.md shows the same table; a test compares both with openapi.yaml.
 */
import type { operations } from '../../generated/operations.ts';
import type { Operation } from '../contract/contract.ts';
import { Problem } from '../errors.ts';
import type { Principal } from '../authn/principal.ts';

/** How a session was opened. `narrowed`: with an access token whose scopes are a ceiling; `token`: with one that has no ceiling. */
export const sessionKinds = ['password', 'openid', 'token', 'narrowed'] as const;
export type SessionKind = (typeof sessionKinds)[number];

/** `fresh`: within 15 minutes of the sign-in. `itself`: to the session that asks, and to no other. */
export type SessionRight = 'yes' | 'fresh' | 'itself' | 'no';
export type SessionRights = Readonly<Record<SessionKind, SessionRight>>;

type Operations = typeof operations;
/** The operations outside the Entities API that have such callers. A new one without a row does not compile. */
type OperationsFor<Caller> = {
  [O in keyof Operations]: Operations[O] extends { tag: 'Entities' } ? never : Operations[O] extends { caller: Caller } ? O : never;
}[keyof Operations];

const everySession: SessionRights = { password: 'yes', openid: 'yes', token: 'yes', narrowed: 'yes' };
/** A token proves what its client may do, not that the user is there. */
const userIsThere: SessionRights = { password: 'yes', openid: 'yes', token: 'no', narrowed: 'no' };
const userHasJustSignedIn: SessionRights = { password: 'fresh', openid: 'fresh', token: 'no', narrowed: 'no' };

const rights: Record<OperationsFor<'principal'>, SessionRights> & Record<OperationsFor<'anyone'>, 'anyone'> = {
  getSession: everySession,
  listSessions: everySession,
  listProfiles: everySession,
  listKeys: everySession,
  listIdentities: everySession,

  refreshSession: everySession,
  revokeSession: { password: 'yes', openid: 'yes', token: 'itself', narrowed: 'itself' },
  revokeOtherSessions: userIsThere,

  selectProfile: userIsThere,
  selectDefaultProfile: { password: 'yes', openid: 'yes', token: 'yes', narrowed: 'no' },

  changePassword: userIsThere,

  createKey: userHasJustSignedIn,
  revokeKey: userHasJustSignedIn,
  rotateKey: userHasJustSignedIn,

  linkIdentity: userHasJustSignedIn,
  unlinkIdentity: userHasJustSignedIn,

  // No credential counts for these. To a session that the request carries they can do one thing: end it, which every session may.
  createSession: 'anyone',
  endSession: 'anyone',
  listIssuers: 'anyone',
  startOpenIdSignIn: 'anyone',
  // Where it completes a link, the session needs the right to `linkIdentity`.
  finishOpenIdSignIn: 'anyone',
  logoutFromProvider: 'anyone',
};

/** Every row of the table. */
export const sessionRights: ReadonlyMap<string, SessionRights | 'anyone'> = new Map(Object.entries(rights));

/**
 * The row of an operation; undefined where the session's kind does not matter: in the Entities API, and where callers without a credential
 * are let in. Throws for an operation without a row, and for a row that does not agree with the contract.
 */
export function rightsTo({ operationId, tag }: Pick<Operation, 'operationId' | 'tag'>, isOpen: boolean): SessionRights | undefined {
  if (tag === 'Entities') return undefined;
  const row = sessionRights.get(operationId);
  if (row === undefined) throw new Error(`src/rights/session-rights.ts: say which sessions may ${operationId}`);
  if ((row === 'anyone') !== isOpen)
    throw new Error(`src/rights/session-rights.ts: ${operationId} is not what openapi.yaml says of its callers`);
  return row === 'anyone' ? undefined : row;
}

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

/** Throws 403 `forbidden` when sessions of this kind link no identities. Linking takes minutes, so that the start alone asks for a recent sign-in. */
export function requireLinkingSession(principal: Principal): void {
  const kind = kindOf(principal);
  if (!kind || rights.linkIdentity[kind] === 'no') throw new Problem('forbidden');
}

/** A ceiling narrows a session whatever opened it. */
function kindOf({ method, scopes }: Principal): SessionKind | undefined {
  if (scopes !== null) return 'narrowed';
  return sessionKinds.find((kind) => kind === method);
}
