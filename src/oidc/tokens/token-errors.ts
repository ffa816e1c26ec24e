/** The reasons for which a token or its bearer is refused. The caller learns of the refusal; only the audit trail has the reason. */
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';

/** Reasons of refused tokens, for the audit trail; docs/issuers.md explains them. The caller learns only that the token was refused. */
export const refusalReasons = [
  'malformed',
  'too-long',
  'unknown-issuer',
  'wrong-issuer',
  'wrong-type',
  'wrong-algorithm',
  'critical-header',
  'unknown-key',
  'bad-signature',
  'wrong-audience',
  'inactive',
  'expired',
  'not-yet-valid',
  'incomplete',
  'id-token',
  'sender-constrained',
  'client-not-allowed',
  'not-linked',
  'client-not-linked',
  'no-profile',
  'user-disabled',
  'too-old',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Further facts for the audit trail: only what the issuer has signed, and the name of the claim that is missing or wrong. */
interface RefusalFacts {
  about?: { issuer: string; subject?: string; claim?: string };
  userName?: string;
  cause?: unknown;
  /** For the caller, about the place of the credential only. */
  faults?: readonly Fault[];
}

const notLinked: readonly RefusalReason[] = ['not-linked', 'client-not-linked', 'no-profile'];

/** The answer to a refused token: 401 `invalid-token`, or 403 `identity-not-linked` if the token is valid but its subject has no user. */
export class TokenError extends Problem {
  readonly reason: RefusalReason;
  readonly about: RefusalFacts['about'];
  readonly userName: string | undefined;

  constructor(reason: RefusalReason, { about, userName, cause, faults = [] }: RefusalFacts = {}) {
    super(notLinked.includes(reason) ? 'identity-not-linked' : 'invalid-token', { cause, faults });
    this.reason = reason;
    this.about = about;
    this.userName = userName;
  }
}
