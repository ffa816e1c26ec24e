/** When a request is sent again, and after how long. */
import { ApiError, type ClientError } from './errors.ts';

/** How a client repeats requests that failed for a reason that passes. */
export interface RetryPolicy {
  /** Attempts at most, the first one included. */
  attempts: number;
  /** Milliseconds after the start of the first attempt beyond which none is begun. */
  totalMs: number;
  /** Milliseconds the first pause may last at most; each later one may last twice as long. */
  baseMs: number;
  /** Milliseconds no pause exceeds, unless the service asks for a longer one. */
  maxMs: number;
}

export const standardRetry: RetryPolicy = { attempts: 4, totalMs: 60_000, baseMs: 250, maxMs: 10_000 };

/**
 * What may be sent again: `always` what does no harm twice; `refused` what does no harm if the service says that it did nothing the first
 * time; `never` all else.
 */
export type Repeatable = 'always' | 'refused' | 'never';

/**
 * By method (RFC 9110 section 9.2.2), and by what guards a POST: an Idempotency-Key makes it happen once, an If-Match at most once, though
 * a repeat could be refused because the first attempt succeeded.
 */
export function repeatable(method: string, headers: Headers): Repeatable {
  if (method !== 'POST' || headers.has('Idempotency-Key')) return 'always';
  return headers.has('If-Match') ? 'refused' : 'never';
}

/** Whether the first attempt may have had its effect although it failed. */
export function isOutcomeUnknown(error: ApiError | ClientError): boolean {
  if (error instanceof ApiError) return error.code === 'outcome-unknown';
  return error.reason === 'network' || error.reason === 'timeout' || error.status === 503;
}

/** Whether what failed so may be sent again. */
export function mayRepeat(error: ApiError | ClientError, how: Repeatable): boolean {
  if (how === 'never' || (how === 'refused' && isOutcomeUnknown(error))) return false;
  if (error.status === 429 || error.status === 503) return true;
  if (error instanceof ApiError) return error.code === 'idempotency-in-progress';
  return error.reason === 'network' || error.reason === 'timeout';
}

/**
 * Milliseconds to wait before attempt number `next`, which is 2 or more. Full jitter, so that clients that failed together do not come
 * back together; `random` is at least 0 and less than 1. What the service asks for is never undercut.
 */
export function pauseMs(policy: RetryPolicy, next: number, retryAfterSeconds: number | undefined, random: number): number {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1000 + random * policy.baseMs;
  return random * Math.min(policy.maxMs, policy.baseMs * 2 ** (next - 2));
}

/** Seconds from a `Retry-After` header, which has seconds or a date (RFC 9110 section 10.2.3); undefined for none and for nonsense. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  // Date.parse alone would take nearly anything: `-1` is in 2001.
  const date = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
