/**
 * The file `reach` of a history: how far its log goes. It has four words. The first is a moment, the second the position up to which the
 * log is on the disk. The third is the CRC-32 of the bytes before this position in its segment, the fourth that of the text of the other
 * three.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { replaceSynced } from '../synced.ts';
import { TransferRefused } from '../../database/transfer/load.ts';
import { formatLsn, parseLsn } from './segments.ts';

export const reachName = 'reach';

/** The end of a log, and how its bytes are recognised. */
export interface LogEnd {
  lsn: bigint;
  /** CRC-32 of what the segment with `lsn` has before it; 0 if it has nothing. */
  checksum: number;
}

export interface Reach extends LogEnd {
  /** Every moment up to it can be restored, from the first base on: all that was committed by then is in the log before `lsn`. */
  at: Date;
}

const line = /^((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([\dA-F]+\/[\dA-F]+) ([\da-f]{8})) ([\da-f]{8})\n$/;

/** Replaces the file as a whole, also when the machine crashes. */
export async function writeReach(history: string, { at, lsn, checksum }: Reach): Promise<void> {
  const text = `${at.toISOString()} ${formatLsn(lsn)} ${hexadecimal(checksum)}`;
  await replaceSynced(join(history, reachName), `${text} ${hexadecimal(crc32(text))}\n`);
}

/** Undefined: the history has just begun and has no such file. Throws {@link TransferRefused} if it cannot be read or is damaged. */
export async function readReach(history: string): Promise<Reach | undefined> {
  const file = join(history, reachName);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new TransferRefused(`${file} cannot be read: ${error.message}`);
  });
  if (text === undefined) return undefined;
  const [, content = '', at = '', lsn = '', checksum = '', ofText] = line.exec(text) ?? [];
  if (ofText !== hexadecimal(crc32(content))) throw new TransferRefused(`${file} is damaged`);
  return { at: new Date(at), lsn: parseLsn(lsn), checksum: Number.parseInt(checksum, 16) };
}

const hexadecimal = (checksum: number): string => checksum.toString(16).padStart(8, '0');
