/** The archive of the embedded database in ARCHIVE_DIR: what it has after each way to stop, and how damage is found. */
import { createHash } from 'node:crypto';
import { chown, cp, mkdir, open as openFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { create } from 'tar';
import { beforeEach, describe, expect, test } from 'vitest';
import { readBase } from '../../../src/embedded/archive/base-files.ts';
import { receiveBase } from '../../../src/embedded/archive/base-copy.ts';
import { expireHistories, readHistories } from '../../../src/embedded/archive/histories.ts';
import { writeReach } from '../../../src/embedded/archive/reach.ts';
import { ReplicationConnection } from '../../../src/embedded/archive/replication-connection.ts';
import { planRestore } from '../../../src/embedded/archive/restore-plan.ts';
import { restoreArchive } from '../../../src/embedded/archive/restore.ts';
import { verifyArchive } from '../../../src/embedded/archive/verify.ts';
import { VerifiedClient } from '../../../src/database/driver/verified-client.ts';
import { openEmbedded } from '../../../src/embedded/embedded.ts';
import { layoutOf } from '../../../src/embedded/cluster.ts';
import { readArchive } from '../../../src/embedded/archive/archive.ts';
import { ArchiveScene, never, unsafe, type Archiving } from '../../support/archive.ts';
import { connect, newDataDir } from '../../support/embedded.ts';

let scene: ArchiveScene;
let directory: string;
let dataDir: string;

beforeEach(async () => {
  scene = await ArchiveScene.create();
  ({ directory, dataDir } = scene);
});

const open = (at?: string) => scene.open(at);
const close = (opened: Archiving) => scene.close(opened);
const newest = () => scene.newest();
const untilBase = () => scene.untilBase();
const untilReach = (at: Date) => scene.untilReach(at);
const write = (opened: Archiving, from: number, to: number) => scene.write(opened, from, to);
const restored = (until: Date | undefined) => scene.restored(until);

test('every moment is restored: all that was written before it, and nothing after it', async () => {
  const opened = await open();
  await write(opened, 1, 2);
  await untilBase();
  const moment = await write(opened, 3, 4);
  await write(opened, 5, 6);
  await untilReach(new Date());
  const quiet = (await newest())?.reach?.at;
  await close(opened);
  expect(await restored(moment)).toEqual([1, 2, 3, 4]);
  expect(await restored(quiet), 'a moment after the last change').toEqual([1, 2, 3, 4, 5, 6]);
  expect(await restored(undefined)).toEqual([1, 2, 3, 4, 5, 6]);
  await expect(planRestore(directory, new Date(0))).rejects.toThrow('does not have the moment 1970-01-01T00:00:00.000Z');
  await expect(planRestore(directory, new Date(Date.now() + 60_000))).rejects.toThrow('does not have the moment');
  expect(await readdir(dataDir)).toContain('postgresql');
});

test('the log continues after a stop and over many segments, with what was written just before the stop', async () => {
  let opened = await open();
  await untilBase();
  await write(opened, 1, 1);
  await close(opened);
  opened = await open();
  const client = await connect(opened.database.url);
  // Over 32 MiB of log.
  await client.query('create table filler as select repeat(md5(n::text), 30) from generate_series(1, 40000) as n');
  await client.end();
  await write(opened, 2, 2);
  await close(opened);
  expect(await readHistories(directory)).toHaveLength(1);
  const [history] = await verifyArchive(directory, never);
  expect(history?.segments).toBeGreaterThanOrEqual(3);
  expect(await restored(undefined)).toEqual([1, 2]);
});

test('a moment between the end of a copy and its name is restored whole', async () => {
  const opened = await open();
  await untilBase();
  const connection = await ReplicationConnection.open(opened.database.archiveUrl);
  const received = await receiveBase(connection, (await newest())?.path ?? '', never);
  const moment = await write(opened, 1, 100);
  await untilReach(new Date());
  await received.commit();
  await connection.close();
  await write(opened, 101, 102);
  await untilReach(new Date(Date.now() + 1_000));
  await close(opened);
  expect((await newest())?.bases).toHaveLength(2);
  expect(await restored(moment)).toHaveLength(100);
});

test('the log continues after a stop at the end of a segment, as right after a copy', async () => {
  let opened = await open();
  await expect.poll(async () => (await newest())?.bases.length ?? 0).toBe(1);
  await close(opened);
  opened = await open();
  await untilReach(new Date());
  await close(opened);
  expect(await readHistories(directory)).toHaveLength(1);
  await verifyArchive(directory, never);
});

test('the file that says how far the log goes is replaced as a whole', async () => {
  const opened = await open();
  await untilBase();
  await using file = await openFile(join((await newest())?.path ?? '', 'reach'));
  await untilReach(new Date());
  await close(opened);
  expect((await file.readFile('utf8')).slice(0, 24) < ((await newest())?.reach?.at.toISOString() ?? '')).toBe(true);
});

test('only the owner can read the archive (rule 91)', async () => {
  const opened = await open();
  await untilBase();
  await close(opened);
  const { path = '', bases = [], segments = [] } = (await newest()) ?? {};
  for (const each of [path, join(path, 'log'), bases[0]?.path ?? '']) expect((await stat(each)).mode & 0o777).toBe(0o700);
  const files = [
    join(path, 'reach'),
    ...segments.map((segment) => segment.path),
    ...['base.tar.gz', 'backup_manifest'].map((name) => join(bases[0]?.path ?? '', name)),
  ];
  for (const file of files) expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('the role of the archive runs no statement, and the role of the service does not receive the log (rule 91)', async () => {
  const { database } = await open();
  const connection = await ReplicationConnection.open(database.archiveUrl);
  expect((await connection.identify()).timeline).toBe(1);
  await connection.close();
  const url = new URL(database.archiveUrl);
  url.pathname = '/entity_service';
  await expect(connect(url.href)).rejects.toThrow('no pg_hba.conf entry');
  await expect(ReplicationConnection.open(database.url)).rejects.toThrow('no pg_hba.conf entry');
});

test('a cluster of an earlier version gets the role at its next start', async () => {
  await (await openEmbedded(dataDir, unsafe)).stop();
  const access = join(layoutOf(dataDir).cluster, 'pg_hba.conf');
  const lines = (await readFile(access, 'utf8')).split('\n');
  await writeFile(access, lines.filter((line) => !line.includes('replication')).join('\n'));
  const opened = await open();
  await untilBase();
  expect((await readFile(access, 'utf8')).split('\n').toSorted()).toEqual(lines.toSorted());
  await close(opened);
});

describe('damage', () => {
  test('verify names the file that was changed, and a restore refuses it', async () => {
    const opened = await open();
    await untilBase();
    const client = await connect(opened.database.url);
    await client.query('create table filler as select repeat(md5(n::text), 30) from generate_series(1, 20000) as n');
    await client.end();
    await close(opened);
    const { bases = [], segments = [] } = (await newest()) ?? {};
    const whole = segments.slice(1).find(({ isWhole }) => isWhole);
    const files = ['base.tar.gz', 'backup_manifest'].map((name) => join(bases[0]?.path ?? '', name));
    expect(await verifyArchive(directory, never)).toHaveLength(1);
    for (const file of [...files, whole?.path ?? '']) {
      const bytes = await readFile(file);
      const changed = Buffer.from(bytes);
      const middle = Math.floor(bytes.length / 2);
      changed[middle] = (changed[middle] ?? 0) ^ 1;
      await writeFile(file, changed);
      await expect(verifyArchive(directory, never), file).rejects.toThrow(file);
      const target = await newDataDir();
      const plan = planRestore(directory, undefined);
      const restoring = plan.then((each) =>
        restoreArchive(target, each, { signal: never, onStep: () => undefined }, async () => undefined),
      );
      await expect(restoring, file).rejects.toThrow(file);
      expect(await readdir(target).catch(() => []), 'nothing is left of the restore').toEqual([]);
      await writeFile(file, bytes);
    }
    const [, second] = segments;
    await rm(second?.path ?? '');
    await expect(verifyArchive(directory, never)).rejects.toThrow('lacks the log in front of the segment');
  });

  test('a base whose file lies outside of the cluster is refused, and the file is not written (rule 91)', async () => {
    const opened = await open();
    await untilBase();
    await close(opened);
    const { bases = [] } = (await newest()) ?? {};
    const outside = join(directory, 'outside');
    await writeFile(outside, 'of an attacker');
    const [base = { path: '', at: new Date() }] = bases;
    const path = '../../../../outside';
    const checksum = createHash('sha256').update('of an attacker').digest('hex');
    const text = `{"Files": [{"Path": "${path}", "Size": 14, "Checksum": "${checksum}"}],\n"WAL-Ranges": [{"Timeline": 1, "Start-LSN": "0/2000028", "End-LSN": "0/2000120"}],\n`;
    await writeFile(
      join(base.path, 'backup_manifest'),
      `${text}"Manifest-Checksum": "${createHash('sha256').update(text).digest('hex')}"}\n`,
    );
    const cwd = join(directory, 'a/b/c/d');
    await mkdir(cwd, { recursive: true });
    await create({ cwd, file: join(base.path, 'base.tar.gz'), gzip: true, preservePaths: true }, [path]);
    await rm(outside);
    const written: string[] = [];
    const target = { directory: async () => undefined, file: async (name: string) => void written.push(name) };
    await expect(readBase(base, target, never)).rejects.toThrow(`${path}, which is outside of the cluster`);
    expect(written).toEqual([]);
  });

  test('a directory with a database is not restored into', async () => {
    const opened = await open();
    await untilBase();
    await close(opened);
    const plan = await planRestore(directory, undefined);
    const restoring = restoreArchive(dataDir, plan, { signal: never, onStep: () => undefined }, async () => undefined);
    await expect(restoring).rejects.toThrow('has a database already');
  });
});

describe('a new history begins', () => {
  test('for an older copy of the data directory, whose log is another one', async () => {
    let opened = await open();
    await untilBase();
    await close(opened);
    const copy = await newDataDir();
    await cp(dataDir, copy, { recursive: true });
    opened = await open();
    await write(opened, 1, 10);
    await close(opened);
    const { path: former = '' } = (await newest()) ?? {};

    opened = await open(copy);
    const client = await connect(opened.database.url);
    await client.query('create table other as select repeat(md5(n::text), 30) from generate_series(1, 40000) as n');
    await client.end();
    await write(opened, 11, 11);
    await expect.poll(async () => (await newest())?.path).not.toBe(former);
    await untilBase();
    await untilReach(new Date());
    await close(opened);
    expect(await restored(undefined)).toEqual([11]);
  });

  test('for an older copy of the data directory that was written to as little as the other', async () => {
    let opened = await open();
    await untilBase();
    await write(opened, 1, 1_000);
    await close(opened);
    const copy = await newDataDir();
    await cp(dataDir, copy, { recursive: true });
    opened = await open();
    await write(opened, 1_001, 4_000);
    await close(opened);
    const { path: former = '' } = (await newest()) ?? {};
    opened = await open(copy);
    await write(opened, 5_000, 5_000);
    await expect.poll(async () => (await newest())?.path).not.toBe(former);
    await untilBase();
    await close(opened);
    expect(await restored(undefined)).toHaveLength(1_001);
    await rm((await newest())?.path ?? '', { recursive: true });
    expect(await restored(undefined), 'the former history has all that it had').toHaveLength(4_000);
  });

  test('for a server that keeps nothing for the archive', async () => {
    let opened = await open();
    await untilBase();
    await close(opened);
    const { path: former = '' } = (await newest()) ?? {};
    const database = await openEmbedded(dataDir, unsafe);
    const client = new VerifiedClient({ connectionString: database.archiveUrl, replication: 'true' } as never);
    await client.connect();
    await client.query('DROP_REPLICATION_SLOT archive');
    await client.end();
    await database.stop();
    opened = await open();
    await expect.poll(async () => (await newest())?.path).not.toBe(former);
    await untilBase();
    await close(opened);
  });

  test('for a server that has not kept the log', async () => {
    let opened = await open();
    await untilBase();
    await close(opened);
    const { path: former = '' } = (await newest()) ?? {};
    const database = await openEmbedded(dataDir, unsafe);
    const connection = await ReplicationConnection.open(database.archiveUrl);
    const client = await connect(database.url);
    await client.query('create table filler as select repeat(md5(n::text), 30) from generate_series(1, 40000) as n');
    await connection.renewSlot('archive');
    await connection.close();
    await client.end();
    await database.stop();
    // As the server does when it needs the space.
    const log = join(layoutOf(dataDir).cluster, 'pg_wal');
    const kept = (await readdir(log)).filter((name) => /^[\dA-F]{24}$/.test(name)).toSorted();
    await rm(join(log, kept[0] ?? ''));
    await rm(join(log, kept[1] ?? ''), { force: true });
    opened = await open();
    await expect.poll(async () => (await newest())?.path).not.toBe(former);
    await untilBase();
    await close(opened);
  });
});

test('what no moment of the last days needs is deleted, and nothing else', async () => {
  const opened = await open();
  await untilBase();
  await close(opened);
  const { path = '', bases = [] } = (await newest()) ?? {};
  const later = join(path, 'base-20990101T000000Z');
  await cp(bases[0]?.path ?? '', later, { recursive: true });
  const { systemId = '' } = (await newest()) ?? {};
  const [old, young, foreign] = [`${systemId}-20200101T000000Z`, `${systemId}-20200102T000000Z`, '1-20200101T000000Z'] as const;
  for (const name of [old, young, foreign]) await mkdir(join(directory, name));
  for (const name of [old, foreign])
    await writeReach(join(directory, name), { at: new Date('2020-01-02T00:00:00Z'), lsn: 0n, checksum: 0 });
  const damaged = `${systemId}-20200101T120000Z`;
  await mkdir(join(directory, damaged));
  await writeFile(join(directory, damaged, 'reach'), '');
  const other = join(directory, 'notes');
  await mkdir(other);
  const start = async () => 0n;
  for (const name of ['base', 'reach']) await writeFile(join(path, `${name}.unfinished`), '');
  expect(await expireHistories(directory, path, new Date('2020-01-01T18:00:00Z'), start)).toEqual([]);
  expect(await expireHistories(directory, path, new Date(), start), 'the damaged one ends when the next one begins').toEqual(
    [old, damaged].map((name) => join(directory, name)),
  );
  expect(await expireHistories(directory, path, new Date('2099-02-01T00:00:00Z'), start)).toEqual([bases[0]?.path]);
  expect((await readdir(directory)).toSorted()).toEqual([basename(path), young, foreign, 'notes'].toSorted());
  expect(
    (await readdir(path)).filter((name) => name.endsWith('.unfinished')),
    'the one that is being written',
  ).toEqual(['reach.unfinished']);
  await expect(planRestore(directory, undefined)).rejects.toThrow('has the logs of several databases');
});

test('a directory that cannot be used stops the start with its reason', async () => {
  const missing = join(directory, 'missing');
  expect(await readArchive({ archiveDir: undefined, archiveDays: 7 })).toBeUndefined();
  expect(await readArchive({ archiveDir: directory, archiveDays: 7 })).toEqual({ directory, days: 7 });
  await expect(readArchive({ archiveDir: missing, archiveDays: 7 })).rejects.toThrow(`ARCHIVE_DIR: there is no directory ${missing}`);
});

test.skipIf(process.getuid?.() !== 0)('root archives into no directory of another user (rule 91)', async () => {
  await chown(directory, 65_534, 65_534);
  await expect(readArchive({ archiveDir: directory, archiveDays: 7 })).rejects.toThrow('belongs to another user');
});
