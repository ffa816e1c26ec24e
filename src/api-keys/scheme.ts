/** Recognises `X-API-Key`. A key of the wrong form, or with a wrong checksum, is refused without a query (rule 57). */
import { timingSafeEqual } from 'node:crypto';
import { insertEvent } from '../audit/store.ts';
import type { Scheme } from '../authn/authenticate.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import type { KeyContext } from './context.ts';
import { ignoreDiskFull } from '../database/failure.ts';
import { Problem } from '../problems/errors.ts';
import { hashKey, parseKey } from './key.ts';
import { auditRefusedKey } from './refused.ts';
import { touchKey, touchUnusedKey } from './store.ts';
import { findKey } from './verify.ts';

/**
 * The scheme `apiKey`. Undefined without the header; throws 401 for a key that is malformed, unknown, expired or revoked, or whose owner is
 * disabled.
 */
export function apiKeyScheme(context: KeyContext): Scheme {
  const { store, principals, rules } = context;
  return async (request) => {
    const key = request.headers['x-api-key'];
    if (key === undefined) return undefined;
    const parsed = typeof key === 'string' ? parseKey(key) : undefined;
    if (!parsed || typeof key !== 'string')
      throw new Problem('unauthenticated', { faults: isAccessToken(String(key)) ? [tokenInKeyHeader] : [] });
    const keyHash = hashKey(key);
    const hash = keyHash.toString('hex');
    const cached = principals.find(hash);
    if (cached) return cached;
    const started = principals.startVerification();
    const found = await findKey(store, parsed.id);
    if (!found || !timingSafeEqual(found.keyHash, keyHash)) {
      await auditRefusedKey(context, request.caller, parsed.id, keyHash);
      throw new Problem('unauthenticated');
    }
    if (found.lastUsed === 'never') await recordFirstUse(context, request.caller, parsed.id, found.principal);
    else if (found.lastUsed === 'a while ago') await ignoreDiskFull(touchKey(store.db, parsed.id));
    const principal = await rules.complete(found.principal);
    principals.store(hash, `key ${parsed.id}`, principal, found.lifeMs, started);
    return principal;
  };
}

const tokenInKeyHeader = { parameter: 'X-API-Key', code: 'other-header', values: { header: 'Authorization: Bearer' } } as const;

/** Whether the text is an access token: a signed JWT (RFC 7519), or one with its authorization scheme. */
function isAccessToken(text: string): boolean {
  return /^Bearer /i.test(text) || /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(text);
}

async function recordFirstUse({ store }: KeyContext, { origin }: Caller, id: string, { user }: Principal): Promise<void> {
  await store.transaction(async (trx) => {
    if (!(await touchUnusedKey(trx, id))) return;
    await insertEvent(trx, origin, { event: 'api_key.first_used', outcome: 'ok', userName: user.name, detail: { key: id } });
  });
}
