/** The public keys of one issuer, which its tokens are verified with. When they are fetched and how long they serve is in `fetched.ts`. */
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { discover, fetchKeys } from './discover.ts';
import { CachedMetadata, type CachedMetadataOptions } from './cached-metadata.ts';
import type { Issuer } from '../issuers-file/read.ts';

export interface IssuerKeysOptions extends CachedMetadataOptions {
  /** For each of the two questions, where they come from and what they are. */
  timeoutMilliseconds?: number;
}

export class IssuerKeys {
  readonly #keys: CachedMetadata<JWTVerifyGetKey>;

  constructor(issuer: Issuer, { timeoutMilliseconds, ...options }: IssuerKeysOptions) {
    /** Where the keys are; asked again after a failure, since the issuer may have moved them. */
    let jwksUri: URL | undefined;
    const load = async () => {
      try {
        jwksUri ??= (await discover(issuer, timeoutMilliseconds)).jwksUri;
        return createLocalJWKSet(await fetchKeys(jwksUri, timeoutMilliseconds));
      } catch (error) {
        jwksUri = undefined;
        throw error;
      }
    };
    this.#keys = new CachedMetadata(load, `${issuer.issuer} does not give its keys`, options);
  }

  /** The key that a token's header names, as `jwtVerify` asks for it. Throws JWKSNoMatchingKey, or 503 `issuer-unavailable`. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const find = await this.#keys.current();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    // The issuer may have changed its keys since.
    const renewed = await this.#keys.renewed();
    return await renewed(header, token);
  };
}
