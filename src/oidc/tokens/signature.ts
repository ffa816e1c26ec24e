/** Verifies what an issuer has signed: access tokens, ID tokens and logout tokens alike. What they must say is for others to judge. */
import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose';

/**
 * The claims of a token that is signed by a key which `find` finds, and meets `options`; one that names no key is tried with every key that
 * would do. Throws what `jwtVerify` throws, and whatever `find` does.
 */
export async function verifySigned(token: string, find: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, find, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}
