/**
 * Searches a file of breached passwords in the format of Have I Been Pwned: lines of an upper-case SHA-1 and an optional count, in
 * ascending order. The file may have any size; a search reads a few kilobytes. Each search opens the file anew, so the operator may replace
 * it (by renaming) while the service runs.
 */
import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { Problem } from '../problems/errors.ts';

const hashLength = 40;
const line = /^([0-9A-F]{40})(?::\d+)?\r?$/;
/** More than the longest line: hash, colon, a count of up to 20 digits, carriage return and line feed. */
const maxLineBytes = 80;
/** The binary search ends at this size; then the rest is read at once. */
const blockBytes = 4096;
const samples = 64;

export class BreachedPasswords {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Checks sample lines across the file. They are enough to detect a file of another kind, or one sorted by count. Returns the flaw in one
   * line; undefined if there is none.
   */
  async findFlaw(): Promise<string | undefined> {
    try {
      return await withFile(this.#path, findFlaw);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Whether the file has a password, given in its normal form. Throws `unavailable` if the file cannot be read. */
  async has(password: string): Promise<boolean> {
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
    try {
      return await withFile(this.#path, (file) => search(file, hash));
    } catch (error) {
      throw new Problem('unavailable', { cause: error, headers: { 'Retry-After': '60' }, values: { seconds: 60 } });
    }
  }
}

interface SizedFile {
  handle: FileHandle;
  size: number;
}

async function withFile<T>(path: string, work: (file: SizedFile) => Promise<T>): Promise<T> {
  await using handle = await open(path);
  const { size } = await handle.stat();
  return await work({ handle, size });
}

async function search(file: SizedFile, hash: string): Promise<boolean> {
  let low = 0;
  let high = file.size;
  // The searched line, if present, begins at or after low and before high.
  while (high - low > blockBytes) {
    const middle = low + Math.floor((high - low) / 2);
    const next = await lineAfter(file, middle);
    if (next.start >= high || next.text.slice(0, hashLength) > hash) high = middle + 1;
    else low = next.start;
  }
  return (await read(file, low, high - low + hashLength)).split('\n').some((text) => text.startsWith(hash));
}

async function findFlaw(file: SizedFile): Promise<string | undefined> {
  let previous = '';
  for (let sample = 0; sample < samples; sample += 1) {
    const offset = Math.floor((file.size / samples) * sample);
    const { start, text } = sample === 0 ? { start: 0, text: firstLine(await read(file, 0, maxLineBytes)) } : await lineAfter(file, offset);
    if (sample > 0 && start >= file.size) break;
    const hash = line.exec(text)?.[1];
    if (hash === undefined) return 'not a list of breached passwords (lines of upper-case SHA-1, or SHA-1:count)';
    if (hash < previous) return 'the hashes are not in ascending order';
    previous = hash;
  }
  return undefined;
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? '';

/** The first line that begins after an offset; empty text at the end of the file if there is none. */
async function lineAfter(file: SizedFile, offset: number): Promise<{ start: number; text: string }> {
  const text = await read(file, offset, 2 * maxLineBytes);
  const end = text.indexOf('\n');
  return end < 0 ? { start: file.size, text: '' } : { start: offset + end + 1, text: firstLine(text.slice(end + 1)) };
}

async function read({ handle, size }: SizedFile, position: number, length: number): Promise<string> {
  const buffer = Buffer.alloc(Math.min(length, size - position));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
  if (bytesRead < buffer.length) throw new Error('the file became shorter while it was read');
  return buffer.toString('latin1');
}
