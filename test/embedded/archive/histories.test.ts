import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { expireHistories } from '../../../src/embedded/archive/histories.ts';
import { writeReach } from '../../../src/embedded/archive/reach.ts';
import { segmentBytes, segmentName } from '../../../src/embedded/archive/segments.ts';

const size = BigInt(segmentBytes);

test.each([
  ['at the beginning of a segment', 2n * size, [2n, 3n]],
  ['in the middle of a segment', 2n * size + size / 2n, [2n, 3n]],
  ['at the last byte of a segment', 3n * size - 1n, [2n, 3n]],
])('the archive has the segment in which its oldest copy begins, and no earlier one: %s', async (_where, start, left) => {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-histories-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, '7-20200101T000000Z');
  const log = join(path, 'log');
  await mkdir(log, { recursive: true });
  for (const time of ['20200101T000001Z', '20200102T000000Z']) await mkdir(join(path, `base-${time}`));
  await writeReach(path, { at: new Date(), lsn: 4n * size, checksum: 0 });
  const fileOf = (segment: bigint) => `${segmentName(1, segment * size)}.gz`;
  for (const segment of [0n, 1n, 2n, 3n]) await writeFile(join(log, fileOf(segment)), '');
  const deleted = await expireHistories(directory, path, new Date('2020-01-03T00:00:00Z'), async () => start);
  expect((await readdir(log)).toSorted()).toEqual(left.map(fileOf));
  expect(deleted).toEqual([join(path, 'base-20200101T000001Z'), ...[0n, 1n].map((segment) => join(log, fileOf(segment)))]);
});
