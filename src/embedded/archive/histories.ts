/**
 * What ARCHIVE_DIR contains. A history is an unbroken piece of the log of one cluster, with copies of the cluster's files from which the log
 * can be replayed.
 *
 * ARCHIVE_DIR/7711654892674652223-20261124T084020Z/   a history: the cluster's name and when it begins
 *   base-20261124T084021Z/base.tar.gz                 the files at that time
 *   base-20261124T084021Z/backup_manifest             of PostgreSQL, with a checksum of each file
 *   log/000000010000000000000004.gz                   a whole segment of the log
 *   log/000000010000000000000005.partial              the last one, which grows
 *   reach                                             how far the log goes
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unfinishedSuffix } from '../synced.ts';
import { TransferRefused } from '../../database/transfer/load.ts';
import { reachName, readReach, type Reach } from './reach.ts';
import { parseSegmentName, segmentBytes } from './segments.ts';

export const baseArchive = 'base.tar.gz';
export const baseManifest = 'backup_manifest';
const historyName = /^(\d+)-(\d{8}T\d{6}Z)$/;
/** The service writes `reach` within seconds after a history begins. */
const reachMissingMs = 60_000;
const baseName = /^base-(\d{8}T\d{6}Z)$/;
const segmentFile = /^([\dA-F]{24})\.(gz|partial)$/;

export interface Base {
  path: string;
  /** The time at which the copy was complete: every later moment of the history can be restored from it. */
  at: Date;
}

export interface LogSegment {
  path: string;
  name: string;
  timeline: number;
  start: bigint;
  isWhole: boolean;
}

export interface LogHistory {
  path: string;
  systemId: string;
  began: Date;
  /** From the oldest to the newest. */
  bases: Base[];
  segments: LogSegment[];
  /** How far its log goes; undefined: not known, since it has just begun or since `damage` is set. */
  reach: Reach | undefined;
  /** Why `reach` cannot be read: it is damaged, or missing beside a base that is older than a minute. */
  damage: TransferRefused | undefined;
}

/** A moment as part of a name, to the second. */
export function timeName(at: Date): string {
  return at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
}

function parseTimeName(text: string): Date {
  return new Date(text.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'));
}

/**
 * The last moment that a history may have. If `reach` is damaged, that is the beginning of `next`, the history after it, or now. Undefined: it has just begun.
 */
export function endOf({ reach, damage }: LogHistory, next: LogHistory | undefined): Date | undefined {
  return reach?.at ?? (damage && (next?.began ?? new Date()));
}

export const logOf = (history: string): string => join(history, 'log');

/** The histories in `directory`, ARCHIVE_DIR, from the oldest to the newest. Throws if it cannot be read. */
export async function readHistories(directory: string): Promise<LogHistory[]> {
  const found = (await readdir(directory)).map((name) => historyName.exec(name)).filter((match) => match !== null);
  const byTime = found.toSorted((one, other) => ((one[2] ?? '') < (other[2] ?? '') ? -1 : 1));
  return await Promise.all(
    byTime.map(([name, systemId = '', time = '']) => readHistory(join(directory, name), systemId, parseTimeName(time))),
  );
}

async function readHistory(path: string, systemId: string, began: Date): Promise<LogHistory> {
  const bases = (await readdir(path))
    .map((name) => baseName.exec(name))
    .filter((match) => match !== null)
    .map(([name, time = '']) => ({ path: join(path, name), at: parseTimeName(time) }));
  // First, because the segment in which it ends must be among those that are found.
  const reach = await readReach(path).then((known) => known && { reach: known, damage: undefined }, damaged);
  const isOld = bases.some(({ at }) => Date.now() - at.getTime() > reachMissingMs);
  const missing = isOld ? new TransferRefused(`${join(path, reachName)} is missing`) : undefined;
  return {
    path,
    systemId,
    began,
    bases: bases.toSorted((one, other) => one.at.getTime() - other.at.getTime()),
    segments: await readSegments(logOf(path)),
    ...(reach ?? { reach: undefined, damage: missing }),
  };
}

function damaged(error: unknown): Pick<LogHistory, 'reach' | 'damage'> {
  if (error instanceof TransferRefused) return { reach: undefined, damage: error };
  throw error;
}

/** In order. Of a segment that is there twice, because a process was killed while it compressed it, the whole one. */
async function readSegments(log: string): Promise<LogSegment[]> {
  const files = (await readdir(log).catch(() => [])).map((name) => segmentFile.exec(name)).filter((match) => match !== null);
  const segments = new Map<string, LogSegment>();
  for (const [file, name = '', kind] of files) {
    const isWhole = kind === 'gz';
    if (isWhole || !segments.has(name)) segments.set(name, { path: join(log, file), name, ...parseSegmentName(name), isWhole });
  }
  return [...segments.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Throws {@link TransferRefused} for the logs of several clusters. */
export function assertOneCluster(directory: string, histories: readonly LogHistory[]): void {
  if (new Set(histories.map(({ systemId }) => systemId)).size <= 1) return;
  throw new TransferRefused(
    `${directory} has the logs of several databases: move the histories of one of them into a directory of their own`,
  );
}

/**
 * The moment up to which the newest log in `directory`, ARCHIVE_DIR, is complete; undefined: it has none. Throws {@link TransferRefused} if the file that says it
 * is damaged, and for the logs of several clusters.
 */
export async function archiveReach(directory: string): Promise<Date | undefined> {
  const histories = await readHistories(directory);
  assertOneCluster(directory, histories);
  const damage = histories.at(-1)?.damage;
  if (damage) throw damage;
  const reaches = histories.map(({ reach }) => reach?.at.getTime() ?? 0);
  const latest = Math.max(0, ...reaches);
  return latest === 0 ? undefined : new Date(latest);
}

/**
 * Deletes what no moment after `cutoff` needs. These are histories of the same cluster as `current` that end before it. Also bases of
 * `current` if a newer base was complete by then, and the log in front of the newer one. `startOf` gives the position at which the log of a
 * base begins. Returns the paths that it has deleted.
 */
export async function expireHistories(
  directory: string,
  current: string,
  cutoff: Date,
  startOf: (base: Base) => Promise<bigint>,
): Promise<string[]> {
  const deleted: string[] = [];
  const remove = async (path: string) => {
    // Without its name a part of it is not taken for the whole.
    await rename(path, `${path}${unfinishedSuffix}`);
    await rm(`${path}${unfinishedSuffix}`, { recursive: true, force: true });
    deleted.push(path);
  };
  // What a process that was killed has left behind. The file `reach` is being replaced meanwhile.
  for (const name of await readdir(current))
    if (name.endsWith(unfinishedSuffix) && name !== `${reachName}${unfinishedSuffix}`)
      await rm(join(current, name), { recursive: true, force: true });
  const histories = await readHistories(directory);
  const systemId = histories.find(({ path }) => path === current)?.systemId;
  const ofCluster = histories.filter((history) => history.systemId === systemId);
  for (const [index, history] of ofCluster.entries()) {
    if (history.path !== current) {
      const end = endOf(history, ofCluster[index + 1]);
      if (end && end < cutoff) await remove(history.path);
      continue;
    }
    const keepFrom = history.bases.findLastIndex(({ at }) => at <= cutoff);
    for (const { path } of history.bases.slice(0, Math.max(0, keepFrom))) await remove(path);
    const oldest = history.bases[Math.max(0, keepFrom)];
    if (!oldest) continue;
    const start = await startOf(oldest);
    for (const segment of history.segments) if (segment.start + BigInt(segmentBytes) <= start) await remove(segment.path);
  }
  return deleted;
}
