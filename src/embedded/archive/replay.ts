/** Whether PostgreSQL has replayed all of the log that a restore needs: it takes the first damaged record for the end. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TransferRefused } from '../../database/transfer/load.ts';
import type { Plan } from './restore-plan.ts';
import { readWholeSegment } from './segment-files.ts';
import { formatLsn, parseLsn, segmentBytes, startOfSegment } from './segments.ts';
import { assertLogIsWhole } from './verify.ts';

export interface Replay {
  /** Whether it ended because the next transaction is later than the moment that is restored. */
  isStopped: boolean;
  /** The end of the last record. */
  end: bigint;
  /** The time at which the last transaction ended, in milliseconds rounded up; undefined: there was none. */
  lastAt: Date | undefined;
}

const pageBytes = 8_192;
/** Of the first page of a segment, and of every other one. */
const [longHeaderBytes, headerBytes] = [40, 24];
const recordHeaderBytes = 24;

/** After the recovery of `cluster`; `log` is what PostgreSQL has written to its standard error. */
export async function readReplay(cluster: string, log: string, isStopped: boolean): Promise<Replay> {
  const directory = join(cluster, 'pg_wal');
  // The newest timeline begins where the replay ended: https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-TIMELINES.
  const timelines = (await readdir(directory)).filter((name) => /^[\dA-F]{8}\.history$/.test(name)).toSorted();
  const newest = timelines.at(-1);
  const text = newest === undefined ? '' : await readFile(join(directory, newest), 'utf8');
  const [, end] = /^\d+\t([\dA-F]+\/[\dA-F]+)\t/.exec(text.trim().split('\n').at(-1) ?? '') ?? [];
  if (end === undefined) throw new Error('PostgreSQL does not say where the replay ended');
  const [, day = '', time = '', fraction = ''] = /last completed transaction was at log time (\S+) (\S{8})\.?(\d*)\+00/.exec(log) ?? [];
  const lastAt = day === '' ? undefined : new Date(Date.parse(`${day}T${time}Z`) + Math.ceil(Number(fraction.padEnd(6, '0')) / 1_000));
  return { isStopped, end: parseLsn(end), lastAt };
}

/**
 * Returns what to say to the operator if the log is damaged after the moment that they asked for. Throws {@link TransferRefused} if it is damaged before, or if the
 * log does not show that it has the moment. `damage`: why a segment, and what follows it, was not replayed.
 */
export async function assertReplayed(
  plan: Plan,
  replay: Replay,
  signal: AbortSignal,
  damage: TransferRefused | undefined,
): Promise<string | undefined> {
  const { base, end, history, until, takenAt } = plan;
  if (replay.isStopped) return undefined;
  if (end !== undefined && (replay.end >= end || (await endsWithinRecord(plan, replay.end, signal)))) return undefined;
  const goal = end === undefined ? 'a position that is not known' : formatLsn(end);
  const where = `the replay of ${history.path} ended at ${formatLsn(replay.end)}, and its log goes to ${goal}`;
  const last = new Date(Math.min(Math.max(base.at.getTime(), replay.lastAt?.getTime() ?? 0), takenAt.getTime()));
  if (until && until <= last) return where;
  const unknown = end === undefined ? history.damage : undefined;
  const reason = (damage ?? unknown)?.message ?? 'a part of it is damaged';
  throw new TransferRefused(`${where}: ${reason}. "--until ${last.toISOString()}" restores the last moment that was replayed`);
}

/**
 * Whether the log ends within the record at `position`. The server writes its log by pages, so the archive may have the beginning of a record alone. Such a record
 * belongs to a transaction that was not committed.
 */
async function endsWithinRecord({ history, segments, reach }: Plan, position: bigint, signal: AbortSignal): Promise<boolean> {
  if (!reach) return false;
  try {
    await assertLogIsWhole(history.path, segments, reach, signal);
  } catch (error) {
    if (error instanceof TransferRefused) return false;
    throw error;
  }
  const segment = segments.find(({ start }) => start === startOfSegment(position));
  if (!segment) return false;
  let at = Number(position - segment.start);
  const headerAt = (page: number) => (page % segmentBytes === 0 ? longHeaderBytes : headerBytes);
  if (at % pageBytes === 0) at += headerAt(at);
  const bytes = await readWholeSegment(segment);
  if (at + 4 > bytes.length) return false;
  // The record begins with its length.
  const length = bytes.readUInt32LE(at);
  const end = Number(reach.lsn - segment.start);
  let available = end - at;
  for (let page = at - (at % pageBytes) + pageBytes; page < end; page += pageBytes) available -= headerAt(page);
  return length >= recordHeaderBytes && length > available;
}
