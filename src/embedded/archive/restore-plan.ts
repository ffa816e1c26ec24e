/** Which files of ARCHIVE_DIR a restore to a moment needs. */
import { TransferRefused } from '../../database/transfer/load.ts';
import { readManifest } from './base-copy.ts';
import { assertOneCluster, endOf, readHistories, type Base, type LogHistory, type LogSegment } from './histories.ts';
import type { Manifest } from './manifest.ts';
import type { Reach } from './reach.ts';
import { segmentBytes } from './segments.ts';

export interface Plan {
  history: LogHistory;
  base: Base;
  manifest: Manifest;
  segments: LogSegment[];
  /** Undefined: everything in the archive. */
  until: Date | undefined;
  /** The moment whose state the restore gives. */
  takenAt: Date;
  /** The position up to which the segments have the log; undefined: not known, since the file `reach` is damaged. */
  end: bigint | undefined;
  /** What says so, if it is the end of the history. */
  reach: Reach | undefined;
}

/** The moments that a history can restore. */
export interface MomentRange {
  history: string;
  from: Date;
  to: Date;
}

/** Undefined: nothing of the history can be restored, since no base is complete. `next` is the history after it. If its end is not known, it may go up to there. */
function rangeOf(history: LogHistory, next: LogHistory | undefined): MomentRange | undefined {
  const [first] = history.bases;
  const to = endOf(history, next);
  return first && to && first.at <= to ? { history: history.path, from: first.at, to } : undefined;
}

/**
 * For the state of `until`, or without it the last one. If two histories have the moment, the one that reaches further is used. Throws
 * {@link TransferRefused} if none has it, if a part of the log is missing, or if the last moment is not known. It also throws if the
 * directory has the logs of several clusters.
 */
export async function planRestore(directory: string, until: Date | undefined): Promise<Plan> {
  const usable = (await readUsable(directory)).filter(({ range }) => !until || (range.from <= until && until <= range.to));
  const chosen = usable.toSorted((one, other) => one.range.to.getTime() - other.range.to.getTime()).at(-1);
  if (!chosen) throw await restoreRefusal(directory, until);
  const { history, range } = chosen;
  if (!until && history.damage)
    throw new TransferRefused(
      `${history.damage.message}: the last moment of its history is not known. "--until" restores a moment that its log shows`,
    );
  const takenAt = until ?? range.to;
  const base = history.bases.findLast(({ at }) => at <= takenAt);
  if (!base) throw await restoreRefusal(directory, until);
  const manifest = await readManifest(base);
  // A base has its name some time after the end of its copy, and the moment may lie in between. The next base but one is later in any case.
  const [, later] = history.bases.filter(({ at }) => at > takenAt);
  const end = later && (await readManifest(later)).end;
  const segments = segmentsFor(history, manifest, end);
  const { reach } = history;
  return { history, base, manifest, segments, until, takenAt, end: end ?? reach?.lsn, reach: later ? undefined : reach };
}

/** The histories from which moments can be restored, also if the end of one is not known. Throws {@link TransferRefused} for the logs of several clusters. */
export async function readUsable(directory: string): Promise<{ history: LogHistory; range: MomentRange }[]> {
  const histories = await readHistories(directory);
  assertOneCluster(directory, histories);
  return histories.flatMap((history, index) => {
    const range = rangeOf(history, histories[index + 1]);
    return range ? [{ history, range }] : [];
  });
}

/** Why there is nothing to restore, or not this moment. */
export async function restoreRefusal(directory: string, until: Date | undefined): Promise<TransferRefused> {
  const ranges = (await readUsable(directory)).map(
    ({ history: { damage }, range: { from, to } }) =>
      `${from.toISOString()} to ${damage ? 'a moment that is not known' : to.toISOString()}`,
  );
  return ranges.length === 0
    ? new TransferRefused(`${directory} has nothing that can be restored`)
    : new TransferRefused(`${directory} does not have the moment ${until?.toISOString()}: it has ${ranges.join(', and ')}`);
}

/** Those that a restore from the base replays, up to the one with `end`. Throws {@link TransferRefused} if one is missing. */
export function segmentsFor({ path, segments }: LogHistory, { start }: Manifest, end: bigint | undefined): LogSegment[] {
  const size = BigInt(segmentBytes);
  const needed = segments.filter((segment) => segment.start + size > start && (end === undefined || segment.start < end));
  for (const [index, segment] of needed.entries()) {
    const before = needed[index - 1];
    if (before ? before.start + size !== segment.start : segment.start > start)
      throw new TransferRefused(`${path} lacks the log in front of the segment ${segment.name}`);
  }
  if (needed.length === 0) throw new TransferRefused(`${path} lacks its log`);
  return needed;
}
