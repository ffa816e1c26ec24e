/**
 * Writes the log of a history: the segment under way as it is, and each whole one compressed.
 *
 * What a process has written to a `.partial` file survives its end, so the log continues there. The server sends that segment again from its
 * start, over the same bytes.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { syncDirectory, unfinished } from '../embedded/synced.ts';
import { logOf, type Segment } from './histories.ts';
import { segmentBytes, segmentName, startOfSegment } from './segments.ts';

/** The server's log is not the continuation of the one here: its cluster was replaced by an older copy of itself. */
export class OtherLogError extends Error {
  override readonly name = 'OtherLogError';
}

export class LogFiles {
  readonly #directory: string;
  readonly #timeline: number;
  /** What the newest segment had when this process opened it; empty once it was compared. */
  #known: Buffer;
  #current: { name: string; file: FileHandle } | undefined;
  #written: bigint;
  #compressed: Promise<void> = Promise.resolve();
  #leftovers: Segment[] = [];

  private constructor(history: string, timeline: number, from: bigint, known: Buffer) {
    this.#directory = logOf(history);
    this.#timeline = timeline;
    this.#written = from;
    this.#known = known;
  }

  /** Continues the log of a history after its `segments`, or begins one at `from`, the start of a segment. */
  static async open(history: string, begin: { segments: Segment[] } | { timeline: number; from: bigint }): Promise<LogFiles> {
    if ('from' in begin) return new LogFiles(history, begin.timeline, begin.from, Buffer.alloc(0));
    const newest = begin.segments.at(-1);
    if (!newest) throw new TypeError('a history without a segment cannot be continued');
    const files = new LogFiles(history, newest.timeline, newest.start, await readWhole(newest));
    files.#leftovers = begin.segments.slice(0, -1).filter(({ isWhole }) => !isWhole);
    return files;
  }

  /** The end of what was written. */
  get written(): bigint {
    return this.#written;
  }

  /** Compresses what a process that was killed had completed. The server must send its log to this process, so that no other one does it too. */
  async compressLeftovers(): Promise<void> {
    for (const { name } of this.#leftovers.splice(0)) await this.#compress(name);
  }

  /** Appends the bytes at `lsn`. Throws {@link OtherLogError} if they are not those that the newest segment has already. */
  async write(lsn: bigint, bytes: Buffer): Promise<void> {
    if (lsn !== this.#written) throw new Error(`the server sent its log from another position (${lsn} instead of ${this.#written})`);
    for (let rest = bytes; rest.length > 0;) {
      const at = Number(this.#written - startOfSegment(this.#written));
      const piece = rest.subarray(0, segmentBytes - at);
      this.#compare(at, piece);
      this.#current ??= await this.#begin();
      await writeAll(this.#current.file, piece, at);
      this.#written += BigInt(piece.length);
      rest = rest.subarray(piece.length);
      if (at + piece.length === segmentBytes) await this.#complete();
    }
  }

  /** Makes what was written durable, also while more is written. Returns its end. */
  async sync(): Promise<bigint> {
    const written = this.#written;
    await this.#current?.file.datasync();
    return written;
  }

  async close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.file.close();
    await this.#compressed;
  }

  #compare(at: number, piece: Buffer): void {
    const known = this.#known.subarray(at, at + piece.length);
    // A crash of the machine leaves zeros where a write was not durable.
    if (!known.equals(piece.subarray(0, known.length)) && known.some((byte, index) => byte !== 0 && byte !== piece[index]))
      throw new OtherLogError('the log of the server is not the continuation of the archived one');
    if (at + piece.length >= this.#known.length) this.#known = Buffer.alloc(0);
  }

  async #begin(): Promise<{ name: string; file: FileHandle }> {
    const name = segmentName(this.#timeline, this.#written);
    const path = join(this.#directory, `${name}.partial`);
    const file = await open(path, 'r+').catch(() => open(path, 'wx', 0o600));
    await syncDirectory(this.#directory);
    return { name, file };
  }

  async #complete(): Promise<void> {
    const { name, file } = this.#current ?? {};
    if (name === undefined || !file) return;
    await file.datasync();
    this.#current = undefined;
    await file.close();
    // One at a time, while the next segment is received.
    await this.#compressed;
    this.#compressed = this.#compress(name);
    // The next segment, or the end, awaits it again and throws its error.
    this.#compressed.catch(() => undefined);
  }

  async #compress(name: string): Promise<void> {
    const [partial, whole] = [join(this.#directory, `${name}.partial`), join(this.#directory, `${name}.gz`)];
    const target = createWriteStream(`${whole}${unfinished}`, { mode: 0o600, flush: true });
    await pipeline(createReadStream(partial), createGzip({ level: constants.Z_BEST_SPEED }), target);
    await rename(`${whole}${unfinished}`, whole);
    await rm(partial);
    await syncDirectory(this.#directory);
  }
}

/** A disk that becomes full takes a part of a write without an error. */
async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

/** What the file of a segment has, of a whole one uncompressed. */
export async function* contentOf({ path, isWhole }: Segment): AsyncGenerator<Buffer> {
  const file = createReadStream(path);
  if (!isWhole) return yield* file as AsyncIterable<Buffer>;
  const unzipped = createGunzip();
  // `pipe` does not pass on the error of its source.
  file.on('error', (error) => unzipped.destroy(error));
  yield* file.pipe(unzipped) as AsyncIterable<Buffer>;
}

async function readWhole(segment: Segment): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of contentOf(segment)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
