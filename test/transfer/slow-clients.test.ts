/** Clients that stop, or that send or read a little at a time. */
import { getEventListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readCsv } from '../../src/transfer/csv-reader.ts';
import { readNdjson } from '../../src/transfer/ndjson-reader.ts';
import type { ImportRow, ImportRows } from '../../src/transfer/import-row.ts';
import { Admission } from '../../src/admission/admission.ts';
import { streamOf } from '../../src/transfer/streams.ts';
import { readUpload } from '../../src/transfer/upload.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** How many of `sizes` the server reads, if the client sends one each `ms` milliseconds, and then nothing; and how the upload ends. */
async function read(sizes: number[], ms: number, isPlaceWanted = () => false) {
  const body = new PassThrough({ highWaterMark: 2 ** 26 });
  const chunks = readUpload(body as unknown as IncomingMessage, 2 ** 26, new AbortController().signal, isPlaceWanted);
  let count = 0;
  try {
    for (;;) {
      const next = chunks.next();
      next.catch(() => undefined);
      await vi.advanceTimersByTimeAsync(ms);
      const size = sizes[count];
      if (size !== undefined) body.write(Buffer.alloc(size));
      else await vi.advanceTimersByTimeAsync(60_000);
      await next;
      count += 1;
    }
  } catch (error) {
    return [count, (error as { code: string }).code];
  }
}

test('an upload ends when the client sends nothing for a minute, or less than 16 KiB (rule 80)', async () => {
  expect(await read([1, 1], 1_000)).toEqual([2, 'request-timeout']);
  expect(
    await read(
      Array.from({ length: 10 }, () => 1),
      25_000,
    ),
  ).toEqual([2, 'request-timeout']);
  expect(
    await read(
      Array.from({ length: 10 }, () => 16_384),
      50_000,
    ),
  ).toEqual([10, 'request-timeout']);
});

test('an upload whose place another user wants ends when the client sends less than 1 MiB a minute (rule 80)', async () => {
  const places = new Admission().queueOf('imports');
  const parts = (bytes: number) => Array.from({ length: 20 }, () => bytes);
  const leave = await places.enter('ada');
  await places.enter('bob');
  await expect(places.enter('ada')).rejects.toThrow('rate-limited');
  expect(await read(parts(16_384), 50_000, () => places.isWanted)).toEqual([20, 'request-timeout']);
  await expect(places.enter('eve')).rejects.toThrow('busy');
  expect(await read(parts(16_384), 50_000, () => places.isWanted)).toEqual([1, 'request-timeout']);
  expect(await read(parts(2 ** 20), 50_000, () => places.isWanted)).toEqual([20, 'request-timeout']);
  leave();
  expect(await read(parts(16_384), 50_000, () => places.isWanted)).toEqual([20, 'request-timeout']);
});

// A reader that copies the line for each byte would need minutes, and one that keeps an object for each byte hundreds of megabytes.
test('a line of 1 MB that arrives byte by byte costs a reader time and memory in proportion to its length (rule 80)', async () => {
  const text = 'x'.repeat(1_000_000);
  const read = async ({ batches }: ImportRows) => {
    const found: ImportRow[] = [];
    for await (const rows of batches) found.push(...rows);
    return found;
  };
  const limitBytes = 2 ** 21;
  expect(
    await read(
      readCsv(byteByByte(`text\n${text}\n`), { delimiter: 'comma', type: undefined, targets: new Map(), limitBytes, isSafe: false }),
    ),
  ).toMatchObject([{ row: 2, fields: { text }, text: JSON.stringify({ text }) }]);
  expect(await read(readNdjson(byteByByte(`${JSON.stringify({ text })}\n`), limitBytes))).toEqual([
    { row: 1, fields: { text }, text: JSON.stringify({ text }) },
  ]);
});

async function* byteByByte(text: string) {
  const bytes = Buffer.from(text);
  for (let index = 0; index < bytes.length; index++) yield await Promise.resolve(bytes.subarray(index, index + 1));
}

test('an answer ends when the client does not read for a minute (rule 80)', async () => {
  async function* texts() {
    for (;;) yield await Promise.resolve('x'.repeat(10_000));
  }
  const onStall = vi.fn<() => void>();
  const stream = streamOf(texts(), onStall);
  const reading = stream[Symbol.asyncIterator]();
  for (let n = 0; n < 3; n++) {
    await reading.next();
    await vi.advanceTimersByTimeAsync(59_000);
  }
  expect(onStall).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(61_000);
  expect(onStall).toHaveBeenCalledOnce();
  stream.destroy();
});

test('an upload leaves no listener on the signal of a stop, however many chunks it has', async () => {
  const body = new PassThrough();
  const { signal } = new AbortController();
  const chunks = readUpload(body as unknown as IncomingMessage, 2 ** 26, signal, () => false);
  for (let n = 0; n < 20; n++) {
    body.write(Buffer.alloc(10));
    expect((await chunks.next()).value).toHaveLength(10);
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const waiting = chunks.next();
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  body.end();
  expect((await waiting).done).toBe(true);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
