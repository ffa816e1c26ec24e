/** The hashes of the values that the rows of a file have had, each with the first row that had it. A hash takes 12 bytes, and 8 to 16 more for free places. */

/** The most hashes of a file. They take 64 MiB at most. */
export const maximumHashes = 2_000_000;
/** Each segment grows by itself, so growing never takes long. */
const segmentCount = 256;

/** A part of the hashes, with the row of each. */
interface Segment {
  /** Two numbers for each place. */
  hashes: Uint32Array;
  /** 0 at a free place. */
  rows: Uint32Array;
  count: number;
}

const newSegment = (places: number): Segment => ({ hashes: new Uint32Array(2 * places), rows: new Uint32Array(places), count: 0 });

export class SeenValues {
  readonly #segments: Segment[] = Array.from({ length: segmentCount }, () => newSegment(8));
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The row that {@link add} was called with first for the hash, a signed 64-bit integer as text; undefined for none. */
  rowOf(hash: string): number | undefined {
    const { segment, high, low } = this.#segmentOf(hash);
    return segment.rows[placeOf(segment, high, low)] || undefined;
  }

  /** Stores the row, from 1, of a hash that has none. */
  add(hash: string, row: number): void {
    const { index, segment, high, low } = this.#segmentOf(hash);
    if (!put(segment, high, low, row)) return;
    this.#count += 1;
    if (segment.count * 4 <= segment.rows.length * 3) return;
    const larger = newSegment(2 * segment.rows.length);
    segment.rows.forEach((of, place) => of > 0 && put(larger, segment.hashes[2 * place] ?? 0, segment.hashes[2 * place + 1] ?? 0, of));
    this.#segments[index] = larger;
  }

  #segmentOf(hash: string): { index: number; segment: Segment; high: number; low: number } {
    const bits = BigInt.asUintN(64, BigInt(hash));
    const [high, low] = [Number(bits >> 32n), Number(bits & 0xffff_ffffn)];
    const index = high % segmentCount;
    const segment = this.#segments[index];
    if (!segment) throw new Error('there is a segment for each hash');
    return { index, segment, high, low };
  }
}

/** Whether the hash was not there. */
function put(segment: Segment, high: number, low: number, row: number): boolean {
  const place = placeOf(segment, high, low);
  if ((segment.rows[place] ?? 0) > 0) return false;
  segment.hashes.set([high, low], 2 * place);
  segment.rows[place] = row;
  segment.count += 1;
  return true;
}

/** The place of the hash, or the free one where it belongs. */
function placeOf({ hashes, rows }: Segment, high: number, low: number): number {
  let place = low % rows.length;
  while (rows[place] !== 0 && (hashes[2 * place] !== high || hashes[2 * place + 1] !== low)) place = (place + 1) % rows.length;
  return place;
}
