/**
 * The limit on URLs, and the rate limits (security rule 81): a token bucket for each address, which only requests without a valid credential
 * draw from, and one for each user, if the operator wants it. Bounded in number; IPv6 addresses count by /64.
 */
import { LRUCache } from 'lru-cache';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Scheme, Schemes } from '../authn/authenticate.ts';
import { Problem } from '../problems/errors.ts';
import { addressGroup } from '../network/address.ts';
import { addressOf } from '../network/client-address.ts';
import { rateLimitProblem } from './refusals.ts';

const addressRate = { name: 'address', perSecond: 10, burst: 50 };
/** A user may be as far ahead of the steady rate as so many seconds give. */
const userBurstSeconds = 5;
const maximumBuckets = 50_000;

interface Rate {
  /** As answers and the audit trail call the limit. */
  name: string;
  perSecond: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  /** The time at which `tokens` was right, in milliseconds of the monotonic clock. */
  at: number;
}

/** A token bucket for each of the keys that are in use. */
class Buckets {
  readonly rate: Rate;
  /** Beyond the maximum, the bucket that has been unused for longest is forgotten. */
  readonly #buckets = new LRUCache<string, Bucket>({ max: maximumBuckets });
  readonly #now: () => number;

  constructor(rate: Rate, now: () => number) {
    this.rate = rate;
    this.#now = now;
  }

  /** Draws one token; false when there is none left. */
  take(key: string): boolean {
    const bucket = this.#filled(key);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #filled(key: string): Bucket {
    const { perSecond, burst } = this.rate;
    const now = this.#now();
    const known = this.#buckets.get(key);
    if (!known) {
      const full = { tokens: burst, at: now };
      this.#buckets.set(key, full);
      return full;
    }
    known.tokens = Math.min(burst, known.tokens + ((now - known.at) / 1_000) * perSecond);
    known.at = now;
    return known;
  }
}

/** Ten requests a second of each address, and fifty at once. */
export class AddressLimit {
  readonly #buckets: Buckets;

  /** `now` tells milliseconds on a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#buckets = new Buckets(addressRate, now);
  }

  /** Draws one token for the address; false when there is none left. */
  take(address: string): boolean {
    return this.#buckets.take(addressGroup(address));
  }
}

const tooMany = ({ name, perSecond, burst }: Rate) => rateLimitProblem(name, `q=${burst};w=${Math.ceil(burst / perSecond)}`, 1);

const urlLimitBytes = 8_192;

/** Refuses URLs of more than 8 KiB with 414 (rule 80). */
export function limitUrls(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { url = '' } }, _reply, done) => {
    done(url.length > urlLimitBytes ? new Problem('uri-too-long', { values: { limit: urlLimitBytes } }) : undefined);
  });
}

/** Draws a token for every request to `app` whose credential is not going to be checked, before anything else is done for it. Throws 429. */
export function limitStrangers(app: FastifyInstance, limit: AddressLimit, cookieName: string): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isSpared = request.routeOptions.config.isUnlimited === true || isToBeChecked(request, cookieName);
    done(isSpared || limit.take(addressOf(request)) ? undefined : tooMany(addressRate));
  });
}

/**
 * Draws a token for a request that {@link limitStrangers} has spared and that has turned out to have no principal, whatever is wrong with
 * its credential. Returns the 429 to answer it with when there is none left, and undefined for every other request.
 */
export function limitUnrecognised(request: FastifyRequest, limit: AddressLimit, cookieName: string): Problem | undefined {
  return request.principal !== undefined || !isToBeChecked(request, cookieName) ? undefined : limitUnrouted(request, limit);
}

/** Draws a token for a request that meets no hook, such as one with an undecodable path; the 429 for it when there is none left. */
export function limitUnrouted(request: FastifyRequest, limit: AddressLimit): Problem | undefined {
  return limit.take(addressOf(request)) ? undefined : tooMany(addressRate);
}

/** Whether the operation looks at the credential of the request before it does anything, so that the credential decides what is limited. */
function isToBeChecked({ headers, routeOptions }: FastifyRequest, cookieName: string): boolean {
  if (routeOptions.config.takesCredential !== true) return false;
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined || (headers.cookie?.includes(`${cookieName}=`) ?? false);
}

/**
 * The same schemes, which let each user in for so many requests a second, whatever credentials they come with, and answer 429 to more. This
 * process counts its own. `now` tells milliseconds on a clock that never goes back.
 */
export function limitUsers(schemes: Schemes, perSecond: number, now: () => number = () => performance.now()): Schemes {
  const users = new Buckets({ name: 'user', perSecond, burst: perSecond * userBurstSeconds }, now);
  const limited =
    (scheme: Scheme): Scheme =>
    async (request) => {
      const principal = await scheme(request);
      if (principal && !users.take(principal.user.id)) {
        request.principal = principal;
        throw tooMany(users.rate);
      }
      return principal;
    };
  const { sessionCookie, apiKey, oauth2, openId } = schemes;
  return { sessionCookie: limited(sessionCookie), apiKey: limited(apiKey), oauth2: limited(oauth2), openId: limited(openId) };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the contract names a credential for the operation. Elsewhere a credential, good or bad, spares no request. */
    takesCredential?: boolean;
    /** Whether requests to the route do not count for any limit. */
    isUnlimited?: boolean;
  }
}
