/**
 * Introspects opaque tokens at their issuer (RFC 7662, security rule 50), as the issuer's client. Caches an active token for 30 seconds.
 * Caches an inactive token, or a refusal about one token, for 10. Concurrent requests with the same token share one introspection.
 */
import { createHash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ClientError, ResponseBodyError, tokenIntrospection, WWWAuthenticateChallengeError, type Configuration } from 'openid-client';
import { discoverIssuer, innermostMessage } from './discover.ts';
import { outageErrors } from './issuer-http.ts';
import { CachedMetadata, issuerUnavailable, type CachedMetadataOptions } from './cached-metadata.ts';
import { isUsableEndpoint } from '../issuers-file/address.ts';
import type { FairQueue } from '../../admission/queue.ts';
import { addressGroup } from '../../network/address.ts';
import type { Issuer } from '../issuers-file/read.ts';
import type { Claims } from './claims.ts';

const activeMs = 30_000;
const inactiveMs = 10_000;
/** After a failure of the issuer, no token is introspected for 5 s. */
const failurePauseMs = 5_000;
const maximumKept = 10_000;
/** Less than all places of the class `introspection`, so that an issuer that does not answer leaves some to the others. */
const maximumRunning = 80;

/** Statuses from 400 to 499 that say nothing about the token: the issuer refuses this client, or limits its rate. */
const issuerStatuses: readonly number[] = [401, 403, 429];

/** The issuer's response: `active`, and for an active token its claims. */
export interface Introspected {
  claims: Claims;
  /** The end of its validity in the cache, in milliseconds of the monotonic clock. */
  until: number;
}

/** A response, or the reason of the issuer's refusal about this token. */
type IntrospectionAnswer = { claims: Claims } | { refusal: Error };
type CachedIntrospection = IntrospectionAnswer & { until: number };

export class Introspection {
  readonly #issuer: Issuer;
  readonly #options: CachedMetadataOptions;
  readonly #client: CachedMetadata<Configuration>;
  readonly #isOurs: (text: string) => Promise<boolean>;
  readonly #kept = new LRUCache<string, CachedIntrospection>({ max: maximumKept });
  readonly #running = new Map<string, Promise<CachedIntrospection>>();
  readonly #places: FairQueue;
  #failedAt = Number.NEGATIVE_INFINITY;
  /** Whether the issuer did not answer the last introspection. */
  #isUnanswered = false;

  /** `isOurs` returns whether a text is a secret of this service, presented as a token by mistake: it must not be sent to the issuer. `places` counts addresses. */
  constructor(issuer: Issuer, options: CachedMetadataOptions, isOurs: (text: string) => Promise<boolean>, places: FairQueue) {
    this.#places = places;
    this.#issuer = issuer;
    this.#isOurs = isOurs;
    this.#options = options;
    this.#client = new CachedMetadata(
      () => discoverIntrospection(issuer),
      `${issuer.issuer} does not say where to ask about tokens`,
      options,
    );
  }

  /**
   * `address` is that of the client. Throws 503 `issuer-unavailable` if the issuer does not answer, violates RFC 7662, or refuses to answer about this
   * token, and if too many introspections are running.
   */
  async inspect(token: string, address: string): Promise<Introspected> {
    const kept = await this.#find(token, addressGroup(address));
    if ('claims' in kept) return kept;
    throw issuerUnavailable(Math.max(1, Math.ceil((kept.until - this.#options.now()) / 1_000)), kept.refusal);
  }

  /** Whether the issuer did not answer last, when it was asked for its metadata or about a token. */
  get isFailing(): boolean {
    return this.#client.isFailing || this.#isUnanswered;
  }

  /** Requests again what failed last: the metadata, or an introspection, with a made-up token. Never throws. */
  async retryFailed(): Promise<void> {
    await this.#client.retryFailed();
    if (!this.#isUnanswered || this.#pauseMs() > 0) return;
    // `onError` has received the failure.
    await this.#client.current().then(
      (client) => this.#answer(client, randomUUID()).catch(() => undefined),
      () => undefined,
    );
  }

  async #find(token: string, group: string): Promise<CachedIntrospection> {
    const hash = createHash('sha256').update(token).digest('base64url');
    const kept = this.#kept.get(hash);
    if (kept && kept.until > this.#options.now()) return kept;
    const running = this.#running.get(hash);
    if (running) return await running;
    const pause = this.#pauseMs();
    if (pause > 0) throw issuerUnavailable(Math.ceil(pause / 1_000), undefined);
    if (this.#running.size >= maximumRunning) throw tooMany();
    const asked = this.#inPlace(group, () => this.#question(hash, token)).finally(() => this.#running.delete(hash));
    this.#running.set(hash, asked);
    return await asked;
  }

  /** How long no token is introspected, in milliseconds. */
  #pauseMs(): number {
    return Math.max(0, this.#failedAt + failurePauseMs - this.#options.now());
  }

  /** Any client can cause an introspection, so their number is bounded. */
  async #inPlace(group: string, question: () => Promise<CachedIntrospection>): Promise<CachedIntrospection> {
    const leave = await this.#places.enter(group).catch((error: unknown) => {
      throw tooMany(error);
    });
    return await question().finally(() => leave());
  }

  async #question(hash: string, token: string): Promise<CachedIntrospection> {
    const client = await this.#client.current();
    const askedAt = this.#options.now();
    const answer = (await this.#isOurs(token)) ? inactive : await this.#answer(client, token);
    const isActive = 'claims' in answer && answer.claims['active'] === true;
    const kept = { ...answer, until: askedAt + (isActive ? activeMs : inactiveMs) };
    this.#kept.set(hash, kept);
    return kept;
  }

  /** Throws 503 `issuer-unavailable` if the issuer does not answer; then no token is introspected for a while. */
  async #answer(client: Configuration, token: string): Promise<IntrospectionAnswer> {
    try {
      const claims = await tokenIntrospection(client, token, { token_type_hint: 'access_token' });
      this.#isUnanswered = false;
      this.#options.onAnswer?.();
      return { claims };
    } catch (error) {
      const refusal = this.#refusalOf(error);
      // An error of OAuth 2.0 is the issuer's. Another page with such a status may be that of a proxy in front of it, which cannot reach it.
      if (refusal && error instanceof ResponseBodyError) this.#isUnanswered = false;
      if (refusal) return refusal;
      this.#isUnanswered = true;
      this.#failedAt = this.#options.now();
      const failure = new Error(`${this.#issuer.issuer} does not answer introspection: ${innermostMessage(error)}`, {
        cause: error,
      });
      this.#options.onError(failure);
      throw issuerUnavailable(failurePauseMs / 1_000, failure);
    }
  }

  /** The issuer's refusal to answer about one token; undefined for an error that concerns every token. */
  #refusalOf(error: unknown): IntrospectionAnswer | undefined {
    // Some issuers answer so about tokens of a kind that they do not introspect.
    if (error instanceof ResponseBodyError && error.error === 'unsupported_token_type') return inactive;
    return isAboutToken(error)
      ? { refusal: new Error(`${this.#issuer.issuer} answers with status ${statusOf(error)} about a token`) }
      : undefined;
  }
}

const inactive: IntrospectionAnswer = { claims: { active: false } };

/** Whether the issuer has answered with a refusal that concerns this token. Any other refusal concerns every token. */
function isAboutToken(error: unknown): boolean {
  if (error instanceof ResponseBodyError && outageErrors.has(error.error)) return false;
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500 && !issuerStatuses.includes(status);
}

/** The status of a response that the client library rejects; undefined for any other error. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError) return error.status;
  return error instanceof ClientError && error.cause instanceof Response ? error.cause.status : undefined;
}

async function discoverIntrospection(issuer: Issuer): Promise<Configuration> {
  const { client } = await discoverIssuer(issuer);
  const endpoint = URL.parse(client.serverMetadata().introspection_endpoint ?? '');
  if (!endpoint || !isUsableEndpoint(endpoint, issuer)) {
    throw new Error('it names no usable introspection_endpoint');
  }
  return client;
}

const tooMany = (cause?: unknown) => issuerUnavailable(1, new Error('too many introspections are running', { cause }));
