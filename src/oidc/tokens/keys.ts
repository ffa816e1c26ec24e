/**
 * The public keys of one issuer, for the verification of its tokens. `cached-metadata.ts` decides when they are fetched and how long they
 * are used.
 */
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { discoverIssuer, fetchKeys } from './discover.ts';
import { CachedMetadata, type CachedMetadataOptions } from './cached-metadata.ts';
import type { Issuer } from '../issuers-file/read.ts';

export interface IssuerKeysOptions extends CachedMetadataOptions {
  /** Time limit of each of the two requests: for the metadata and for the keys. */
  timeoutMs?: number;
}

export class IssuerKeys {
  readonly #keys: CachedMetadata<JWTVerifyGetKey>;

  constructor(issuer: Issuer, { timeoutMs, ...options }: IssuerKeysOptions) {
    /** The URL of the keys. Discovered again after a failure, because the issuer may have changed it. */
    let jwksUri: URL | undefined;
    const load = async () => {
      try {
        jwksUri ??= (await discoverIssuer(issuer, timeoutMs)).jwksUri;
        return createLocalJWKSet(await fetchKeys(jwksUri, timeoutMs));
      } catch (error) {
        jwksUri = undefined;
        throw error;
      }
    };
    this.#keys = new CachedMetadata(load, `${issuer.issuer} does not give its keys`, options);
  }

  /** Whether the last fetch failed. */
  get isFailing(): boolean {
    return this.#keys.isFailing;
  }

  /** Fetches the keys again if the last fetch failed. Never throws. */
  retryFailed(): Promise<void> {
    return this.#keys.retryFailed();
  }

  /**
   * The key that a token's header names, as `jwtVerify` calls for it. Throws JWKSNoMatchingKey if a fetch that began after the call does not
   * find the key. Throws 503 `issuer-unavailable` if the issuer does not answer. Also throws it if no fetch is due: the key may be new.
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const { attempts } = this.#keys;
    const find = await this.#keys.current();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    // The issuer may have published new keys since the last fetch.
    const renewed = await this.#keys.renewed();
    try {
      return await renewed(header, token);
    } catch (error) {
      const isFresh = this.#keys.attempts > attempts;
      throw error instanceof errors.JWKSNoMatchingKey && !isFresh ? this.#keys.notDue() : error;
    }
  };
}
