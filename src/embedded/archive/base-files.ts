/** Reads the files of a base, and compares each with its checksum. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { TransferRefused } from '../../database/transfer/load.ts';
import { readManifest } from './base-copy.ts';
import { baseArchive, type Base } from './histories.ts';
import type { Manifest } from './manifest.ts';

/** The places of the files: paths are relative, below the cluster. */
export interface FileTarget {
  directory(path: string): Promise<void>;
  file(path: string, content: AsyncIterable<Buffer>): Promise<void>;
}

/** Reads the files and writes none. */
export const nowhere: FileTarget = {
  directory: async () => undefined,
  async file(_path, content) {
    for await (const chunk of content) void chunk;
  },
};

/** Gives all files of the base to `target`, and returns its manifest. Throws {@link TransferRefused} if a file is damaged, missing or unknown. */
export async function readBase(base: Base, target: FileTarget, signal: AbortSignal): Promise<Manifest> {
  const manifest = await readManifest(base);
  const archive = join(base.path, baseArchive);
  const missing = new Set(manifest.checksums.keys());
  const failing = new AbortController();
  const read = async (entry: ReadEntry): Promise<void> => {
    const path = entry.path.replace(/\/$/, '');
    if (path.startsWith('/') || path.split('/').includes('..'))
      throw new TransferRefused(`${archive} has ${path}, which is outside of the cluster`);
    if (entry.type === 'Directory') {
      for await (const chunk of entry) void chunk;
      return await target.directory(path);
    }
    const checksum = entry.type === 'File' ? manifest.checksums.get(path) : undefined;
    if (checksum === undefined) throw new TransferRefused(`${archive} has ${path}, which its manifest does not`);
    const hash = createHash('sha256');
    await target.file(path, hashed(entry, hash));
    if (hash.digest('hex') !== checksum) throw new TransferRefused(`${archive}: the file ${path} is damaged`);
    missing.delete(path);
  };
  let reading = Promise.resolve();
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      reading = reading.then(() => read(entry));
      reading.catch((error: unknown) => failing.abort(error));
    },
  });
  try {
    await pipeline(createReadStream(archive), createGunzip(), parser as unknown as NodeJS.WritableStream, {
      signal: AbortSignal.any([failing.signal, signal]),
    });
    await reading;
  } catch (error) {
    if (failing.signal.aborted) throw failing.signal.reason;
    if (signal.aborted || (error as NodeJS.ErrnoException).code?.startsWith('E')) throw error;
    throw new TransferRefused(`${archive} is damaged: ${(error as Error).message}`);
  }
  const [first] = missing;
  if (first !== undefined) throw new TransferRefused(`${archive} lacks ${first}`);
  return manifest;
}

async function* hashed(content: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}
