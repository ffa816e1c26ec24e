/** Which files of ARCHIVE_DIR a restore to a moment needs. */
import { TransferRefused } from '../transfer/load.ts';
import { nowhere, readBase } from './base-files.ts';
import { readManifest } from './base-copy.ts';
import { readHistories, type Base, type History, type Segment } from './histories.ts';
import type { Manifest } from './manifest.ts';
import { contentOf } from './log-files.ts';
import { segmentBytes } from './segments.ts';

export interface Plan {
  base: Base;
  manifest: Manifest;
  segments: Segment[];
  /** Undefined: everything in the archive. */
  until: Date | undefined;
  /** The moment whose state the restore gives. */
  takenAt: Date;
}

/** The moments that a history can restore. */
export interface Range {
  history: string;
  from: Date;
  to: Date;
}

/** Undefined: nothing of the history can be restored, since no base is complete. */
export function rangeOf({ path, bases, reach }: History): Range | undefined {
  const [first] = bases;
  return first && reach && first.at <= reach.at ? { history: path, from: first.at, to: reach.at } : undefined;
}

/**
 * For the state of `until`, or without it the last one. If two histories have the moment, the one that reaches further is used. Throws {@link TransferRefused} if
 * none has it, if a part of the log is missing, if the end of a history is not known, and if the directory has the logs of several clusters.
 */
export async function planRestore(directory: string, until: Date | undefined): Promise<Plan> {
  const usable = (await readUsable(directory)).filter(({ range }) => !until || (range.from <= until && until <= range.to));
  const chosen = usable.toSorted((one, other) => one.range.to.getTime() - other.range.to.getTime()).at(-1);
  if (!chosen) throw await refusal(directory, until);
  const { history, range } = chosen;
  const takenAt = until ?? range.to;
  const base = history.bases.findLast(({ at }) => at <= takenAt);
  if (!base) throw await refusal(directory, until);
  const manifest = await readManifest(base);
  // A base has its name some time after the end of its copy, and the moment may lie in between. The next base but one is later in any case.
  const [, later] = history.bases.filter(({ at }) => at > takenAt);
  const end = later && (await readManifest(later)).end;
  return { base, manifest, segments: segmentsFor(history, manifest, end), until, takenAt };
}

async function readUsable(directory: string): Promise<{ history: History; range: Range }[]> {
  const histories = await readHistories(directory);
  if (new Set(histories.map(({ systemId }) => systemId)).size > 1)
    throw new TransferRefused(
      `${directory} has the logs of several databases: move the histories of one of them into a directory of their own`,
    );
  for (const { damage } of histories) if (damage) throw damage;
  return histories.flatMap((history) => {
    const range = rangeOf(history);
    return range ? [{ history, range }] : [];
  });
}

async function refusal(directory: string, until: Date | undefined): Promise<TransferRefused> {
  const ranges = (await readUsable(directory)).map(({ range: { from, to } }) => `${from.toISOString()} to ${to.toISOString()}`);
  if (ranges.length === 0) return new TransferRefused(`${directory} has nothing that can be restored`);
  return new TransferRefused(`${directory} does not have the moment ${until?.toISOString()}: it has ${ranges.join(', and ')}`);
}

/** Those that a restore from the base replays, up to the one with `end`. Throws {@link TransferRefused} if one is missing. */
export function segmentsFor({ path, segments }: History, { start }: Manifest, end: bigint | undefined): Segment[] {
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

/** The content of a segment, which is filled up with zeros. Throws {@link TransferRefused} if it is damaged. */
export async function* readSegment(segment: Segment): AsyncGenerator<Buffer> {
  const { path, isWhole } = segment;
  let bytes = 0;
  try {
    for await (const chunk of contentOf(segment)) {
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    const isGone = !isWhole && (error as NodeJS.ErrnoException).code === 'ENOENT';
    // The service that archives has compressed it in the meantime.
    if (isGone) return yield* readSegment({ ...segment, path: path.replace(/partial$/, 'gz'), isWhole: true });
    throw new TransferRefused(`${path} is damaged: ${(error as Error).message}`);
  }
  if (isWhole && bytes !== segmentBytes) throw new TransferRefused(`${path} is damaged: it has ${bytes} bytes instead of ${segmentBytes}`);
  yield Buffer.alloc(segmentBytes - bytes);
}

export interface VerifiedHistory extends Range {
  bases: number;
  segments: number;
}

/** Reads the whole archive. Throws {@link TransferRefused} for the first file that is damaged or missing. */
export async function verifyArchive(directory: string, signal: AbortSignal): Promise<VerifiedHistory[]> {
  const usable = await readUsable(directory);
  if (usable.length === 0) throw await refusal(directory, undefined);
  for (const { history } of usable) {
    for (const base of history.bases) segmentsFor(history, await readBase(base, nowhere, signal), undefined);
    for (const segment of history.segments) for await (const chunk of readSegment(segment)) if (chunk.length > 0) signal.throwIfAborted();
  }
  return usable.map(({ history, range }) => Object.assign(range, { bases: history.bases.length, segments: history.segments.length }));
}
