import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { theService } from '../../src/audit/actor.ts';
import { applyChange, settleInterrupted } from '../../src/entity-types/apply.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import { AdminCommand, runAdmin, startAdmin } from '../support/admin.ts';
import { declareType, seed } from '../support/entities.ts';
import { createDatabase, createDatabaseUntilDone, type TestDatabase } from '../support/database.ts';
import { newDataDir } from '../support/embedded.ts';
import { dropTables, execute } from '../support/sql.ts';
import { useService } from '../support/service.ts';

interface Report {
  ok: boolean;
  checks: { name: string; status: 'ok' | 'warn' | 'fail'; message: string }[];
}

const service = useService();

describe('migrate', () => {
  let empty: TestDatabase;
  let admin: AdminCommand;
  beforeAll(async () => {
    empty = await createDatabase();
    admin = new AdminCommand(empty.url);
    await execute(empty.url, dropTables);
  });
  afterAll(() => empty.drop());

  test('uses the direct address, not the pooler', async () => {
    const environment = { DATABASE_URL: empty.url, DATABASE_DIRECT_URL: 'postgres://me:hush@127.0.0.1:1/db' };
    const refused = await runAdmin(['migrate'], { environment });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/127\.0\.0\.1:1\/db \(DATABASE_DIRECT_URL\) refuses connections/),
    });
    expect(refused.stderr).not.toContain('hush');
    expect((await admin.run(['migrate', '--check'])).code, 'nothing has been applied').toBe(1);
  });

  test('brings an empty database to the present schema, once; --check only reports, with exit code 1 for a missing migration', async () => {
    const before = await admin.run(['migrate', '--check', '--json']);
    expect(before).toMatchObject({ code: 1, stderr: 'error: the database lacks migrations: run "migrate"\n' });
    const { pending } = JSON.parse(before.stdout) as { pending: string[] };
    expect(pending[0]).toBe('0001-accounts');
    expect(await admin.refusal(['user', 'list'])).toMatch(/^the database lacks 0001-accounts, .*: run "migrate" or start the service$/);
    expect(await admin.json(['migrate'])).toEqual({ applied: pending, pending: [] });
    expect(await admin.say(['migrate'])).toBe('Nothing to do: the database has every migration.\n');
    expect(await admin.json(['migrate', '--check'])).toEqual({ applied: [], pending: [] });
    expect(await admin.say(['user', 'list'])).toBe('There are no users yet.\n');
  });

  test('leaves a database alone that a later version has migrated', async () => {
    await execute(empty.url, `insert into kysely_migration (name, timestamp) values ('9999-later', '2099-01-01T00:00:00Z')`);
    const refused = 'the database has migrations of a later version (9999-later): use that version, or a later one';
    for (const words of [['migrate'], ['migrate', '--check'], ['user', 'list']]) expect(await admin.refusal(words)).toBe(refused);
    const run = await admin.run(['doctor', '--json']);
    expect(run.code).toBe(1);
    const report = JSON.parse(run.stdout) as Report;
    expect(report.checks.at(-1)).toEqual({ name: 'migrations', status: 'fail', message: refused });
  });
});

describe('doctor', () => {
  const statuses = (report: Report) => Object.fromEntries(report.checks.map(({ name, status }) => [name, status]));

  test('reports no fault in the database of a running service', async () => {
    const admin = new AdminCommand(service().databaseUrl);
    const report = await admin.json<Report>(['doctor']);
    expect(report.ok).toBe(true);
    expect(statuses(report)).toMatchObject({
      node: 'ok',
      settings: 'ok',
      'password list': 'ok',
      database: 'ok',
      postgresql: 'ok',
      encoding: 'ok',
      clock: 'ok',
      notifications: 'ok',
      migrations: 'ok',
      administrator: 'warn',
    });
    expect(report.checks.find(({ name }) => name === 'administrator')?.message).toContain('there is no user yet');
    await service().createUser('root');
    const text = await admin.say(['doctor']);
    expect(text).toMatch(/^RESULT +CHECK +FINDING\n/);
    expect(text).toMatch(/^ok +administrator +root has every right on entities$/m);
    await service().db.updateTable('user_account').set({ active: false }).where('name', '=', 'root').execute();
    expect(await admin.say(['doctor'])).toMatch(/^warn +administrator +no active user has every right on entities$/m);
  });

  test('counts the processes and the connections that they may open, and warns of two versions and of too few connections', async () => {
    const { databaseUrl: DATABASE_URL, db } = service();
    const lines = async (settings: Record<string, string> = {}) =>
      (await runAdmin(['doctor'], { environment: { DATABASE_URL, ...settings } })).stdout
        .split('\n')
        .map((line) => line.replaceAll(/ +/g, ' '));
    expect(await lines()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^ok processes 1 of version \d+\.\d+\.\d+$/),
        expect.stringMatching(/^ok connections 1 process opens up to 12; allowed are \d+$/),
        'ok replication commits wait for none',
      ]),
    );
    const id = '00000000-0000-4000-8000-000000000000';
    await db.insertInto('process').values({ id, version: '9.0.0', host: 'other', pid: 1 }).execute();
    expect(await lines({ DATABASE_POOL_SIZE: '1000' })).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^warn processes 1 of version .*, 1 of version 9\.0\.0: an upgrade is under way/),
        expect.stringMatching(/^warn connections 2 processes open up to 2004, and max_connections of PostgreSQL leaves \d+$/),
      ]),
    );
    expect(await lines({ DATABASE_POOL_SIZE: '1000', DATABASE_DIRECT_URL: DATABASE_URL })).toContainEqual(
      expect.stringMatching(/^ok connections 2 processes open up to 4 besides those of the pooler; allowed are \d+$/),
    );
    await db.deleteFrom('process').where('id', '=', id).execute();
  });

  test('warns of a name in the environment that is near to a setting', async () => {
    const environment = {
      DATABASE_URL: service().databaseUrl,
      RATE_LIMT: 'off',
      HOME: '/root',
      PGHOST: 'db',
      HOSTNAME: 'here',
      PATH: '/bin',
    };
    const run = await runAdmin(['doctor', '--json'], { environment });
    expect((JSON.parse(run.stdout) as Report).checks).toContainEqual({
      name: 'environment',
      status: 'warn',
      message: 'RATE_LIMT is no setting: did you mean RATE_LIMIT?',
    });
    expect(run.code).toBe(0);
  });

  test('reports each invalid setting on a line', async () => {
    const run = await runAdmin(['doctor'], { environment: { PORT: 'x', WORKERS: '0' } });
    expect(run).toMatchObject({ code: 1, stderr: 'error: 2 checks have failed\n' });
    expect(run.stdout).toMatch(/^fail +settings +PORT must be .*\nfail +settings +WORKERS must be .*$/m);
  });

  test('reports that the database is unreachable, without its password', async () => {
    const run = await runAdmin(['doctor', '--json'], { environment: { DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/db' } });
    expect(run.code).toBe(1);
    expect((JSON.parse(run.stdout) as Report).checks.at(-1)).toMatchObject({ name: 'postgresql', status: 'fail' });
    expect(run.stdout).toContain('refuses connections');
    expect(run.stdout + run.stderr).not.toContain('hush');
  });

  test('fails a database that refuses writes', async () => {
    const url = await createDatabaseUntilDone();
    await execute(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
    const run = await runAdmin(['doctor'], { environment: { DATABASE_URL: url } });
    expect(run.stdout).toMatch(/^fail +postgresql +version \S+ refuses writes, since default_transaction_read_only is on: /m);
    expect(run.code).toBe(1);
  });

  test('warns of a superuser in production (rule 86) and fails an encoding that cannot store every text', async () => {
    const { url } = { url: service().databaseUrl };
    const name = 'latin1_for_doctor';
    await execute(url, `create database ${name} encoding 'LATIN1' locale 'C' template template0`);
    try {
      const database = new URL(url);
      database.pathname = `/${name}`;
      const run = await runAdmin(['doctor', '--json'], {
        environment: { DATABASE_URL: database.href, NODE_ENV: 'production', PUBLIC_URL: 'https://api.example.com' },
      });
      const report = JSON.parse(run.stdout) as Report;
      expect(statuses(report)).toMatchObject({ encoding: 'fail', migrations: 'fail' });
      const { rows } = await sql<{ superuser: boolean }>`select rolsuper as superuser from pg_roles where rolname = current_user`.execute(
        service().db,
      );
      expect(statuses(report)['role']).toBe(rows[0]?.superuser ? 'warn' : 'ok');
    } finally {
      await execute(url, `drop database ${name} with (force)`);
    }
  });
});

describe('the embedded database', () => {
  test('is created by migrate only, started if it does not run, and shared if it does', async () => {
    const dataDir = await newDataDir();
    const environment = { DATABASE: 'embedded', DATA_DIR: dataDir };
    const refused = await runAdmin(['user', 'list'], { environment });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`there is no database in ${dataDir}`) });
    expect((await startAdmin(['migrate'], { environment })).code).toBe(0);

    const database = await openEmbedded(dataDir);
    const client = new Client({ connectionString: database.url });
    try {
      await client.connect();
      expect(await startAdmin(['user', 'create', 'ada'], { environment })).toMatchObject({ code: 0, stderr: '' });
      expect((await client.query('select name from user_account')).rows).toEqual([{ name: 'ada' }]);
    } finally {
      await client.end();
      await database.stop();
    }
    const { stdout } = await startAdmin(['doctor', '--json'], { environment });
    const { checks } = JSON.parse(stdout) as Report;
    expect(checks.find(({ name }) => name === 'disk')?.message).toContain('GiB free');
    expect(checks.find(({ name }) => name === 'database')?.message).toContain('(started)');
  }, 60_000);
});

describe('doctor on companion tables', () => {
  test('finds entities without a row, rows without an entity, and rows with other values', async () => {
    const admin = new AdminCommand(service().databaseUrl);
    await service().createUser('ada');
    for (const key of ['601', '602', '603']) await seed(service(), 'checked', key, { a: key }, 'ada');
    await declareType(service(), 'checked', { properties: { a: { type: 'string' } }, 'x-index': [['a']] });
    const finding = async (...words: string[]) => {
      const { stdout } = await admin.run(['doctor', '--json', ...words]);
      const { name: _, ...found } = (JSON.parse(stdout) as Report).checks.find(({ name }) => name === 'companions') ?? { name: '' };
      return found;
    };
    expect(await finding()).toEqual({ status: 'ok', message: '1 table agrees with the entities, compared: 3; --all compares all' });
    expect(await finding('--all')).toEqual({ status: 'ok', message: '1 table agrees with the entities, compared: 3' });
    const { companion } = await findStoredType(service().db, 'checked');
    const [table, column] = [sql.table(`entity_data.${companion?.table}`), sql.ref(companion?.columns[0]?.name ?? '')];
    await sql`update ${table} set ${column} = 'other' where key = 602`.execute(service().db);
    expect(await finding()).toMatchObject({ status: 'fail', message: expect.stringContaining('the rows of 1 entities differ, as of 602') });
    await sql`delete from ${table} where key = 602`.execute(service().db);
    expect(await finding('--all')).toMatchObject({ status: 'fail', message: expect.stringContaining('checked has 3 entities and 2 rows') });
    await sql`insert into ${table} (key) values (602), (999)`.execute(service().db);
    expect(await finding('--all')).toMatchObject({ status: 'fail', message: expect.stringContaining('checked has 3 entities and 4 rows') });
  });

  test('tells how many deleted entities can be restored, warns of those that nothing removes, and finds those that are live too', async () => {
    const admin = new AdminCommand(service().databaseUrl);
    await seed(service(), 'binned', '605', {}, 'ada');
    const trashed = (key: string, expiresAt: string) =>
      sql`
      insert into entity_trash (name, key, version, fields, created_at, created_by, updated_at, updated_by, deleted_by, expires_at)
      values ('binned', ${key}::bigint, 1, '{}', now(), 'ada', now(), 'ada', 'ada', now() + ${expiresAt}::interval)`.execute(service().db);
    const finding = async () =>
      /^(.*) trash +(.*)$/m
        .exec((await admin.run(['doctor'])).stdout)
        ?.slice(1)
        .map((text) => text.trim());
    await trashed('606', '1 day');
    expect(await finding()).toEqual(['ok', '1 deleted entities can be restored']);
    await trashed('607', '-2 hours');
    expect(await finding()).toEqual(['warn', expect.stringContaining('the time of 1 deleted entities has been over')]);
    await trashed('605', '1 day');
    expect(await finding()).toEqual(['fail', expect.stringContaining('deleted and live at once, as of 605')]);
  });

  test('warns of a build that was interrupted', async () => {
    const admin = new AdminCommand(service().databaseUrl);
    await seed(service(), 'stopped', '611', { a: 'x' }, 'ada');
    const document = { properties: { a: { type: 'string' } }, 'x-index': [['a']] };
    const stop = () => {
      throw new RangeError('stopped');
    };
    const build = applyChange(
      service().store,
      theService,
      { name: 'stopped', document, source: 'command' },
      { onProgress: ({ phase }) => phase === 'rows' && stop() },
    );
    await expect(build).rejects.toThrow(RangeError);
    const { stdout } = await admin.run(['doctor', '--json']);
    expect((JSON.parse(stdout) as Report).checks).toContainEqual({
      name: 'builds',
      status: 'warn',
      message: expect.stringMatching(/^stopped: being built/),
    });
    await settleInterrupted(service().store, theService);
    const after = await admin.run(['doctor', '--json']);
    expect((JSON.parse(after.stdout) as Report).checks).toContainEqual({ name: 'builds', status: 'ok', message: 'no type is being built' });
  });
});
