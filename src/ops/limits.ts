/**
 * The limit on URLs, and the general rate limit: a token bucket for each address, which only requests without a valid credential draw from (security rule 81).
 * Bounded in number; IPv6 addresses count by /64.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { addressGroup } from './address.ts';

const perSecond = 10;
const burst = 50;
const maximumBuckets = 50_000;

interface Bucket {
  tokens: number;
  /** When `tokens` was right, in milliseconds of the monotonic clock. */
  at: number;
}

export class AddressLimit {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;

  /** `now` tells milliseconds on a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Draws one token for the address; false when there is none left. */
  take(address: string): boolean {
    const bucket = this.#filled(addressGroup(address));
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #filled(group: string): Bucket {
    const now = this.#now();
    const bucket = this.#buckets.get(group) ?? { tokens: burst, at: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond);
    bucket.at = now;
    // Putting it last makes the first one the longest unused.
    this.#buckets.delete(group);
    this.#buckets.set(group, bucket);
    if (this.#buckets.size > maximumBuckets) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    return bucket;
  }
}

const tooMany = () =>
  new Problem('rate-limited', {
    values: { seconds: 1 },
    headers: { 'Retry-After': '1', 'RateLimit-Policy': `"address";q=${burst};w=${burst / perSecond}`, RateLimit: '"address";r=0;t=1' },
  });

const urlLimitBytes = 8_192;

/** Refuses URLs of more than 8 KiB with 414 (rule 80). */
export function limitUrls(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { url = '' } }) => {
    if (url.length > urlLimitBytes) throw new Problem('uri-too-long', { values: { limit: urlLimitBytes } });
  });
}

/** Which requests the limit leaves to the authenticator, that draws for a bad credential only. */
export interface Credentials {
  cookieName: string;
  /** The operations that look at a credential before they do anything. Elsewhere presenting one, good or bad, spares nobody the limit. */
  checkedBy: ReadonlySet<string>;
}

/** Draws a token for every request to `app` whose credential is not going to be checked, before anything else is done for it. Throws 429. */
export function limitStrangers(app: FastifyInstance, limit: AddressLimit, credentials: Credentials): void {
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url === '/health/live' || isToBeChecked(request, credentials)) return;
    if (!limit.take(request.ip)) throw tooMany();
  });
}

/** Draws a token for a request whose credential was no good; the 429 that is to replace its 401 when there is none left. */
export function limitRefused(request: FastifyRequest, limit: AddressLimit, credentials: Credentials): Problem | undefined {
  return isToBeChecked(request, credentials) ? limitUnrouted(request, limit) : undefined;
}

/** Draws a token for a request that meets no hook, such as one with an undecodable path; the 429 for it when there is none left. */
export function limitUnrouted(request: FastifyRequest, limit: AddressLimit): Problem | undefined {
  return limit.take(request.ip) ? undefined : tooMany();
}

function isToBeChecked({ headers, routeOptions }: FastifyRequest, { cookieName, checkedBy }: Credentials): boolean {
  if (!checkedBy.has(routeOptions.config.operationId ?? '')) return false;
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined || (headers.cookie?.includes(`${cookieName}=`) ?? false);
}
