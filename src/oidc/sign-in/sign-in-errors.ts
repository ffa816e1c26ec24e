/**
 * Reasons why a sign-in at a provider failed, for the audit trail (security rule 85). The provider's own texts are not recorded, because
 * any client can send them.
 */
import { recordWithinQuota } from '../../audit/record.ts';
import type { Caller } from '../../authn/caller.ts';
import type { IssuerContext } from '../context.ts';
import { Problem } from '../../problems/errors.ts';
import type { Provider } from '../tokens/issuer-registry.ts';

/** docs/issuers.md explains them. The browser learns only that it must start again, or that its user is unknown here. */
export const failureReasons = [
  'unknown-state',
  'expired',
  'other-browser',
  'other-issuer',
  'provider-refused',
  'bad-answer',
  'code-refused',
  'bad-id-token',
  'clock-skew',
  'not-linked',
  'no-profile',
  'user-disabled',
  'too-old',
  'other-session',
  'taken',
] as const;
export type FailureReason = (typeof failureReasons)[number];

interface FailureFacts {
  /** Only signed facts of the provider, codes that the standards list, and the name of the claim that is missing or wrong. */
  about?: { subject?: string; error?: string | undefined; claim?: string | undefined };
  userName?: string | undefined;
  cause?: unknown;
}

const nobodyHere: readonly FailureReason[] = ['not-linked', 'no-profile', 'user-disabled'];

/** The answer to a browser whose sign-in failed: 400 `sign-in-failed`, 403 `identity-not-linked`, or 409 `conflict`. */
export class SignInError extends Problem {
  readonly reason: FailureReason;
  readonly about: FailureFacts['about'];
  readonly userName: string | undefined;

  constructor(reason: FailureReason, { about, userName, cause }: FailureFacts = {}) {
    super(nobodyHere.includes(reason) ? 'identity-not-linked' : reason === 'taken' ? 'conflict' : 'sign-in-failed', { cause });
    this.reason = reason;
    this.about = about;
    this.userName = userName;
  }
}

/** Runs `work` and rethrows its errors; those that end a sign-in become audit events. */
export async function auditSignInErrors<T>(
  context: IssuerContext,
  caller: Caller,
  { issuer }: Provider,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SignInError) {
      const { reason, about, userName } = error;
      await recordWithinQuota(context, caller, {
        event: 'oidc.failed',
        outcome: 'refused',
        userName,
        detail: { issuer, reason, ...about },
      });
    } else if (error instanceof Problem && error.code === 'issuer-unavailable') {
      await recordWithinQuota(context, caller, { event: 'oidc.failed', outcome: 'failed', detail: { issuer, reason: error.code } });
    }
    throw error;
  }
}
