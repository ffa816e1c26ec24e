/** The answers to work that is not admitted. */
import { Problem } from '../problems/errors.ts';

/** The answer of a process that is overloaded: `busy`, with a retry after a second. */
export const busyProblem = () => new Problem('busy', { values: { seconds: 1 }, headers: { 'Retry-After': '1' } });

/**
 * The 429 for a caller that has exceeded a limit. `policy` has the parameters of the limit in `RateLimit-Policy`. The caller may come back after `seconds`. The
 * audit trail has the name of the limit.
 */
export function rateLimitProblem(name: string, policy: string, seconds: number): Problem {
  return new Problem('rate-limited', {
    values: { seconds },
    headers: { 'Retry-After': String(seconds), 'RateLimit-Policy': `"${name}";${policy}`, RateLimit: `"${name}";r=0;t=${seconds}` },
    audit: { limit: name },
  });
}

const refusals: (() => void)[] = [];

/**
 * Runs simultaneous refusals one in each turn of the event loop. An answer costs a millisecond, and hundreds in a row would delay every
 * other request.
 */
export function refuseInTurn(refuse: () => void): void {
  if (refusals.push(refuse) === 1) setImmediate(refuseNext);
}

function refuseNext(): void {
  refusals[0]?.();
  refusals.shift();
  if (refusals.length > 0) setImmediate(refuseNext);
}
