/** The caller's own API keys over HTTP: create, list, revoke, rotate. */
import type { Handlers, Schemas } from '../contract/operation.ts';
import { publicPath } from '../config/public-url.ts';
import type { KeyContext } from './context.ts';
import { createKey, revokeOwnKey, rotateKey, type MadeKey } from './self-service.ts';
import { listKeys, type KeyRow } from './store.ts';

type KeyHandlers = Pick<Handlers, 'createKey' | 'listKeys' | 'revokeKey' | 'rotateKey'>;

const defaultExpiryDays = 90;
const defaultOverlapSeconds = 3_600;

export function keyHandlers(context: KeyContext): KeyHandlers {
  return {
    async createKey({ body, principal, caller }) {
      const { expiresInDays = defaultExpiryDays, ...wanted } = body;
      return created(await createKey(context, caller, principal, { ...wanted, expiresInDays }), context.config);
    },

    async listKeys({ principal }) {
      const rows = await listKeys(context.store.db, principal.user.id);
      const live = rows.filter((row) => !row.expired).toReversed();
      return { status: 200, body: { keys: live.map(describeKey) } };
    },

    async revokeKey({ params, principal, caller }) {
      await revokeOwnKey(context, caller, principal, params.id);
      return { status: 204 };
    },

    async rotateKey({ params, body, principal, caller }) {
      return created(await rotateKey(context, caller, principal, params.id, body?.overlapSeconds ?? defaultOverlapSeconds), context.config);
    },
  };
}

function created(
  { createdAt, expiresAt, ...key }: MadeKey,
  { publicUrl }: KeyContext['config'],
): {
  status: 201;
  headers: { Location: string };
  body: Schemas['NewKey'];
} {
  return {
    status: 201,
    headers: { Location: publicPath(publicUrl, `/auth/keys/${key.id}`) },
    body: { ...key, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() },
  };
}

function describeKey({ id, name, profile, scopes, createdAt, lastUsedAt, expiresAt }: KeyRow): Schemas['Key'] {
  return {
    id,
    name,
    profile,
    scopes,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    expiresAt: expiresAt.toISOString(),
  };
}
