/** Reads the whole archive, and compares all with its checksums. */
import { crc32 } from 'node:zlib';
import { TransferRefused } from '../../database/transfer/load.ts';
import { nowhere, readBase } from './base-files.ts';
import { logOf, readHistories, type LogHistory, type LogSegment } from './histories.ts';
import type { LogEnd } from './reach.ts';
import { readUsable, restoreRefusal, segmentsFor, type MomentRange } from './restore-plan.ts';
import { readSegment } from './segment-files.ts';
import { formatLsn, segmentBytes } from './segments.ts';

export interface VerifiedHistory extends MomentRange {
  bases: number;
  segments: number;
}

/** Throws {@link TransferRefused} with the first file of each history that is damaged or missing. */
export async function verifyArchive(directory: string, signal: AbortSignal): Promise<VerifiedHistory[]> {
  const usable = await readUsable(directory);
  // Also of one that has no base yet.
  const failures = (await readHistories(directory)).flatMap(({ damage }) => damage ?? []);
  if (usable.length === 0 && failures.length === 0) throw await restoreRefusal(directory, undefined);
  for (const { history } of usable)
    await verifyHistory(history, signal).catch((error: unknown) => {
      if (!(error instanceof TransferRefused)) throw error;
      failures.push(error);
    });
  if (failures.length > 0) throw new TransferRefused(failures.map(({ message }) => message).join('; '));
  return usable.map(({ history, range }) => Object.assign(range, { bases: history.bases.length, segments: history.segments.length }));
}

async function verifyHistory(history: LogHistory, signal: AbortSignal): Promise<void> {
  for (const base of history.bases) segmentsFor(history, await readBase(base, nowhere, signal), undefined);
  // Without `reach` each segment but the last is known to be complete.
  const reach = history.reach ?? { lsn: history.segments.at(-1)?.start ?? 0n, checksum: 0 };
  await assertLogIsWhole(history.path, history.segments, reach, signal);
}

/** Compares the log before the position of `reach` with its checksums. What follows was not on the disk for sure. Throws {@link TransferRefused}. */
export async function assertLogIsWhole(history: string, segments: LogSegment[], reach: LogEnd, signal: AbortSignal): Promise<void> {
  const size = BigInt(segmentBytes);
  let end = 0n;
  for (const segment of segments) {
    const promised = Number(reach.lsn - segment.start);
    let [bytes, checksum] = [0, 0];
    for await (const chunk of readSegment(segment, segment.isWhole || promised >= segmentBytes)) {
      signal.throwIfAborted();
      checksum = crc32(chunk.subarray(0, Math.max(0, promised - bytes)), checksum);
      bytes += chunk.length;
    }
    const isLast = promised > 0 && promised < segmentBytes;
    if (isLast && (bytes < promised || checksum !== reach.checksum))
      throw new TransferRefused(`${segment.path} is damaged: its checksum differs, up to ${formatLsn(reach.lsn)}`);
    end = segment.start + size;
  }
  if (end < reach.lsn) throw new TransferRefused(`${logOf(history)} lacks the end of the log, up to ${formatLsn(reach.lsn)}`);
}
