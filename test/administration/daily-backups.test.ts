/** The backup that the service writes each day into BACKUP_DIR. */
import { chown, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { runChecks } from '../../src/cli/doctor.ts';
import { verifyBackup } from '../../src/database/transfer/backup-file.ts';
import { inLongTransaction } from '../../src/database/transfer/snapshot.ts';
import { DailyBackups } from '../../src/administration/daily-backups.ts';
import { seed } from '../support/entities.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { TestService, useService } from '../support/service.ts';

const service = useService();
const never = new AbortController().signal;
const today = new Date('2026-11-22T10:00:00Z');
let directory: string;
let now: Date;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'entity-service-daily-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  now = today;
});

const open = (keep = 7) => {
  const { context, databaseUrl: directUrl } = service();
  return new DailyBackups({ store: context.store, directUrl }, { directory, keep, version: '0.1.0' }, () => now);
};
const fileOf = (day: string) => `entity-service-${day}.backup`;
const nextDay = () => (now = new Date(now.getTime() + 86_400_000));

test('a day has one whole file, which only its owner can read (rule 85)', async () => {
  const { id } = await service().createUser('ada');
  await seed(service(), 'note', '1', { text: 'kept' }, id);
  const backups = open();
  const written = await backups.run(never);
  expect(written?.file).toBe(join(directory, fileOf('2026-11-22')));
  const { tables } = await verifyBackup(written?.file ?? '');
  expect(tables.find(({ name }) => name === 'entity')?.rows).toBeGreaterThan(0);
  expect(tables.map(({ name }) => name)).not.toContain('session');
  expect(written).toMatchObject({ bytes: expect.any(Number), rows: tables.reduce((sum, { rows }) => sum + rows, 0), deleted: [] });
  expect((await stat(written?.file ?? '')).mode & 0o777).toBe(0o600);
  expect(await backups.run(never)).toBeUndefined();
  nextDay();
  expect((await backups.run(never))?.file).toBe(join(directory, fileOf('2026-11-23')));
  const events = await service().db.selectFrom('audit_event').select('detail').where('event', '=', 'database.backed_up').execute();
  expect(events).toHaveLength(2);
  expect(events[0]?.detail).toMatchObject({ by: 'service', via: 'schedule', actor: 'entity-service', file: written?.file });
});

test('the newest files are kept, and what has other names', async () => {
  const others = ['monday.backup', 'entity-service-2020-01-01.backup.old', fileOf('2020-01-01').replace('2020', 'year')];
  for (const name of others) await writeFile(join(directory, name), 'another');
  const partial = `${fileOf('2026-11-21')}.0123456789ab.partial`;
  await writeFile(join(directory, partial), 'left by a process that was killed');
  const backups = open(2);
  expect(await backups.run(never)).toMatchObject({ deleted: [] });
  nextDay();
  expect(await backups.run(never)).toMatchObject({ deleted: [] });
  nextDay();
  expect(await backups.run(never)).toMatchObject({ deleted: [fileOf('2026-11-22')] });
  expect((await readdir(directory)).toSorted()).toEqual([...others, fileOf('2026-11-23'), fileOf('2026-11-24')].toSorted());
});

test('the file of another database is not taken for the own one', async () => {
  now = new Date('2026-12-01T10:00:00Z'); // No other test has written files of these days.
  const other = await TestService.start();
  onTestFinished(() => other.close());
  const { context, databaseUrl: directUrl } = other;
  const backups = new DailyBackups({ store: context.store, directUrl }, { directory, keep: 7, version: '0.1.0' }, () => now);
  expect(await open().run(never)).toBeDefined();
  await expect(backups.run(never)).rejects.toThrow('is a backup of another database');
  expect(await open().run(never)).toBeUndefined();
  nextDay();
  expect(await backups.run(never)).toBeDefined();
  await expect(open().run(never)).rejects.toThrow('is a backup of another database');
});

test('of several processes one writes', async () => {
  const results = await Promise.all([open(), open(), open()].map((backups) => backups.run(never)));
  expect(results.filter((written) => written !== undefined)).toHaveLength(1);
  expect(await readdir(directory)).toEqual([fileOf('2026-11-22')]);
});

test('a backup that cannot be written leaves no file, and the next one is written', async () => {
  const backups = open();
  const moved = `${directory}.moved`;
  await rename(directory, moved);
  await expect(backups.run(never)).rejects.toThrow('ENOENT');
  await rename(moved, directory);
  const cancelled = new AbortController();
  const locked = inLongTransaction(service().databaseUrl, 'begin', never, async (client) => {
    // The backup waits for this table, and is cancelled meanwhile.
    await client.query('lock table entity in access exclusive mode');
    const refused = expect(backups.run(cancelled.signal)).rejects.toThrow('cancelled');
    const waiting = `select from pg_locks where relation = 'entity'::regclass and not granted and database = (select oid from pg_database where datname = current_database())`;
    await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1);
    cancelled.abort();
    await refused;
  });
  await locked;
  expect(await readdir(directory)).toEqual([]);
  // Until the server has noticed that the connection of the cancelled one has ended.
  await expect.poll(() => backups.run(never)).toBeDefined();
});

test('a service with BACKUP_DIR writes at its start, and a metric tells when', async () => {
  const own = await TestService.start({ BACKUP_DIR: directory, METRICS_TOKEN: metricsToken });
  onTestFinished(() => own.stop());
  await expect.poll(() => readdir(directory)).toEqual([expect.stringMatching(/^entity-service-[-\d]{10}\.backup$/)]);
  const seconds = async () => (await scrape(own.url)).value('entity_service_last_backup_timestamp_seconds');
  await expect.poll(async () => Math.abs((await seconds()) * 1_000 - Date.now())).toBeLessThan(60_000);
});

test('a backup under way is cancelled when the service stops, and leaves no file (rule 92)', async () => {
  const own = await TestService.start({ LOG_LEVEL: 'silent' });
  await inLongTransaction(own.databaseUrl, 'begin', never, async (client) => {
    await client.query('lock table entity in access exclusive mode');
    const waiting = `select from pg_locks where relation = 'entity'::regclass and not granted and database = (select oid from pg_database where datname = current_database())`;
    const under = await own.replica({ BACKUP_DIR: directory });
    await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1);
    await under.stop();
  });
  expect(await readdir(directory)).toEqual([]);
  await own.close();
});

test('a service does not start with a BACKUP_DIR that is missing or a file', async () => {
  await expect(TestService.start({ BACKUP_DIR: join(directory, 'absent') })).rejects.toThrow('BACKUP_DIR: there is no directory');
  await writeFile(join(directory, 'file'), '');
  await expect(TestService.start({ BACKUP_DIR: join(directory, 'file') })).rejects.toThrow('BACKUP_DIR: there is no directory');
});

test.runIf(process.getuid?.() === 0)(
  'under root a service does not start with a BACKUP_DIR that another user may replace (rule 91)',
  async () => {
    await chown(directory, 65_534, 65_534);
    await expect(TestService.start({ BACKUP_DIR: directory })).rejects.toThrow(/^BACKUP_DIR: .* belongs to another user/);
  },
);

test('doctor tells of a missing and of a late backup, and of a directory that is not there', async () => {
  const find = async (BACKUP_DIR = directory) => {
    const { databaseUrl: DATABASE_URL } = service();
    const checks = await runChecks(() => ({ DATABASE_URL, BACKUP_DIR }));
    return checks.find(({ name }) => name === 'daily backups');
  };
  expect(await find()).toMatchObject({ status: 'warn', message: expect.stringContaining(`no backup in ${directory}`) });
  const written = await open().run(never);
  expect(await find()).toMatchObject({ status: 'ok' });
  const late = new Date(Date.now() - 49 * 3_600_000);
  await utimes(written?.file ?? '', late, late);
  expect(await find()).toMatchObject({ status: 'fail', message: expect.stringContaining('"event":"backup"') });
  const absent = join(directory, 'absent');
  const message = `BACKUP_DIR: there is no directory ${absent}: create it for the user of the service`;
  expect(await find(absent)).toMatchObject({ status: 'fail', message });
});
