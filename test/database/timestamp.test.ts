import { expect, test } from 'vitest';
import { instantOf } from '../../src/database/timestamp.ts';
import { createDatabaseUntilDone, openPool } from '../support/database.ts';

test.each([
  ['2026-11-23 08:43:10+00', '2026-11-23T08:43:10.000Z'],
  ['2026-11-23 08:43:10.5+00', '2026-11-23T08:43:10.500Z'],
  ['2026-11-23 08:43:10.569999+00', '2026-11-23T08:43:10.569Z'],
  ['2026-11-23 09:43:10.123456+01', '2026-11-23T08:43:10.123Z'],
  ['2026-11-23 04:13:10.12-04:30', '2026-11-23T08:43:10.120Z'],
  ['10000-01-01 00:00:00+00', '+010000-01-01T00:00:00.000Z'],
])('%s is %s', (text, instant) => {
  expect(instantOf(text)).toBe(instant);
});

test('the zone of the connection does not change an instant', async () => {
  const pool = openPool(await createDatabaseUntilDone());
  try {
    for (const zone of ['UTC', 'Asia/Kathmandu', 'America/New_York']) {
      const { rows } = await pool.query<{ text: string }>(
        `select x.text from set_config('timezone', $1, false), lateral (select '2026-07-01 12:00:00.25Z'::timestamptz::text) as x`,
        [zone],
      );
      expect(rows.map(({ text }) => instantOf(text))).toEqual(['2026-07-01T12:00:00.250Z']);
    }
  } finally {
    await pool.end();
  }
});
