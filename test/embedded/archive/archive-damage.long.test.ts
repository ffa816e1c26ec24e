/** Damage of an archive that PostgreSQL takes for the end of the log, or that hides how far the log goes. */
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, gunzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { receiveBase } from '../../../src/embedded/archive/base-copy.ts';
import { readHistories, type LogHistory, type LogSegment } from '../../../src/embedded/archive/histories.ts';
import { LogFiles } from '../../../src/embedded/archive/log-files.ts';
import { writeReach, type Reach } from '../../../src/embedded/archive/reach.ts';
import { planRestore } from '../../../src/embedded/archive/restore-plan.ts';
import { ReplicationConnection } from '../../../src/embedded/archive/replication-connection.ts';
import { restoreArchive } from '../../../src/embedded/archive/restore.ts';
import { parseLsn, segmentBytes } from '../../../src/embedded/archive/segments.ts';
import { verifyArchive } from '../../../src/embedded/archive/verify.ts';
import { ArchiveScene, never, type Archiving } from '../../support/archive.ts';
import { connect, newDataDir } from '../../support/embedded.ts';

let scene: ArchiveScene;
beforeEach(async () => {
  scene = await ArchiveScene.create();
});

interface Closed {
  history: LogHistory;
  reach: Reach;
  /** The segment in which the log ends. */
  last: LogSegment;
}

/** The archive of a database with these writes after its copy. */
async function archived(work: (opened: Archiving) => Promise<unknown>): Promise<Closed> {
  const opened = await scene.open();
  await scene.untilBase();
  await work(opened);
  await scene.untilReach(new Date());
  await scene.close(opened);
  const history = await scene.newest();
  const last = history?.segments.at(-1);
  if (!history?.reach || !last) throw new TypeError('nothing was archived');
  return { history, reach: history.reach, last };
}

async function flip(file: string, at: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

/** Writes two thousand numbers, and more later. Returns the moment in between. */
async function writeTwice(opened: Archiving): Promise<Date> {
  const moment = await scene.write(opened, 1, 2_000);
  await scene.write(opened, 2_001, 2_002);
  return moment;
}

async function query({ database }: Archiving, statement: string): Promise<void> {
  const client = await connect(database.url);
  await client.query(statement);
  await client.end();
}

/** Writes over 32 MiB of log in one transaction. */
const fill = (opened: Archiving) =>
  query(opened, 'create table filler as select repeat(md5(n::text), 30) from generate_series(1, 40000) as n');

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('each flipped byte of the last segment up to the end of its log is found by verify', async () => {
  const { last, reach } = await archived((opened) => scene.write(opened, 1, 10));
  const whole = await readFile(last.path);
  const end = Number(reach.lsn - last.start);
  await verifyArchive(scene.directory, never);
  for (const at of [0, 20, 8_192, Math.floor(end / 2), end - 1]) {
    await flip(last.path, at);
    await expect(verifyArchive(scene.directory, never), `byte ${at}`).rejects.toThrow(`${last.path} is damaged`);
    await writeFile(last.path, whole);
  }
  await truncate(last.path, end - 1);
  await expect(verifyArchive(scene.directory, never)).rejects.toThrow(`${last.path} is damaged`);
  await rm(last.path);
  await expect(verifyArchive(scene.directory, never)).rejects.toThrow('lacks the end of the log');
  await expect(scene.restored(undefined)).rejects.toThrow('a part of it is damaged');
});

test('a moment before the damage is restored as ever, one after it is refused, and the last one before it with a warning', async () => {
  let moment = new Date();
  const { last, reach } = await archived(async (opened) => {
    moment = await writeTwice(opened);
    await query(opened, 'create table lost as select 1 as number');
  });
  // The commit of the last transaction.
  await flip(last.path, Number(reach.lsn - last.start) - 20);
  expect(await scene.restored(moment)).toEqual(numbers(2_000));
  const refusal = await scene.restored(new Date(reach.at)).catch((error: Error) => error.message);
  const [, until = ''] = /"--until (\S+)" restores the last moment that was replayed/.exec(String(refusal)) ?? [];
  const lines: string[] = [];
  expect(await scene.restored(new Date(until), (line) => lines.push(line))).toEqual(numbers(2_002));
  expect(lines.at(-1)).toMatch(/^warning: the replay of \S+ ended at \S+, and its log goes to \S+$/);
  await expect(scene.restored(new Date(Date.parse(until) + 1))).rejects.toThrow('a part of it is damaged');
});

test('a compressed segment that cannot be unpacked ends the replay: a moment before it is restored, and the refusal of a later one names it', async () => {
  let [first, moment] = [new Date(), new Date()];
  const { history } = await archived(async (opened) => {
    first = await writeTwice(opened);
    await fill(opened);
    moment = await scene.write(opened, 3_000, 3_000);
    await scene.write(opened, 3_001, 3_001);
  });
  const [ofBase, , damaged] = history.segments;
  if (!ofBase?.isWhole || !damaged?.isWhole) throw new TypeError('the log is too short');
  const bytes = await readFile(damaged.path);
  await flip(damaged.path, Math.floor(bytes.length / 2));
  const lines: string[] = [];
  expect(await scene.restored(first, (line) => lines.push(line))).toEqual(numbers(2_000));
  expect(lines).toContainEqual(expect.stringMatching(`^warning: ${damaged.path} is damaged: .*\\. The log is replayed up to this file$`));
  const lasts = new Set<string>();
  for (const until of [moment, undefined]) {
    const refusal = String(await scene.restored(until).catch((error: Error) => error.message));
    expect(refusal).toContain(`: ${damaged.path} is damaged: `);
    lasts.add(/"--until (\S+)" restores the last moment that was replayed/.exec(refusal)?.[1] ?? '');
  }
  const [last = '', ...others] = lasts;
  expect(others).toEqual([]);
  expect(await scene.restored(new Date(last))).toEqual(numbers(2_002));

  await writeFile(damaged.path, bytes);
  // Its first byte: of a later one zlib may unpack the rest, of which PostgreSQL replays the records that are whole.
  await flip(ofBase.path, 0);
  await expect(scene.restored(first)).rejects.toThrow(
    new RegExp(`^${ofBase.path} is damaged: .*\\. Without it no moment is restored from ${history.bases[0]?.path}: `),
  );
});

test('a replay that ends too early is refused, also if the checksums fit', async () => {
  const { history, last, reach } = await archived((opened) => scene.write(opened, 1, 2_000));
  const end = Number(reach.lsn - last.start);
  await flip(last.path, Math.floor(end / 2));
  const bytes = (await readFile(last.path)).subarray(0, end);
  await writeReach(history.path, { ...reach, checksum: crc32(bytes) });
  await verifyArchive(scene.directory, never);
  await expect(scene.restored(undefined)).rejects.toThrow('a part of it is damaged');
});

test('a log that ends within a record is whole: the record was not committed', async () => {
  let record = 0n;
  const { history, last, reach } = await archived(async (opened) => {
    await scene.write(opened, 1, 10);
    const client = await connect(opened.database.url);
    const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn');
    record = parseLsn(rows[0]?.lsn ?? '');
    await client.query("select pg_logical_emit_message(false, 'test', repeat('x', 100000))");
    await client.end();
  });
  const bytes = await readFile(last.path);
  // The server writes whole pages of a record that is not complete.
  for (const page of [1, 5]) {
    const end = Math.ceil(Number(record - last.start) / 8_192 + page) * 8_192;
    await writeFile(last.path, bytes.subarray(0, end));
    await writeReach(history.path, { ...reach, lsn: last.start + BigInt(end), checksum: crc32(bytes.subarray(0, end)) });
    await verifyArchive(scene.directory, never);
    expect(await scene.restored(undefined)).toEqual(numbers(10));
  }
});

test('a log that ends with its segment, as after a copy, is whole', async () => {
  const { history, reach } = await archived(async (opened) => {
    await scene.write(opened, 1, 10);
    const connection = await ReplicationConnection.open(opened.database.archiveUrl);
    await receiveBase(connection, (await scene.newest())?.path ?? '', never);
    await connection.close();
  });
  const whole = history.segments.findLast(({ isWhole }) => isWhole);
  // What the server has written since, as it does every 15 seconds.
  for (const { path, isWhole } of history.segments) if (!isWhole) await rm(path);
  await writeReach(history.path, { ...reach, lsn: (whole?.start ?? 0n) + BigInt(segmentBytes), checksum: 0 });
  await verifyArchive(scene.directory, never);
  expect(await scene.restored(undefined)).toEqual(numbers(10));
});

test('the log of a database that was restored is compared too', async () => {
  await archived((opened) => scene.write(opened, 1, 10));
  const dataDir = await newDataDir();
  await restoreArchive(
    dataDir,
    await planRestore(scene.directory, undefined),
    { signal: never, onStep: () => undefined },
    async () => undefined,
  );
  const opened = await scene.open(dataDir);
  await expect.poll(async () => (await readHistories(scene.directory)).length).toBe(2);
  await scene.untilBase();
  await scene.write(opened, 11, 20);
  await scene.untilReach(new Date());
  await scene.close(opened);
  expect(await scene.restored(undefined)).toEqual(numbers(20));
  const { segments = [], reach } = (await scene.newest()) ?? {};
  const last = segments.at(-1);
  await flip(last?.path ?? '', Number((reach?.lsn ?? 0n) - (last?.start ?? 0n)) - 20);
  await expect(scene.restored(undefined)).rejects.toThrow('a part of it is damaged');
});

test('a whole segment that was not compressed yet has a checksum, without which the service begins a new history', async () => {
  const { history, last } = await archived(async (opened) => {
    await fill(opened);
    await scene.write(opened, 1, 10);
  });
  const before = history.segments.at(-2);
  expect([before?.isWhole, last.isWhole]).toEqual([true, false]);
  // As a process leaves it that is killed while it compresses.
  const partial = (before?.path ?? '').replace(/gz$/, 'partial');
  const content = gunzipSync(await readFile(before?.path ?? ''));
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  await rm(before?.path ?? '');
  for (const damaged of [content, content.subarray(0, segmentBytes - 8_192), Buffer.concat([content, Buffer.alloc(4)])]) {
    await writeFile(partial, damaged);
    await expect(verifyArchive(scene.directory, never)).rejects.toThrow(`${partial} is damaged`);
  }
  await writeFile(partial, Buffer.concat([content, checksum]));
  await verifyArchive(scene.directory, never);
  let opened = await scene.open();
  await scene.untilReach(new Date());
  await scene.close(opened);
  expect(await readdir(join(history.path, 'log'))).toContain(`${before?.name}.gz`);
  expect(await readHistories(scene.directory)).toHaveLength(1);

  await rm(before?.path ?? '');
  await writeFile(partial, Buffer.concat([content, checksum]));
  await flip(partial, 5_000_000);
  opened = await scene.open();
  await expect.poll(async () => (await scene.newest())?.path).not.toBe(history.path);
  await scene.untilBase();
  await scene.close(opened);
  expect(opened.lines[0]).toMatchObject({ err: { message: expect.stringContaining(`${partial} is damaged`) } });
  expect(await scene.restored(undefined)).toEqual(numbers(10));
  await expect(verifyArchive(scene.directory, never)).rejects.toThrow(`${partial} is damaged`);
});

test('a power loss at the end of a segment leaves zeros before its checksum: the log up to `reach` is whole, and continues', async () => {
  let moment = new Date();
  const { history, reach } = await archived(async (opened) => {
    moment = await writeTwice(opened);
    await fill(opened);
  });
  // The copy has ended the one before.
  const [, segment] = history.segments;
  if (!segment?.isWhole) throw new TypeError('the log is too short');
  const content = gunzipSync(await readFile(segment.path));
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  for (const { path, start } of history.segments) if (start >= segment.start) await rm(path);
  const torn = Buffer.concat([content, checksum]).fill(0, 12 * 1024 ** 2, 12 * 1024 ** 2 + 4_096);
  await writeFile(segment.path.replace(/gz$/, 'partial'), torn);
  const durable = 4 * 1024 ** 2;
  await writeReach(history.path, { ...reach, lsn: segment.start + BigInt(durable), checksum: crc32(content.subarray(0, durable)) });

  await verifyArchive(scene.directory, never);
  expect(await scene.restored(moment)).toEqual(numbers(2_000));
  expect(await scene.restored(undefined)).toEqual(numbers(2_002));
  const { segments = [] } = (await scene.newest()) ?? {};
  const files = new LogFiles(history.path, { timeline: segment.timeline, from: segment.start, found: segments });
  await files.prepare();
  for (let at = 0; at < segmentBytes; at += 1024 ** 2) await files.write(segment.start + BigInt(at), content.subarray(at, at + 1024 ** 2));
  await files.close();
  expect(gunzipSync(await readFile(segment.path)).equals(content)).toBe(true);
});

test('without the file that says how far the log goes, a moment is restored that the log itself shows, and the service writes the file anew', async () => {
  let moment = new Date();
  const { history } = await archived(async (opened) => {
    moment = await writeTwice(opened);
  });
  const file = join(history.path, 'reach');
  await flip(file, 12);
  await expect(planRestore(scene.directory, undefined)).rejects.toThrow(`${file} is damaged: the last moment of its history is not known`);
  expect(await scene.restored(moment)).toEqual(numbers(2_000));
  await expect(scene.restored(new Date())).rejects.toThrow(/to a position that is not known: \S+ is damaged\. "--until .*" restores/);
  const opened = await scene.open();
  await scene.untilReach(new Date());
  await scene.close(opened);
  expect(opened.lines[0]).toMatchObject({ outcome: 'failed', err: { message: `${file} is damaged` } });
  await verifyArchive(scene.directory, never);
  expect(await scene.restored(undefined)).toEqual(numbers(2_002));
});
