/** Ticks without waiting for the clock. */
import { sql, type Kysely } from 'kysely';
import { makeTick } from '../../src/entities/history/ticks.ts';
import type { Database } from '../../src/database/tables.ts';
import type { TestService } from './service.ts';

/** Moves all ticks and versions into the past, so that the last tick is old enough for another one. */
export async function ageTicks({ db }: { db: Kysely<Database> }, by = '2 seconds'): Promise<void> {
  await sql`
    with ticks as (update feed_tick set at = at - ${by}::interval) update entity_change set at = at - ${by}::interval`.execute(db);
}

/** The position of a tick that has everything that is committed now. The service may have made it. */
export async function tickNow({ db }: TestService): Promise<string> {
  return await db.transaction().execute(async (trx) => {
    // The service makes none meanwhile.
    await sql`select pg_advisory_xact_lock(hashtextextended('feed_tick', 0))`.execute(trx);
    await ageTicks({ db: trx });
    await makeTick(trx);
    const { n } = await trx.selectFrom('feed_tick').select('n').orderBy('n', 'desc').limit(1).executeTakeFirstOrThrow();
    return n;
  });
}
