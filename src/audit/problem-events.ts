/** The audit events of problems: which problem causes one, and what its `reason` is. All other problems cause none, or a use case writes their event. */
import type { Problem, ProblemCode } from '../problems/errors.ts';
import type { AuditEventName } from './store.ts';

interface ProblemEvent {
  event: AuditEventName;
  reason?: 'code' | 'cause';
}

const denied = { event: 'permission.denied', reason: 'code' } as const;

/** The events of problems by code. */
export const problemEvents: Readonly<Partial<Record<ProblemCode, ProblemEvent>>> = {
  forbidden: denied,
  'field-forbidden': denied,
  'insufficient-scope': denied,
  'fresh-login-required': denied,
  'csrf-rejected': { event: 'csrf.refused' },
  'rate-limited': { event: 'rate.limited' },
  'internal-error': { event: 'fault', reason: 'cause' },
};

/** Limits, as in `RateLimit-Policy`, that have an event of their own. */
const limitEvents: Readonly<Record<string, AuditEventName>> = { 'login-account': 'login.throttled', 'login-address': 'login.throttled' };

/** The event of `problem`, and its reason; undefined if it causes none. */
export function eventOfProblem({
  code,
  audit: { limit = '' },
  cause,
}: Problem): { event: AuditEventName; reason: string | undefined } | undefined {
  const about = problemEvents[code];
  if (!about) return undefined;
  const event = limitEvents[limit] ?? about.event;
  switch (about.reason) {
    case 'code':
      return { event, reason: code };
    case 'cause':
      return { event, reason: cause instanceof Error ? cause.name : 'unknown' };
    case undefined:
      return { event, reason: undefined };
  }
}
