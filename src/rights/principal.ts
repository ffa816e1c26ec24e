/** The result of authentication with any credential: the caller, and what the caller's profile and credential allow. */
import type { Action, Scope, SessionMethod } from './vocabulary.ts';
import type { Variables } from '../filter/variables.ts';
import type { Grant } from './grant.ts';
import type { Grants } from './permit.ts';

/** The live session of a request. `id` is the public handle. */
export interface SessionRecord {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  idleExpiresAt: Date;
  expiresAt: Date;
  credentialVersion: number;
  /**
   * Whether the user authenticated within the last 15 minutes, by the database's clock. Neither a refresh nor a switch renews that, and the
   * time of a token (`iat`) does not count.
   */
  fresh: boolean;
  /** False for a token that a refresh has replaced less than ten seconds ago: it still reads and writes, but rotates nothing. */
  current: boolean;
  /** The identity with which the session was opened, through a provider or with a token; undefined for a password. */
  identity: { issuer: string; subject: string } | undefined;
  /** The page for signing out at the provider through which the session was opened. */
  endSessionUrl: string | null;
}

type StoredValues = Readonly<Record<string, unknown>>;

/** The rules among the grants of a principal, bound to the types as they are now. */
export interface PrincipalRules {
  /** The grant of a rule on the name, or on `*`. */
  grantOf(digest: string, entity: string, action: Action): Grant;
  /** The fields that the type of the name calls sensitive. */
  sensitiveOf(entity: string): ReadonlySet<string>;
  /** The declared variables with the values of the caller, attributes and claims among them. */
  variables: Variables;
}

export interface Principal {
  /** Attributes are as they are stored: some may not be of their declared types. */
  user: { id: string; name: string; displayName: string; attributes: StoredValues };
  /** Undefined for a user without any profile, who has no right to entities. */
  profile: { id: string; name: string; label: string; default: boolean; attributes: StoredValues } | undefined;
  /** The claims of the newest token of the identity, as they are stored; none for a password and an API key. */
  claims: StoredValues;
  /** An IANA name, which decides about `today`; null for UTC. */
  timeZone: string | null;
  locale: string;
  method: SessionMethod | 'api-key' | 'bearer';
  issuer: string | null;
  authenticatedAt: Date;
  /** The credential as the rows of changes name it: `session:<id>`, `key:<id>`, `token:<issuer>:<client id>` or `command`. No secret. */
  credential: string;
  /** Only for a caller with a session cookie. */
  session: SessionRecord | undefined;
  /** The grants of the roles of the active profile. */
  grants: Grants;
  /** The rules of the digests in the grants, and the sensitive fields of the types. Undefined for a caller without both. */
  rules?: PrincipalRules | undefined;
  /** A ceiling on the grants, from the credential; null for no ceiling. */
  scopes: readonly Scope[] | null;
}
