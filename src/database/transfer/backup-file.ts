/**
 * The backup file: text, compressed by gzip.
 *
 * - the first line is the header, a JSON object: {@link Header}
 * - then the rows of each table of the header, in its order, as many lines as it says, in the text format of COPY
 * - the last line is `sha256 ` and the SHA-256 of everything before it, in hexadecimal
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { diskFailure } from '../../config/disk-failure.ts';
import type { Contents, DataSource, TableContents } from './contents.ts';
import { countLines, TransferRefused, type LoadOptions } from './load.ts';
import { CancelledError } from './snapshot.ts';

const format = 'entity-service backup';
const formatVersion = 1;
const maximumHeaderBytes = 1024 ** 2;
const trailerStart = 'sha256 ';
const trailerBytes = trailerStart.length + 64 + 1;

export interface Header extends Contents {
  format: typeof format;
  formatVersion: typeof formatVersion;
  /** The version of the service that wrote the file. */
  service: string;
}

/**
 * Writes all data of the source into `file`, which must not exist. It has the mode 0600 and appears when it is complete and on the disk.
 * Returns its size in bytes. Throws {@link TransferRefused} if the file exists, and {@link CancelledError} if `signal` is aborted.
 */
export async function writeBackup(
  file: string,
  service: string,
  source: DataSource,
  { signal, onRows }: Pick<LoadOptions, 'signal' | 'onRows'>,
): Promise<number> {
  const header: Header = { format, formatVersion, service, ...source.contents };
  async function* lines(): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    const hashed = (chunk: Buffer) => {
      hash.update(chunk);
      return chunk;
    };
    yield hashed(Buffer.from(`${JSON.stringify(header)}\n`));
    for (const table of header.tables) for await (const chunk of countLines(table, onRows)(source.read(table))) yield hashed(chunk);
    yield Buffer.from(`${trailerStart}${hash.digest('hex')}\n`);
  }
  try {
    await writeNewFile(file, (target) => pipeline(lines, createGzip(), target, { signal }));
    return (await stat(file)).size;
  } catch (error) {
    throw signal.aborted ? new CancelledError('cancelled', { cause: error }) : error;
  }
}

/**
 * Writes a file with the mode 0600, which appears under its name when `write` has ended its stream and everything is on the disk. If `write` throws, no file is
 * left. Throws {@link TransferRefused} if the file exists, or the disk refuses it.
 */
export async function writeNewFile(file: string, write: (target: Writable) => Promise<void>): Promise<void> {
  await assertNewFile(file);
  const partial = `${file}.${randomBytes(6).toString('hex')}.partial`;
  try {
    await write(createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }));
    await assertNewFile(file);
    await rename(partial, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    await rm(partial, { force: true });
    const reason = diskFailure(error);
    throw reason === undefined ? error : new TransferRefused(`${file} cannot be written: ${reason}`);
  }
}

/** Throws {@link TransferRefused} if the file exists, or its directory does not. */
export async function assertNewFile(file: string): Promise<void> {
  const directory = dirname(file);
  if (!(await stat(directory).catch(() => undefined))?.isDirectory()) throw new TransferRefused(`there is no directory ${directory}`);
  if (await stat(file).catch(() => undefined)) throw new TransferRefused(`${file} exists already: name another file`);
}

async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory);
  await handle.sync();
}

/** Reads the whole file and returns its header. Throws {@link TransferRefused} if the file is damaged or is no backup that this version reads. */
export async function verifyBackup(file: string): Promise<Header> {
  const hash = createHash('sha256');
  const lines = new LineReader(unzipped(file));
  try {
    const first = await lines.line(maximumHeaderBytes);
    const header = parseHeader(file, first);
    hash.update(first);
    for (const table of header.tables) for await (const chunk of lines.lines(table.rows)) hash.update(chunk);
    const trailer = (await lines.line(trailerBytes)).toString();
    if (trailer === `${trailerStart}${hash.digest('hex')}\n` && (await lines.ended())) return header;
    throw new TransferRefused(`${file} is damaged: its checksum is wrong`);
  } catch (error) {
    throw failureOf(file, error);
  }
}

/** The data of a file that {@link verifyBackup} has accepted. */
export async function openBackup(file: string): Promise<DataSource> {
  const lines = new LineReader(unzipped(file));
  const contents = parseHeader(file, await lines.line(maximumHeaderBytes));
  return { contents, read: ({ rows }: TableContents) => Readable.from(lines.lines(rows), { objectMode: false }) };
}

function unzipped(file: string): AsyncIterator<Buffer> {
  const gunzip = createGunzip();
  const input = createReadStream(file);
  input.on('error', (error) => gunzip.destroy(error));
  return input.pipe(gunzip)[Symbol.asyncIterator]();
}

function parseHeader(file: string, line: Buffer): Header {
  let header: Partial<Header>;
  try {
    header = JSON.parse(line.toString()) as Partial<Header>;
  } catch {
    throw new TransferRefused(`${file} is no backup of this service`);
  }
  if (header.format !== format || !Array.isArray(header.tables)) throw new TransferRefused(`${file} is no backup of this service`);
  if (header.formatVersion !== formatVersion) {
    throw new TransferRefused(`${file} has the format ${String(header.formatVersion)}, which a later version of the service reads`);
  }
  return header as Header;
}

function failureOf(file: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return new TransferRefused(`${file} is damaged: its end is missing`);
  if (code === 'Z_DATA_ERROR') return new TransferRefused(`${file} is damaged, or is no backup of this service`);
  return code === 'ENOENT' ? new TransferRefused(`there is no file ${file}`) : error;
}

/** Divides a stream of bytes at its newlines. */
class LineReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks;
  }

  /** The next line with its newline, or what is left before the end. Not more than `maximum` bytes are looked at, and some more. */
  async line(maximum: number): Promise<Buffer> {
    let end = this.#rest.indexOf(10);
    while (end === -1 && this.#rest.length <= maximum && (await this.#more())) end = this.#rest.indexOf(10);
    return this.#take(end === -1 ? this.#rest.length : end + 1);
  }

  /** The next `count` lines, in chunks of any size; fewer only at the end of the stream. */
  async *lines(count: number): AsyncGenerator<Buffer> {
    let left = count;
    while (left > 0) {
      if (this.#rest.length === 0 && !(await this.#more())) return;
      let end = -1;
      do {
        const next = this.#rest.indexOf(10, end + 1);
        if (next === -1) break;
        end = next;
        left -= 1;
      } while (left > 0);
      yield this.#take(left === 0 ? end + 1 : this.#rest.length);
    }
  }

  async ended(): Promise<boolean> {
    return this.#rest.length === 0 && !(await this.#more());
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#chunks.next();
    if (done) return false;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}
