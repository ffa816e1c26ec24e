/** Versions that run beside each other on one database (decision 164). */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../src/config/settings.ts';
import { readVersion } from '../../src/config/version.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { isOlder, knownMigrations } from '../../src/database/migration-files.ts';
import { Background } from '../../src/background/background.ts';
import { schedulePeriodicWork } from '../../src/background/periodic-work.ts';
import { announceProcess, deleteEndedProcesses, listProcesses } from '../../src/database/processes.ts';
import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { AdminCommand } from '../support/admin.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { TestService, useService } from '../support/service.ts';
import { execute } from '../support/sql.ts';

let url = '';

/** A client of a database of this version. */
async function connect(): Promise<Client> {
  url = await createDatabaseUntilDone();
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The directory of the migrations of a later version: those of this one, and these. */
async function laterMigrations(files: Record<string, string>): Promise<URL> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-migrations-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await cp(new URL('../../src/database/migrations', import.meta.url), directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, `${name}.sql`), text);
  return pathToFileURL(`${directory}/`);
}

const expansion = { '9001-later': `-- runs beside: 0.1.0\nalter table role add column later text;` };
const contraction = { '9002-without': `-- runs beside: 0.2.0\nalter table role rename column description to text;` };

describe('a schema of a later version', () => {
  test('is accepted, if it says that this version may run beside it: at the start, by commands, and by doctor', async () => {
    await connect();
    expect(await migrateDatabase(url, { from: await laterMigrations(expansion) })).toEqual(['9001-later']);
    const prepared = await prepareDatabase(readConfig({ DATABASE_URL: url, ADMIN_PASSWORD: 'four loud lanterns drift south' }));
    await prepared.close();
    const admin = new AdminCommand(url);
    expect(await admin.say(['migrate', '--check'])).toBe('The database has every migration.\n');
    expect(await admin.say(['user', 'list'])).toContain('admin');
    const { stdout } = await admin.run(['doctor', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      checks: expect.arrayContaining([
        { name: 'migrations', status: 'ok', message: expect.stringContaining('a later version has added 9001-later') },
      ]),
    });
  });

  test('is refused without a word about this version, and by a version that is older than it says', async () => {
    const client = await connect();
    await migrateDatabase(url, { from: await laterMigrations({ ...expansion, ...contraction }) });
    const refused = 'the database has migrations of a later version (9001-later, 9002-without): use that version, or a later one';
    expect(await new AdminCommand(url).refusal(['user', 'list'])).toBe(refused);
    await expect(prepareDatabase(readConfig({ DATABASE_URL: url }))).rejects.toThrow(refused);
    const service = await TestService.start({}, { url, drop: async () => undefined });
    onTestFinished(() => service.close());
    expect((await service.call('GET', '/health/ready')).status).toBe(503);
    expect((await service.call('GET', '/health/live')).status).toBe(200);
    await client.query(`delete from migration_note where name = '9001-later'; update migration_note set runs_beside = '0.1.0'`);
    expect(await new AdminCommand(url).refusal(['user', 'list'])).toBe(refused);
  });

  test('versions are compared by their numbers', () => {
    expect([isOlder('0.9.0', '0.10.0'), isOlder('0.10.0', '0.9.0'), isOlder('1.0.0', '1.0.0'), isOlder('0.99.9', '1.0.0')]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe('a migration', () => {
  test('that an older process cannot live with is refused with the names of the processes, waits for them, or is forced', async () => {
    const client = await connect();
    const from = await laterMigrations(contraction);
    await client.query(
      `insert into process (id, version, host, pid, seen_at) values
        (gen_random_uuid(), '0.1.0', 'replica-1', 71, now()), (gen_random_uuid(), '0.2.0', 'replica-2', 72, now()),
        (gen_random_uuid(), '0.1.0', 'replica-3', 73, now() - interval '61 seconds')`,
    );
    const lines: string[] = [];
    await expect(migrateDatabase(url, { from, olderProcessesMs: 0 })).rejects.toThrow(
      /^9002-without changes what versions before 0\.2\.0 need, and these still run: replica-1 process 71 \(version 0\.1\.0\)\. Stop them/,
    );
    const { rows } = await client.query(`select from kysely_migration where name = '9002-without'`);
    expect(rows).toEqual([]);
    const applied = migrateDatabase(url, {
      from,
      onWait: (line) => {
        lines.push(line);
        void client.query(`delete from process where pid = 71`);
      },
    });
    expect(await applied).toEqual(['9002-without']);
    expect(lines).toEqual(['9002-without waits until these have stopped: replica-1 process 71 (version 0.1.0)']);
  });

  test('that is forced does not wait for processes', async () => {
    const client = await connect();
    await client.query(`insert into process (id, version, host, pid) values (gen_random_uuid(), '0.1.0', 'replica-1', 71)`);
    expect(await migrateDatabase(url, { from: await laterMigrations(contraction), force: true })).toEqual(['9002-without']);
  });

  test('that does not get its lock lets the others go on, and is tried again', async () => {
    const client = await connect();
    await client.query('begin; lock table role in share mode');
    const text = expansion['9001-later'].replace('\n', `\nset local lock_timeout = '10ms';\n`);
    const lines: string[] = [];
    const applied = await migrateDatabase(url, {
      from: await laterMigrations({ '9001-later': text }),
      onWait: (line) => {
        lines.push(line);
        void client.query('commit');
      },
    });
    expect(applied).toEqual(['9001-later']);
    expect(lines).toEqual(['9001-later did not get its locks within 2s and is tried again (1 of 10)']);
  });

  test('that fails leaves the ones before it, and nothing of itself', async () => {
    const client = await connect();
    const broken = '-- runs beside: 0.1.0\nalter table role add column more text;\nselect 1 / 0;';
    await expect(migrateDatabase(url, { from: await laterMigrations({ ...expansion, '9002-broken': broken }) })).rejects.toThrow(
      'division by zero',
    );
    const { rows } = await client.query(
      `select attname from pg_attribute where attrelid = 'role'::regclass and attname in ('later', 'more')`,
    );
    expect(rows).toEqual([{ attname: 'later' }]);
  });

  test('builds an index beside writers, outside a transaction, when several replicas start at once', async () => {
    const client = await connect();
    const text = `-- runs beside: 0.1.0
-- no transaction
-- What an attempt that failed has left.
drop index concurrently if exists role_by_description;
create index concurrently role_by_description on role (description);
`;
    const from = await laterMigrations({ '9001-index': text });
    const results = await Promise.all([1, 2, 3].map(() => migrateDatabase(url, { from })));
    expect(results.flat()).toEqual(['9001-index']);
    const { rows } = await client.query(`select indisvalid from pg_index where indexrelid = 'role_by_description'::regclass`);
    expect(rows).toEqual([{ indisvalid: true }]);
  });

  test('without the first line that says beside which version it runs may run beside its own version only', async () => {
    const client = await connect();
    await migrateDatabase(url, { from: await laterMigrations({ '9001-later': 'select 1;' }) });
    const { rows } = await client.query(`select runs_beside as version from migration_note where name = '9001-later'`);
    expect(rows).toEqual([{ version: readVersion() }]);
  });

  test('has a note in the database, each of this version', async () => {
    const client = await connect();
    const { rows } = await client.query<{ name: string }>('select name from migration_note order by name');
    expect(rows.map(({ name }) => name)).toEqual(await knownMigrations());
  });
});

const service = useService();

test('a process has a row with its version as long as it runs, and the row of one that was killed is deleted after a minute', async () => {
  const before = await listProcesses(service().db);
  expect(before).toEqual([{ version: readVersion(), host: expect.any(String), pid: process.pid }]);
  const replica = await service().replica();
  expect(await listProcesses(service().db)).toHaveLength(2);
  await replica.stop();
  expect(await listProcesses(service().db)).toEqual(before);
  await execute(service().databaseUrl, `update process set seen_at = now() - interval '61 seconds'`);
  expect(await listProcesses(service().db)).toEqual([]);
  expect(await deleteEndedProcesses(service().db)).toBe(1);
});

test('a process renews its row every ten seconds, and the processes are listed with the oldest first', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await execute(service().databaseUrl, `insert into process (id, version, host, pid) values (gen_random_uuid(), '0.1.0', 'elsewhere', 1)`);
  const row = await announceProcess(service().db, '0.0.9');
  const older = () => listProcesses(service().db).then((all) => all.findIndex(({ version }) => version === '0.0.9'));
  await execute(
    service().databaseUrl,
    `update process set seen_at = now() - interval '61 seconds', started_at = now() - interval '1 day' where version = '0.0.9'`,
  );
  expect(await older()).toBe(-1);
  const background = new Background();
  schedulePeriodicWork({ ...service().context, background }, row);
  onTestFinished(() => background.stop());
  vi.advanceTimersByTime(9_999);
  expect(await older()).toBe(-1);
  vi.advanceTimersByTime(1);
  await vi.waitFor(async () => expect(await older()).toBe(0), 30_000);
  await background.stop();
  await row.withdraw();
  expect(await older()).toBe(-1);
});
