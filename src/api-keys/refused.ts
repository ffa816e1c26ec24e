/** Records refused keys and the reasons in the audit trail. A key whose id never existed leaves only the log line of its request. */
import { timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { recordWithinQuota } from '../audit/record.ts';
import type { Caller } from '../authn/caller.ts';
import type { KeyContext } from './context.ts';

/** Audits the refusal of a well-formed key with this id and hash, if there is or was a key with this id. */
export async function auditRefusedKey(context: KeyContext, caller: Caller, id: string, keyHash: Buffer): Promise<void> {
  const row = await context.store.db
    .selectFrom('api_key')
    .innerJoin('user_account', 'user_account.id', 'api_key.user_id')
    .where('api_key.id', '=', id)
    .select([
      'api_key.key_hash as keyHash',
      'user_account.name as userName',
      sql<boolean>`api_key.revoked_at is not null`.as('revoked'),
      sql<boolean>`api_key.expires_at <= now()`.as('expired'),
    ])
    .executeTakeFirst();
  if (!row) return;
  const { userName, revoked, expired } = row;
  const wrong = !timingSafeEqual(row.keyHash, keyHash);
  // A key whose secret is right and which is neither revoked nor expired can only be refused because its owner is disabled.
  const reason = wrong ? 'wrong-secret' : revoked ? 'revoked' : expired ? 'expired' : 'user-disabled';
  const event = { event: 'api_key.refused', outcome: 'refused', userName, detail: { key: id, reason } } as const;
  // The id of a key is no secret, so any client can cause this event. Therefore it counts against a budget of its own instead of the
  // owner's.
  await recordWithinQuota(context, caller, event, wrong ? { subject: { budget: 'named', name: `key ${id}` } } : {});
}
