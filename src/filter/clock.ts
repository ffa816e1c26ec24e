/** The time of a statement in tests. All statements of a transaction have the same one. */
import { sql, type RawBuilder } from 'kysely';
import type { ScalarType } from './fields.ts';
import { asInstant } from './source.ts';
import type { ClockOperand, Duration } from './syntax.ts';

/**
 * SQL: the time as tests of the type compare it. A day is that of `timeZone`, an expression, if the clock has no zone. Days and months before an instant are those
 * of UTC, so that a day has 24 hours.
 */
export function clockValue({ ago, zone }: ClockOperand, type: ScalarType, timeZone: RawBuilder<unknown> | undefined): RawBuilder<unknown> {
  if (type === 'date') {
    const place = zone === undefined ? sql`coalesce(${timeZone ?? sql`null`}, 'UTC')` : sql`${zone}::text`;
    return sql`to_char(${moved(sql`now() at time zone ${place}`, ago)}, 'YYYY-MM-DD')`;
  }
  const time = ago ? sql`(${moved(sql`now() at time zone 'UTC'`, ago)} at time zone 'UTC')` : sql`now()`;
  return type === 'instant' ? asInstant(time, 'date-time') : time;
}

function moved(time: RawBuilder<unknown>, ago: Duration | undefined): RawBuilder<unknown> {
  if (!ago) return time;
  return sql`((${time}) ${ago.isAhead ? sql`+` : sql`-`} ${ago.length}::interval)`;
}
