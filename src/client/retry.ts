/** Which requests are sent again, and after which delay. */
import { ApiError, type ClientError } from './errors.ts';

/** How a client repeats requests after a transient failure. */
export interface RetryPolicy {
  /** Maximum number of attempts, the first one included. */
  attempts: number;
  /** Milliseconds after the start of the first attempt after which no attempt begins. */
  totalMs: number;
  /** Maximum of the first pause in milliseconds; it doubles with each pause. */
  baseMs: number;
  /** Maximum of every pause in milliseconds, unless the service asks for a longer one. */
  maxMs: number;
}

export const standardRetry: RetryPolicy = { attempts: 4, totalMs: 60_000, baseMs: 250, maxMs: 10_000 };

/**
 * `always`: the request is safe to repeat. `refused`: it is safe to repeat if the service said that it did nothing. `never`: it is not
 * repeated.
 */
export type Repeatable = 'always' | 'refused' | 'never';

/**
 * By method (RFC 9110 section 9.2.2) and by the headers of a POST. With an Idempotency-Key it takes effect once; with an If-Match at most once,
 * but a repeat may fail because the first attempt succeeded.
 */
export function repeatable(method: string, headers: Headers): Repeatable {
  if (method !== 'POST' || headers.has('Idempotency-Key')) return 'always';
  return headers.has('If-Match') ? 'refused' : 'never';
}

/** Whether the failed attempt may have taken effect. */
export function isOutcomeUnknown(error: ApiError | ClientError): boolean {
  if (error instanceof ApiError) return error.code === 'outcome-unknown';
  return error.reason === 'network' || error.reason === 'timeout' || error.status === 503;
}

/** Whether a request that failed with this error may be sent again. */
export function mayRepeat(error: ApiError | ClientError, how: Repeatable): boolean {
  if (how === 'never' || (how === 'refused' && isOutcomeUnknown(error))) return false;
  if (error.status === 429 || error.status === 503) return true;
  if (error instanceof ApiError) return error.code === 'idempotency-in-progress';
  return error.reason === 'network' || error.reason === 'timeout';
}

/**
 * Milliseconds to wait before attempt number `next`, which is 2 or more. Full jitter spreads clients that failed at the same moment; `random`
 * is at least 0 and less than 1. The pause is never shorter than Retry-After.
 */
export function pauseMs(policy: RetryPolicy, next: number, retryAfterSeconds: number | undefined, random: number): number {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1000 + random * policy.baseMs;
  return random * Math.min(policy.maxMs, policy.baseMs * 2 ** (next - 2));
}

/** Seconds from a `Retry-After` header, which has seconds or a date (RFC 9110 section 10.2.3); undefined without a valid one. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  // Date.parse accepts almost any text: it reads `-1` as a date in 2001.
  const date = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
