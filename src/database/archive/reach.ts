/** The file `reach` of a history: the moment up to which its log is complete, and a CRC-32 of that text, so that a damaged file is noticed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { replaceSynced } from '../embedded/synced.ts';
import { TransferRefused } from '../transfer/load.ts';

export const reachName = 'reach';

export interface Reach {
  /** Every moment up to it can be restored, from the first base on. */
  at: Date;
}

const line = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([\da-f]{8})\n$/;

/** Replaces the file as a whole, also when the machine crashes. */
export async function writeReach(history: string, { at }: Reach): Promise<void> {
  const text = at.toISOString();
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
  const [, at = '', checksum] = line.exec(text) ?? [];
  if (checksum !== hexadecimal(crc32(at))) throw new TransferRefused(`${file} is damaged`);
  return { at: new Date(at) };
}

const hexadecimal = (checksum: number): string => checksum.toString(16).padStart(8, '0');
