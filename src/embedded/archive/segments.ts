/** Positions in the write-ahead log of PostgreSQL, and the segments of 16 MiB in which it is stored. */

/** The size that the embedded clusters have, PostgreSQL's default. */
export const segmentBytes = 16 * 1024 ** 2;

const segmentsOfWord = 2n ** 32n / BigInt(segmentBytes);

/** Bytes since the beginning of the log, from PostgreSQL's text, such as `0/1B83088`. Throws SyntaxError for any other text. */
export function parseLsn(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** PostgreSQL's text for a position, such as `0/1B83088`. */
export function formatLsn(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`.toUpperCase();
}

/** The position at which the segment with `lsn` begins. */
export function startOfSegment(lsn: bigint): bigint {
  return lsn - (lsn % BigInt(segmentBytes));
}

/** PostgreSQL's name of the segment with `lsn`: 24 hexadecimal digits. */
export function segmentName(timeline: number, lsn: bigint): string {
  const number = lsn / BigInt(segmentBytes);
  return [BigInt(timeline), number / segmentsOfWord, number % segmentsOfWord].map(hexadecimal).join('');
}

/** The timeline and the first position of a segment, from its name. */
export function parseSegmentName(name: string): { timeline: number; start: bigint } {
  const [timeline = 0n, word = 0n, number = 0n] = [0, 8, 16].map((at) => BigInt(`0x${name.slice(at, at + 8)}`));
  return { timeline: Number(timeline), start: (word * segmentsOfWord + number) * BigInt(segmentBytes) };
}

const hexadecimal = (word: bigint): string => word.toString(16).toUpperCase().padStart(8, '0');
