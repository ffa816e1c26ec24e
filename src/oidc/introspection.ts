/**
 * Asks an issuer what its opaque tokens are (RFC 7662, security rule 50), as the client that it knows us as. Remembers a good answer for
 * thirty seconds and a bad one for ten, and asks once for all who present the same token meanwhile.
 */
import { createHash } from 'node:crypto';
import { ResponseBodyError, tokenIntrospection, type Configuration } from 'openid-client';
import { discover, innermost } from './discover.ts';
import { Fetched, issuerUnavailable, type FetchedOptions } from './fetched.ts';
import { isLoopback, type Issuer } from './issuers.ts';
import type { Claims } from './claims.ts';

const activeMilliseconds = 30_000;
const inactiveMilliseconds = 10_000;
/** After a question without an answer, nobody waits for another one. */
const pauseMilliseconds = 5_000;
const maximumKept = 10_000;
const maximumRunning = 100;

/** What the issuer says: `active`, and for a token that is, its claims. */
export interface Introspected {
  claims: Claims;
  /** On the clock that never goes back: until when this may be believed without asking again. */
  until: number;
}

export class Introspection {
  readonly #issuer: Issuer;
  readonly #options: FetchedOptions;
  readonly #client: Fetched<Configuration>;
  readonly #kept = new Map<string, Introspected>();
  readonly #running = new Map<string, Promise<Introspected>>();
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(issuer: Issuer, options: FetchedOptions) {
    this.#issuer = issuer;
    this.#options = options;
    this.#client = new Fetched(() => discoverIntrospection(issuer), `${issuer.issuer} does not say where to ask about tokens`, options);
  }

  /** Throws 503 `issuer-unavailable` when the issuer does not answer, or not as RFC 7662 says. */
  async ask(token: string): Promise<Introspected> {
    const hash = createHash('sha256').update(token).digest('base64url');
    const kept = this.#kept.get(hash);
    if (kept && kept.until > this.#options.now()) return kept;
    const running = this.#running.get(hash);
    if (running) return await running;
    const pause = this.#failedAt + pauseMilliseconds - this.#options.now();
    if (pause > 0) throw issuerUnavailable(Math.ceil(pause / 1_000), undefined);
    // Each question is a stranger's to cause.
    if (this.#running.size >= maximumRunning) throw issuerUnavailable(1, new Error('too many questions are under way'));
    const asked = this.#question(hash, token).finally(() => this.#running.delete(hash));
    this.#running.set(hash, asked);
    return await asked;
  }

  async #question(hash: string, token: string): Promise<Introspected> {
    const client = await this.#client.current();
    const askedAt = this.#options.now();
    const claims = await this.#answer(client, token);
    const introspected = { claims, until: askedAt + (claims['active'] === true ? activeMilliseconds : inactiveMilliseconds) };
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < maximumKept) break;
      this.#kept.delete(oldest);
    }
    this.#kept.delete(hash);
    this.#kept.set(hash, introspected);
    return introspected;
  }

  async #answer(client: Configuration, token: string): Promise<Claims> {
    try {
      const claims = await tokenIntrospection(client, token, { token_type_hint: 'access_token' });
      this.#options.onAnswer?.();
      return claims;
    } catch (error) {
      // Some issuers refuse to speak about tokens of a kind that they do not introspect.
      if (error instanceof ResponseBodyError && error.error === 'unsupported_token_type') return { active: false };
      this.#failedAt = this.#options.now();
      const failure = new Error(`${this.#issuer.issuer} does not say whether its tokens are good: ${innermost(error)}`, { cause: error });
      this.#options.onError(failure);
      throw issuerUnavailable(pauseMilliseconds / 1_000, failure);
    }
  }
}

async function discoverIntrospection(issuer: Issuer): Promise<Configuration> {
  const { client } = await discover(issuer);
  const endpoint = URL.parse(client.serverMetadata().introspection_endpoint ?? '');
  if (!endpoint || !(endpoint.protocol === 'https:' || (issuer.allowInsecureHttp && isLoopback(endpoint)))) {
    throw new Error('it names no usable introspection_endpoint');
  }
  return client;
}
