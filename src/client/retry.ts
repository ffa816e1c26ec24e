/** Which requests are sent again, and after which delay. */
import { ApiError, type ClientError } from './errors.ts';

/** How a client repeats requests after a transient failure. */
export interface RetryPolicy {
  /** Maximum number of attempts, the first one included. */
  attempts: number;
  /** Milliseconds after the start of the first attempt after which no attempt begins. */
  totalMs: number;
  /** Maximum of the first pause in milliseconds; it doubles with each pause. Each pause has at least half of its maximum. */
  baseMs: number;
  /** Maximum of every pause in milliseconds, unless the service asks for a longer one. */
  maxMs: number;
}

/** The pauses of eight attempts take 12.8 to 25.8 seconds, so they bridge a restart of the service that takes ten. */
export const standardRetry: RetryPolicy = { attempts: 8, totalMs: 60_000, baseMs: 250, maxMs: 10_000 };

/**
 * `always`: the request is safe to repeat. `refused`: it is safe to repeat if the service said that it did nothing. `never`: it is not
 * repeated.
 */
export type Repeatable = 'always' | 'refused' | 'never';

/** The paths of operations that only read, although they are a POST. */
const readingPaths: readonly string[] = ['/rest/entity/{name}/query'];

/**
 * By method (RFC 9110 section 9.2.2), and by the path and the headers of a POST. With an Idempotency-Key it takes effect once; with an If-Match at most once,
 * but a repeat may fail because the first attempt succeeded.
 */
export function repeatabilityOf(method: string, path: string, headers: Headers): Repeatable {
  if (method !== 'POST' || headers.has('Idempotency-Key') || readingPaths.includes(path)) return 'always';
  return headers.has('If-Match') ? 'refused' : 'never';
}

/** The statuses of a proxy that got no answer from the service, or not in time. The service itself never sends them. */
const gatewayStatuses: readonly (number | undefined)[] = [502, 504];

/** Whether the failed attempt may have taken effect. */
export function isOutcomeUnknown(error: ApiError | ClientError): boolean {
  if (gatewayStatuses.includes(error.status)) return true;
  if (error instanceof ApiError) return error.code === 'outcome-unknown';
  if (error.reason === 'network') return !wasRefused(error.cause);
  return error.reason === 'timeout' || error.status === 503;
}

/** Whether no connection was made, so that nothing was sent. Node.js, Deno and Bun say so; browsers do not. */
function wasRefused(cause: unknown): boolean {
  if (typeof cause !== 'object' || cause === null) return false;
  const { code, cause: inner } = cause as { code?: unknown; cause?: unknown };
  return code === 'ECONNREFUSED' || code === 'ConnectionRefused' || wasRefused(inner);
}

/** Whether a request that failed with this error may be sent again. */
export function mayRepeat(error: ApiError | ClientError, how: Repeatable): boolean {
  if (how === 'never' || (how === 'refused' && isOutcomeUnknown(error))) return false;
  if (error.status === 429 || error.status === 503 || gatewayStatuses.includes(error.status)) return true;
  if (error instanceof ApiError) return error.code === 'idempotency-in-progress';
  return error.reason === 'network' || error.reason === 'timeout';
}

/**
 * Milliseconds to wait before attempt number `next`, which is 2 or more. Jitter spreads clients that failed at the same moment; `random` is at
 * least 0 and less than 1. The pause is never shorter than Retry-After, and never shorter than half of its maximum: the pauses together
 * bridge a restart.
 */
export function pauseMs(policy: RetryPolicy, next: number, retryAfterSeconds: number | undefined, random: number): number {
  const ownMs = ((1 + random) / 2) * Math.min(policy.maxMs, policy.baseMs * 2 ** (next - 2));
  return retryAfterSeconds === undefined ? ownMs : Math.max(ownMs, retryAfterSeconds * 1000 + random * policy.baseMs);
}

/** The pauses of `change` after a conflict: the first has at most 20 milliseconds, and each at most a second. */
const conflict = { baseMs: 20, maxMs: 1_000 };

/** Milliseconds to wait after conflict number `count`, which is 1 or more. Full jitter: of equal clients some come at once. */
export function conflictPauseMs(count: number, random: number): number {
  return random * Math.min(conflict.maxMs, conflict.baseMs * 2 ** (count - 1));
}

/** Seconds from a `Retry-After` header, which has seconds or a date (RFC 9110 section 10.2.3); undefined without a valid one. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  // Date.parse accepts almost any text: it reads `-1` as a date in 2001.
  const date = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
