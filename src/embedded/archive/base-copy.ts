/** Copies the files of the running cluster into a new base of a history. */
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { syncDirectory, unfinishedSuffix, writeSynced } from '../synced.ts';
import { baseArchive, baseManifest, timeName, type Base } from './histories.ts';
import { parseManifest, type Manifest } from './manifest.ts';
import type { ReplicationConnection } from './replication-connection.ts';

/** A copy that was received but has no name yet: it is of no use before the log reaches `end`. */
export interface ReceivedBase {
  /** The position at which the copy is consistent. */
  end: bigint;
  /** The size of the compressed file. */
  bytes: number;
  /** Gives the copy its name. Returns its path. */
  commit(): Promise<string>;
}

/** Receives a copy into `history`, in place of one that was not completed. `signal` cancels it. */
export async function receiveBase(connection: ReplicationConnection, history: string, signal: AbortSignal): Promise<ReceivedBase> {
  const directory = join(history, `base${unfinishedSuffix}`);
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { mode: 0o700 });
  const manifest: Buffer[] = [];
  async function* archive(): AsyncGenerator<Buffer> {
    let part: string | undefined;
    for await (const frame of connection.baseBackup()) {
      const kind = String.fromCharCode(frame[0] ?? 0);
      if (kind === 'd') {
        if (part === 'm') manifest.push(frame.subarray(1));
        else yield frame.subarray(1);
      } else if (kind !== 'p') {
        if (kind === 'n' && part !== undefined) throw new Error('the cluster has a tablespace, which the archive does not copy');
        part = kind;
      }
    }
  }
  const file = join(directory, baseArchive);
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(archive, createGzip({ level: constants.Z_BEST_SPEED }), target, { signal });
  const text = Buffer.concat(manifest).toString();
  await writeSynced(join(directory, baseManifest), text);
  await syncDirectory(directory);
  return {
    end: parseManifest(directory, text).end,
    bytes: (await stat(file)).size,
    async commit() {
      // A moment of the same second may lie before the end of the copy.
      const path = join(history, `base-${timeName(new Date(Date.now() + 999))}`);
      await rename(directory, path);
      await syncDirectory(history);
      return path;
    },
  };
}

/** Throws TransferRefused if it is damaged. */
export async function readManifest({ path }: Pick<Base, 'path'>): Promise<Manifest> {
  const file = join(path, baseManifest);
  return parseManifest(file, await readFile(file, 'utf8'));
}
