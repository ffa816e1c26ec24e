/**
 * Writes down that a key was refused and why. A key that nobody ever made is anybody's invention, and leaves no trace but the log line of its
 * request.
 */
import { timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { recordRefusal } from '../audit/record.ts';
import type { Caller } from '../authn/caller.ts';
import type { Context } from '../context.ts';

/** Audits the refusal of a well-formed key with this id and hash, if there is or was a key with this id. */
export async function auditRefusedKey(context: Context, caller: Caller, id: string, keyHash: Buffer): Promise<void> {
  const row = await context.db
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
  // What is neither wrong nor over by itself can only be refused for its owner.
  const reason = wrong ? 'wrong-secret' : revoked ? 'revoked' : expired ? 'expired' : 'user-disabled';
  const event = { event: 'api_key.refused', outcome: 'refused', userName, detail: { key: id, reason } } as const;
  // A wrong secret proves nothing: the id of a key is no secret, so that a stranger could count for its owner.
  await recordRefusal(context, caller, event, wrong ? { subject: { budget: 'named', name: `key ${id}` } } : {});
}
