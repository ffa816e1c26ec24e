/** The outcome of authentication, whichever way it went: the caller, and what the caller's profile and credential allow. */
import type { Scope, SessionMethod } from '../database/tables.ts';
import type { Grants } from '../rights/permit.ts';

/** The live session a request belongs to. `id` is the public handle. */
export interface SessionRecord {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  idleExpiresAt: Date;
  expiresAt: Date;
  credentialVersion: number;
  /**
   * Whether the user proved who they are within the last 15 minutes, by the database's clock. Neither a refresh nor a switch renews that, and
   * the time of a token (`iat`) does not count.
   */
  fresh: boolean;
  /** False for a token that a refresh has replaced less than ten seconds ago: it still reads and writes, but rotates nothing. */
  current: boolean;
  /** By which it was opened, through a provider or with a token; undefined for a password. */
  identity: { issuer: string; subject: string } | undefined;
  /** Where the user can end the session at the provider that this one was opened through. */
  endSessionUrl: string | null;
}

export interface Principal {
  user: { id: string; name: string; displayName: string };
  /** Undefined for a user without any profile, who may do nothing with entities. */
  profile: { id: string; name: string; label: string; default: boolean } | undefined;
  locale: string;
  method: SessionMethod | 'api-key' | 'bearer';
  issuer: string | null;
  authenticatedAt: Date;
  /** Only for a caller with a session cookie. */
  session: SessionRecord | undefined;
  /** What the roles of the active profile allow. */
  grants: Grants;
  /** A ceiling on the grants that came with the credential; null narrows nothing. */
  scopes: readonly Scope[] | null;
}
