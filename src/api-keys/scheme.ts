/** Recognises `X-API-Key`. A key of the wrong form, or with a wrong checksum, is refused without asking the database (rule 57). */
import { timingSafeEqual } from 'node:crypto';
import type { Scheme } from '../authn/authenticate.ts';
import type { Context } from '../context.ts';
import { Problem } from '../errors.ts';
import { hashKey, parseKey } from './key.ts';
import { findKey } from './store.ts';

/** The scheme `apiKey`: not asked without the header; *no* for a key that is malformed, unknown, expired, revoked, or its owner disabled. */
export function apiKeyScheme({ db, principals }: Context): Scheme {
  return async (request) => {
    const key = request.headers['x-api-key'];
    if (key === undefined) return undefined;
    const parsed = typeof key === 'string' ? parseKey(key) : undefined;
    if (!parsed || typeof key !== 'string') throw new Problem('unauthenticated');
    const keyHash = hashKey(key);
    const hash = keyHash.toString('hex');
    const cached = principals.find(hash);
    if (cached) return cached;
    const { generation } = principals;
    const found = await findKey(db, parsed.id);
    if (!found || !timingSafeEqual(found.keyHash, keyHash)) throw new Problem('unauthenticated');
    principals.keep(hash, `key ${parsed.id}`, found.principal, found.lifeMilliseconds, generation);
    return found.principal;
  };
}
