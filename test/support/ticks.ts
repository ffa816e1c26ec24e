/** Ticks without waiting for the clock. */
import { sql } from 'kysely';
import { expect } from 'vitest';
import { makeTick } from '../../src/entities/history/ticks.ts';
import type { TestService } from './service.ts';

/** Moves all ticks and versions into the past, so that the last tick is old enough for another one. */
export async function ageTicks({ db }: TestService, by = '2 seconds'): Promise<void> {
  await sql`
    with ticks as (update feed_tick set at = at - ${by}::interval) update entity_change set at = at - ${by}::interval`.execute(db);
}

/** The position of a tick that has everything that is committed now. The service may make it as well. */
export async function tickNow(service: TestService): Promise<string> {
  await ageTicks(service);
  let position = '';
  await expect
    .poll(async () => {
      await makeTick(service.db);
      const { rows } = await sql<{ position: string; isNew: boolean }>`
        select n as position, at > now() - interval '1 second' as "isNew" from feed_tick order by n desc limit 1`.execute(service.db);
      position = rows[0]?.position ?? '';
      return rows[0]?.isNew;
    })
    .toBe(true);
  return position;
}
