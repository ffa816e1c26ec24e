/** How many sessions there are, for operators. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import { isLiveSession } from './verify.ts';

/** The number of live sessions, or `limit` when there are more: what it costs must not grow without bound. */
export async function countLive(db: Kysely<Database>, limit: number): Promise<number> {
  const { count } = await db
    .selectFrom(
      db
        .selectFrom('session')
        .innerJoin('user_account', 'user_account.id', 'session.user_id')
        .where(isLiveSession)
        // What `live` says already, as the index has it.
        .where(sql<boolean>`least(session.idle_expires_at, session.expires_at) > now()`)
        .select('session.id')
        .limit(limit)
        .as('live'),
    )
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
