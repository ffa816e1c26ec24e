/**
 * Writes the log of a history: the segment under way as it is, and each whole one compressed.
 *
 * What a process has written to a `.partial` file survives its end, so the log continues there. The server sends that segment again from its
 * start, over the same bytes.
 */
import { createWriteStream } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, crc32, createGzip } from 'node:zlib';
import { syncDirectory, unfinishedSuffix } from '../synced.ts';
import { logOf, type LogSegment } from './histories.ts';
import type { LogEnd } from './reach.ts';
import { checksumOf, readSegment, readWholeSegment } from './segment-files.ts';
import { parseSegmentName, segmentBytes, segmentName, startOfSegment } from './segments.ts';

/** The server's log is not the continuation of the one here: its cluster was replaced by an older copy of itself. */
export class OtherLogError extends Error {
  override readonly name = 'OtherLogError';
}

export class LogFiles {
  readonly #directory: string;
  readonly #timeline: number;
  /** What the newest segment had when this process began; empty once it was compared. */
  #known: Buffer = Buffer.alloc(0);
  #current: { name: string; file: FileHandle } | undefined;
  #written: bigint;
  /** CRC-32 of what the segment with `#written` has before it. */
  #checksum = 0;
  #compressed: Promise<void> = Promise.resolve();
  /** The segments that are there, until {@link prepare}. */
  #found: LogSegment[];

  /** Continues the log of a history after the `found` segments, or begins it at `from`. That is the start of the newest segment or of the first. */
  constructor(history: string, { timeline, from, found }: { timeline: number; from: bigint; found: LogSegment[] }) {
    this.#directory = logOf(history);
    this.#timeline = timeline;
    this.#written = from;
    this.#found = found;
  }

  /** The end of what was written. */
  get written(): bigint {
    return this.#written;
  }

  /**
   * Compresses what a process that was killed had completed, and reads the newest segment. The server must send its log to this process, so that no other one does
   * it too. Throws TransferRefused if a segment is damaged.
   */
  async prepare(): Promise<void> {
    const found = this.#found.splice(0);
    for (const { name, isWhole } of found.slice(0, -1)) if (!isWhole) await this.#compress(name);
    const newest = found.at(-1);
    if (newest) this.#known = await readWholeSegment(newest);
  }

  /** Appends the bytes at `lsn`. Throws {@link OtherLogError} if they are not those that the newest segment has already. */
  async write(lsn: bigint, bytes: Buffer): Promise<void> {
    if (lsn !== this.#written) throw new Error(`the server sent its log from another position (${lsn} instead of ${this.#written})`);
    for (let rest = bytes; rest.length > 0;) {
      const at = Number(this.#written - startOfSegment(this.#written));
      const piece = rest.subarray(0, segmentBytes - at);
      this.#compare(at, piece);
      this.#current ??= await this.#begin();
      const isEnd = at + piece.length === segmentBytes;
      const checksum = crc32(piece, this.#checksum);
      await writeAll(this.#current.file, piece, at);
      if (isEnd) await writeAll(this.#current.file, checksumOf(checksum), segmentBytes);
      this.#written += BigInt(piece.length);
      this.#checksum = isEnd ? 0 : checksum;
      rest = rest.subarray(piece.length);
      if (isEnd) await this.#complete();
    }
  }

  /** Makes what was written durable, also while more is written. Returns its end. */
  async sync(): Promise<LogEnd> {
    const end = { lsn: this.#written, checksum: this.#checksum };
    await this.#current?.file.datasync();
    return end;
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

  /** Throws TransferRefused if the file has other bytes than those that were received. */
  async #compress(name: string): Promise<void> {
    const [partial, whole] = [join(this.#directory, `${name}.partial`), join(this.#directory, `${name}.gz`)];
    const content = readSegment({ path: partial, name, ...parseSegmentName(name), isWhole: false }, true);
    const target = createWriteStream(`${whole}${unfinishedSuffix}`, { mode: 0o600, flush: true });
    await pipeline(content, createGzip({ level: constants.Z_BEST_SPEED }), target);
    await rename(`${whole}${unfinishedSuffix}`, whole);
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
