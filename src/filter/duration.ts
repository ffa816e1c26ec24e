/** The durations of `$ago`, as ISO 8601 writes them. */
import type { Duration } from './syntax.ts';

/** Days of each part, at most. */
const days = [366, 31, 7, 1, 1 / 24, 1 / 1_440, 1 / 86_400];
/** About 1,000 years, so that the time that it leads to is one that PostgreSQL and RFC 3339 can write. */
const maximumDays = 366_000;

/** The duration, such as `P30D`, `PT12H` or `-P7D`, of whole numbers and at most 1,000 years; undefined for another text. */
export function readDuration(text: string): Duration | undefined {
  const [, sign, length = '', ...parts] =
    /^(-?)(P(?=\d|T\d)(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?)$/.exec(
      text,
    ) ?? [];
  const total = parts.reduce((sum, part, index) => sum + Number(part ?? 0) * (days[index] ?? 0), 0);
  return length === '' || total > maximumDays ? undefined : { isAhead: sign === '-', length };
}
