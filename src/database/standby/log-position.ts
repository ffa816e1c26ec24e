/**
 * Places in the write-ahead log of PostgreSQL. A server that has replayed the log up to a place shows all that was committed before the log of the primary
 * reached it (decision 170).
 */

export interface LogPosition {
  /** The number of the history that the log belongs to. It rises when a standby becomes the primary. */
  timeline: number;
  /** Bytes since the beginning of the log. */
  lsn: bigint;
}

/** The columns of the statements that ask a server for its place. The bytes are text, since they have 64 bits. */
export interface PositionRow {
  timeline: number;
  lsn: string | null;
}

const tokenBytes = 12;

/** The position as clients carry it: 16 characters of base64url. Any 16 such characters are a position. */
export function tokenOf({ timeline, lsn }: LogPosition): string {
  const bytes = Buffer.alloc(tokenBytes);
  bytes.writeUInt32BE(timeline);
  bytes.writeBigUInt64BE(lsn, 4);
  return bytes.toString('base64url');
}

/** The position in a token that {@link tokenOf} or a client has made. */
export function positionOf(token: string): LogPosition {
  const bytes = Buffer.from(token, 'base64url');
  return { timeline: bytes.readUInt32BE(), lsn: bytes.readBigUInt64BE(4) };
}

/** The position of a server's answer; undefined for a server that does not replay the log of a primary. */
export function positionIn({ timeline, lsn }: PositionRow): LogPosition | undefined {
  return lsn === null ? undefined : { timeline, lsn: BigInt(lsn) };
}

/** Whether a server at `position` has all that was there at `wanted`. It is unknown of positions on different timelines, which counts as no. */
export function hasReached(position: LogPosition, wanted: LogPosition): boolean {
  return position.timeline === wanted.timeline && position.lsn >= wanted.lsn;
}

/** The later one of those that are given; undefined for none. */
export function latestOf(positions: readonly (LogPosition | undefined)[]): LogPosition | undefined {
  return positions.reduce((one, other) => (one && other ? (isLater(other, one) ? other : one) : (one ?? other)), undefined);
}

function isLater(one: LogPosition, other: LogPosition): boolean {
  return one.timeline === other.timeline ? one.lsn > other.lsn : one.timeline > other.timeline;
}
