/**
 * Asks an issuer what its opaque tokens are (RFC 7662, security rule 50), as the client that it knows us as. Remembers a good answer for
 * 30 seconds and a bad one, or a refusal to answer about one token, for 10. Asks once for all requests with the same token meanwhile.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ClientError, ResponseBodyError, tokenIntrospection, WWWAuthenticateChallengeError, type Configuration } from 'openid-client';
import { discover, innermostMessage } from './discover.ts';
import { outageErrors } from './issuer-http.ts';
import { CachedMetadata, issuerUnavailable, type CachedMetadataOptions } from './cached-metadata.ts';
import { isLoopback, type Issuer } from '../issuers-file/read.ts';
import type { Claims } from './claims.ts';

const activeMilliseconds = 30_000;
const inactiveMilliseconds = 10_000;
/** The issuer is asked about no token for 5 s after it has not answered. */
const pauseMilliseconds = 5_000;
const maximumKept = 10_000;
const maximumRunning = 100;

/** Statuses from 400 to 499 that say nothing about the token: the issuer does not let us ask, or not so often. */
const issuerStatuses: readonly number[] = [401, 403, 429];

/** What the issuer says: `active`, and for a token that is, its claims. */
export interface Introspected {
  claims: Claims;
  /** On the clock that never goes back: until when this may be believed without asking again. */
  until: number;
}

/** An answer, or why the issuer refused to give one about this token. */
type Answer = { claims: Claims } | { refusal: Error };
type Kept = Answer & { until: number };

export class Introspection {
  readonly #issuer: Issuer;
  readonly #options: CachedMetadataOptions;
  readonly #client: CachedMetadata<Configuration>;
  readonly #isOurs: (text: string) => Promise<boolean>;
  readonly #kept = new LRUCache<string, Kept>({ max: maximumKept });
  readonly #running = new Map<string, Promise<Kept>>();
  #failedAt = Number.NEGATIVE_INFINITY;

  /** `isOurs` says whether a text is a secret of this service, presented as a token by mistake: the issuer must not see it. */
  constructor(issuer: Issuer, options: CachedMetadataOptions, isOurs: (text: string) => Promise<boolean>) {
    this.#issuer = issuer;
    this.#isOurs = isOurs;
    this.#options = options;
    this.#client = new CachedMetadata(
      () => discoverIntrospection(issuer),
      `${issuer.issuer} does not say where to ask about tokens`,
      options,
    );
  }

  /** Throws 503 `issuer-unavailable` when the issuer does not answer, or not as RFC 7662 says, or refuses to answer about this token. */
  async ask(token: string): Promise<Introspected> {
    const kept = await this.#find(token);
    if ('claims' in kept) return kept;
    throw issuerUnavailable(Math.max(1, Math.ceil((kept.until - this.#options.now()) / 1_000)), kept.refusal);
  }

  async #find(token: string): Promise<Kept> {
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

  async #question(hash: string, token: string): Promise<Kept> {
    const client = await this.#client.current();
    const askedAt = this.#options.now();
    const answer = (await this.#isOurs(token)) ? inactive : await this.#answer(client, token);
    const isActive = 'claims' in answer && answer.claims['active'] === true;
    const kept = { ...answer, until: askedAt + (isActive ? activeMilliseconds : inactiveMilliseconds) };
    this.#kept.set(hash, kept);
    return kept;
  }

  /** Throws 503 `issuer-unavailable`, and has the issuer asked about no token for a while, when it does not answer. */
  async #answer(client: Configuration, token: string): Promise<Answer> {
    try {
      const claims = await tokenIntrospection(client, token, { token_type_hint: 'access_token' });
      this.#options.onAnswer?.();
      return { claims };
    } catch (error) {
      // Some issuers refuse to speak about tokens of a kind that they do not introspect.
      if (error instanceof ResponseBodyError && error.error === 'unsupported_token_type') return inactive;
      if (isAboutToken(error)) return { refusal: new Error(`${this.#issuer.issuer} answers with status ${statusOf(error)} about a token`) };
      this.#failedAt = this.#options.now();
      const failure = new Error(`${this.#issuer.issuer} does not say whether its tokens are good: ${innermostMessage(error)}`, {
        cause: error,
      });
      this.#options.onError(failure);
      throw issuerUnavailable(pauseMilliseconds / 1_000, failure);
    }
  }
}

const inactive: Answer = { claims: { active: false } };

/** Whether the issuer has answered, with a refusal that concerns what it was asked about. What else it may say concerns every token. */
function isAboutToken(error: unknown): boolean {
  if (error instanceof ResponseBodyError && outageErrors.has(error.error)) return false;
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500 && !issuerStatuses.includes(status);
}

/** The status of an answer that the client library does not take; undefined for any other error. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError) return error.status;
  return error instanceof ClientError && error.cause instanceof Response ? error.cause.status : undefined;
}

async function discoverIntrospection(issuer: Issuer): Promise<Configuration> {
  const { client } = await discover(issuer);
  const endpoint = URL.parse(client.serverMetadata().introspection_endpoint ?? '');
  if (!endpoint || !(endpoint.protocol === 'https:' || (issuer.allowInsecureHttp && isLoopback(endpoint)))) {
    throw new Error('it names no usable introspection_endpoint');
  }
  return client;
}
