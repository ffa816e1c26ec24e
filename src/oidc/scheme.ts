/** Recognises bearer tokens of trusted issuers. */
import type { Scheme } from '../authn/authenticate.ts';
import { Problem } from '../errors.ts';

/** The schemes `oauth2` and `openId`, which are told apart by nothing on the wire: *no* for every token that no trusted issuer signed. */
export function bearerScheme(): Scheme {
  return async (request) => {
    if (request.headers.authorization === undefined) return undefined;
    throw new Problem('invalid-token');
  };
}
