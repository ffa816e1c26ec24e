/**
 * The public keys of one issuer, fetched when a token needs them and kept (security rule 49). Whatever tokens say, the issuer is asked at
 * most once in thirty seconds; while it does not answer, the keys it gave last serve for an hour.
 */
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { Problem } from '../errors.ts';
import { discover, fetchKeys, innermost } from './discover.ts';

import type { Issuer } from './issuers.ts';

const freshMilliseconds = 600_000;
const usableMilliseconds = 3_600_000;
const betweenFetchesMilliseconds = 30_000;

export interface IssuerKeysOptions {
  /** Milliseconds on a clock that never goes back. */
  now: () => number;
  /** Told why keys could not be fetched, also while old ones serve. */
  onError: (error: unknown) => void;
  /** For each of the two questions, where they come from and what they are. */
  timeoutMilliseconds?: number;
}

interface Keys {
  find: JWTVerifyGetKey;
  fetchedAt: number;
}

export class IssuerKeys {
  readonly #issuer: Issuer;
  readonly #options: IssuerKeysOptions;
  #keys: Keys | undefined;
  /** Where the keys are; asked again after a failure, since the issuer may have moved them. */
  #jwksUri: URL | undefined;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #running: Promise<void> | undefined;

  constructor(issuer: Issuer, options: IssuerKeysOptions) {
    this.#issuer = issuer;
    this.#options = options;
  }

  /** The key that a token's header names, as `jwtVerify` asks for it. Throws JWKSNoMatchingKey, or 503 `issuer-unavailable`. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current();
    try {
      return await keys.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    // The issuer may have changed its keys since.
    await this.#refresh();
    if (this.#failure !== undefined) throw this.#unavailable();
    return await (this.#keys ?? keys).find(header, token);
  };

  async #current(): Promise<Keys> {
    if (this.#keys && this.#age(this.#keys.fetchedAt) < freshMilliseconds) return this.#keys;
    const hasJustFailed = this.#failure !== undefined && this.#age(this.#attemptedAt) < 2 * betweenFetchesMilliseconds;
    const refreshed = this.#refresh();
    // Nobody waits again for an issuer that did not answer a moment ago.
    if (!hasJustFailed || !this.#usable()) await refreshed;
    const keys = this.#usable();
    if (!keys) throw this.#unavailable();
    return keys;
  }

  /** The keys we have, unless they are too old to be believed without asking. */
  #usable(): Keys | undefined {
    return this.#keys && this.#age(this.#keys.fetchedAt) < usableMilliseconds ? this.#keys : undefined;
  }

  /** Fetches the keys, once for all who ask meanwhile; not at all within thirty seconds of the last try. Never throws: sets `#failure`. */
  #refresh(): Promise<void> {
    if (this.#running) return this.#running;
    if (this.#age(this.#attemptedAt) < betweenFetchesMilliseconds) return Promise.resolve();
    this.#attemptedAt = this.#options.now();
    this.#running = this.#fetch().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #fetch(): Promise<void> {
    const { timeoutMilliseconds, onError } = this.#options;
    const startedAt = this.#attemptedAt;
    try {
      this.#jwksUri ??= (await discover(this.#issuer, timeoutMilliseconds)).jwksUri;
      this.#keys = { find: createLocalJWKSet(await fetchKeys(this.#jwksUri, timeoutMilliseconds)), fetchedAt: startedAt };
      this.#failure = undefined;
    } catch (error) {
      this.#jwksUri = undefined;
      this.#failure = new Error(`${this.#issuer.issuer} does not give its keys: ${innermost(error)}`, { cause: error });
      onError(this.#failure);
    }
  }

  #age(since: number): number {
    return this.#options.now() - since;
  }

  #unavailable(): Problem {
    const seconds = Math.max(1, Math.ceil((betweenFetchesMilliseconds - this.#age(this.#attemptedAt)) / 1_000));
    return new Problem('issuer-unavailable', { values: { seconds }, headers: { 'Retry-After': String(seconds) }, cause: this.#failure });
  }
}
