/**
 * Reads the files of segments. A `.gz` file has the CRC-32 of gzip. A `.partial` file has the bytes that were received so far. Once these are all, their CRC-32
 * follows them, until the file is compressed.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip, crc32 } from 'node:zlib';
import { TransferRefused } from '../../database/transfer/load.ts';
import type { LogSegment } from './histories.ts';
import { segmentBytes } from './segments.ts';

const checksumBytes = 4;

/** The bytes that follow those of a segment that was received whole. */
export function checksumOf(checksum: number): Buffer {
  const bytes = Buffer.alloc(checksumBytes);
  bytes.writeUInt32BE(checksum);
  return bytes;
}

/**
 * The bytes of a segment. `isComplete`: it was received whole and is durable, so fewer bytes and another checksum are damage. Throws {@link TransferRefused} if the file is
 * damaged.
 */
export async function* readSegment(segment: LogSegment, isComplete = segment.isWhole): AsyncGenerator<Buffer> {
  const { path, isWhole } = segment;
  let bytes = 0;
  try {
    for await (const chunk of isWhole ? unzipped(path) : received(path, isComplete)) {
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The service that archives has compressed it in the meantime.
    if (code === 'ENOENT' && !isWhole) return yield* readSegment({ ...segment, path: path.replace(/partial$/, 'gz'), isWhole: true });
    if (code?.startsWith('E')) throw error;
    throw new TransferRefused(`${path} is damaged: ${(error as Error).message}`);
  }
  if (isComplete && bytes !== segmentBytes)
    throw new TransferRefused(`${path} is damaged: it has ${bytes} bytes instead of ${segmentBytes}`);
}

async function* unzipped(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path);
  const content = createGunzip();
  // `pipe` does not pass on the error of its source.
  file.on('error', (error) => content.destroy(error));
  yield* file.pipe(content) as AsyncIterable<Buffer>;
}

async function* received(path: string, isComplete: boolean): AsyncGenerator<Buffer> {
  await using file = await open(path);
  let [bytes, checksum] = [0, 0];
  for await (const chunk of file.createReadStream({ end: segmentBytes - 1, autoClose: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  // Without `isComplete` nothing shows that all is durable: a crash of the machine may leave the checksum, and zeros in pages before it.
  if (!isComplete || bytes < segmentBytes) return;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(checksumBytes), 0, checksumBytes, segmentBytes);
  if (bytesRead < checksumBytes || buffer.readUInt32BE() !== checksum) throw new Error('its checksum differs');
}

/** As PostgreSQL has the segment: filled up with zeros. `isComplete` is that of {@link readSegment}. */
export async function* readFilledSegment(segment: LogSegment, isComplete?: boolean): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of readSegment(segment, isComplete)) {
    bytes += chunk.length;
    yield chunk;
  }
  yield Buffer.alloc(segmentBytes - bytes);
}

/** Throws {@link TransferRefused} if the file is damaged. */
export async function readWholeSegment(segment: LogSegment, isComplete?: boolean): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readSegment(segment, isComplete)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
