/** Copies of all data: into another database, into a file, and from a file into a new embedded database. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { writeBackup } from '../../src/database/transfer/backup-file.ts';
import { withSnapshot } from '../../src/database/transfer/snapshot.ts';
import { theService } from '../../src/audit/actor.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import { AdminCommand, startAdmin } from '../support/admin.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { connect, newDataDir } from '../support/embedded.ts';
import { declareType, seed } from '../support/entities.ts';
import { TestService, useService } from '../support/service.ts';
import { dropTables, execute } from '../support/sql.ts';

interface Summary {
  takenAt: string;
  tables: { name: string; rows: number }[];
}

const service = useService();
const never = new AbortController().signal;
let admin: AdminCommand;
let directory: string;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  directory = await mkdtemp(join(tmpdir(), 'entity-service-transfer-'));
  await service().createUser('ada');
  await service().createUser('bob');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** The rows of a query as the database at `url` gives them. */
async function query<T>(url: string, text: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

const counts = async (url: string) =>
  (
    await query<{ users: number; entities: number; sessions: number }>(
      url,
      `select (select count(*)::int from user_account) as users, (select count(*)::int from entity) as entities,
       (select count(*)::int from session) as sessions`,
    )
  )[0];
const nothing = { users: 0, entities: 0, sessions: 0 };

async function createNote(at: TestService, cookie: string, text: string): Promise<string> {
  const answer = await at.call('POST', '/rest/entity/note', { cookie, json: { text } });
  expect(answer.status).toBe(201);
  return answer.headers.get('location')?.split('/').at(-1) ?? '';
}

describe('database copy', () => {
  let target: TestDatabase;
  /** The URL of the target without its password. */
  let to: string;

  beforeEach(async () => {
    target = await createDatabase();
    const url = new URL(target.url);
    vi.stubEnv('PGPASSWORD', decodeURIComponent(url.password));
    url.password = '';
    to = url.href;
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await target.drop();
  });

  test('a service on the copy goes on: its sessions, its keys, and the next key of an entity', async () => {
    const cookie = await service().signIn('ada');
    const rule = { digest: 'a'.repeat(64), document: '{"filter": {"text": "x"}}' };
    await service().db.insertInto('grant_rule').values(rule).execute();
    const role = await service().db.selectFrom('role').select('id as role_id').limit(1).executeTakeFirstOrThrow();
    const grant = { ...role, entity: 'note', action: 'read' as const, condition: rule.digest, name: 'some' };
    await service().db.insertInto('role_grant').values(grant).execute();
    const last = await createNote(service(), cookie, 'before — "quoted" \\ 12345678901234567890.10');
    const run = await admin.run(['database', 'copy', '--to', to, '--json']);
    expect(run).toMatchObject({ code: 0, stderr: expect.stringMatching(/^entity: \d+ rows?$/m) });
    expect(run.stdout + run.stderr).not.toContain(new URL(target.url).password);
    const { tables } = JSON.parse(run.stdout) as Summary;
    expect(tables).toContainEqual({ name: 'user_account', rows: 2 });
    expect(await counts(target.url)).toEqual(await counts(service().databaseUrl));
    for (const table of ['entity', 'user_account', 'session', 'service_secret', 'audit_event', 'role_grant', 'grant_rule']) {
      const rows = (url: string) => query(url, `select to_jsonb(${table}) as row from ${table} order by 1`);
      expect(await rows(target.url), table).toEqual(await rows(service().databaseUrl));
    }
    expect(await query(target.url, `select detail ->> 'to' as to from audit_event where event = 'database.copied'`)).toEqual([
      { to: expect.stringMatching(/:\d+\/t_[0-9a-f]+$/) },
    ]);
    const moved = await TestService.start({}, { ...target, drop: async () => undefined });
    try {
      expect((await moved.call('GET', '/auth', { cookie })).status).toBe(200);
      expect((await moved.call('GET', `/rest/entity/note/${last}`, { cookie })).text).toContain('12345678901234567890.10');
      expect(Number(await createNote(moved, cookie, 'after'))).toBe(Number(last) + 1);
    } finally {
      await moved.close();
    }
  });

  test('the copy has the indexes and rules of types, and nothing of a build that is under way', async () => {
    await seed(service(), 'parent', '501', { email: 'Ada@example.com' }, 'ada');
    await seed(service(), 'child', '502', { parent: '501' }, 'ada');
    await declareType(service(), 'parent', { properties: { email: { type: 'string' } }, 'x-unique': [{ fields: ['email'], fold: true }] });
    const child = { properties: { parent: { type: 'string', format: 'int64' } }, 'x-references': { parent: { to: 'parent' } } };
    await declareType(service(), 'child', child);
    const stopped = applyChange(
      service().store,
      theService,
      { name: 'child', document: { ...child, 'x-index': [['-parent']] }, source: 'command' },
      {
        onProgress({ phase }) {
          if (phase === 'indexes') throw new RangeError('stopped');
        },
      },
    );
    await expect(stopped).rejects.toThrow(RangeError);
    expect(await new AdminCommand(service().databaseUrl).say(['types', 'status'])).toMatch(/^child +\d+ +building +1 +0$/m);

    expect((await admin.run(['database', 'copy', '--to', to])).code).toBe(0);
    const status = await new AdminCommand(target.url).json<{ name: string; state: string }[]>(['types', 'status']);
    expect(status.map(({ name, state }) => `${name} ${state}`)).toEqual(['child ready', 'parent ready']);
    const { stdout } = await new AdminCommand(target.url).run(['doctor', '--all']);
    expect(stdout).toMatch(/^ok +companions +2 tables agree with the entities, compared: 2$/m);
    const [row] = await query<{ table: string; column: string }>(
      target.url,
      `select companion->>'table' as table, companion#>>'{columns,0,name}' as column from entity_type_revision where name = 'child' order by revision desc`,
    );
    await expect(query(target.url, `insert into entity_data.${row?.table} (key, ${row?.column}) values (503, 999)`)).rejects.toMatchObject({
      code: '23503',
    });
  });

  test('people read a comparison of the tables that have rows', async () => {
    const { stdout } = await admin.run(['database', 'copy', '--to', to]);
    expect(stdout).toMatch(
      /^TABLE +SOURCE +TARGET\n[^]*^user_account +2 +2$[^]*\n\nCopied the state of .* to .*\. The rows of each table are the same/m,
    );
  });

  test('an empty database without tables gets them', async () => {
    await execute(target.url, dropTables);
    expect((await admin.run(['database', 'copy', '--to', to])).code).toBe(0);
    expect(await new AdminCommand(target.url).say(['migrate', '--check'])).toBe('The database has every migration.\n');
  });

  test('a target with rows, or of a later version, is refused and stays as it is', async () => {
    await execute(target.url, `insert into role (name) values ('present')`);
    expect(await admin.refusal(['database', 'copy', '--to', to])).toMatch(
      /^the target \S+ has rows \(in the table role\): it must be empty$/,
    );
    expect(await query(target.url, 'select name from role')).toEqual([{ name: 'present' }]);
    await execute(
      target.url,
      `delete from role; insert into kysely_migration (name, timestamp) values ('9999-later', '2099-01-01T00:00:00Z')`,
    );
    expect(await admin.refusal(['database', 'copy', '--to', to])).toContain('has migrations of a later version (9999-later)');
    expect(await counts(target.url)).toEqual(nothing);
  });

  test('the source itself is no target', async () => {
    expect(await new AdminCommand(target.url).refusal(['database', 'copy', '--to', to])).toMatch(
      /^the target \S+ is the source itself, or another copy is filling it$/,
    );
  });

  test('a password on the command line is refused without being repeated, and so is what is no URL (rule 87)', async () => {
    for (const url of ['postgres://me:hush@127.0.0.1/db', 'postgres://me@127.0.0.1/db?password=hush']) {
      const refused = await admin.refusal(['database', 'copy', '--to', url], '', 2);
      expect(refused).toContain('set PGPASSWORD');
      expect(refused).not.toContain('hush');
    }
    await admin.refusal(['database', 'copy', '--to', 'db.example.com'], '', 2);
    await admin.refusal(['database', 'copy', '--to', 'https://db.example.com/'], '', 2);
  });

  test('an unreachable target is named', async () => {
    expect(await admin.refusal(['database', 'copy', '--to', 'postgres://me@127.0.0.1:1/db'])).toBe(
      'PostgreSQL at 127.0.0.1:1/db (--to) refuses connections: start it, or correct host and port',
    );
  });

  test('Ctrl-C in the middle of the copy leaves the target as it was', async () => {
    // Stops the copy when rows of most tables are there, until this test ends its connection.
    await execute(
      target.url,
      `create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(7); return null; end $$;
       create trigger wait after insert on session for each statement execute function wait()`,
    );
    await service().signIn('ada');
    const holder = await connect(target.url);
    await holder.query('select pg_advisory_lock(7)');
    const waits = vi.waitFor(
      async () =>
        expect(
          (
            await holder.query(
              `select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`,
            )
          ).rowCount,
        ).toBe(1),
      { timeout: 20_000 },
    );
    const environment = { DATABASE_URL: service().databaseUrl, PGPASSWORD: new URL(target.url).password };
    const run = await startAdmin(['database', 'copy', '--to', to], { environment, interrupt: waits });
    expect(run).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: cancelled: the target has the same rows as before\n$/m),
    });
    expect(await counts(target.url)).toEqual(nothing);
    expect(await query(target.url, `select nextval(pg_get_serial_sequence('entity', 'key'))::int as key`)).toEqual([{ key: 1 }]);
  }, 40_000);
});

describe('database backup and restore', () => {
  const backup = async (name: string) => {
    const file = join(directory, name);
    const { code, stdout } = await admin.run(['database', 'backup', '--to', file, '--json']);
    expect(code).toBe(0);
    return { file, summary: JSON.parse(stdout) as Summary & { bytes: number } };
  };
  const restore = (file: string, dataDir: string, more: string[] = []) =>
    startAdmin(['database', 'restore', '--from', file, ...more], { environment: { DATABASE: 'embedded', DATA_DIR: dataDir } });

  test('a backup of the embedded database under write load has one moment, and a new DATA_DIR gets it', async () => {
    const [source, copy, file] = [await newDataDir(), await newDataDir(), join(directory, 'load.backup')];
    const embedded = await openEmbedded(source, { settings: { fsync: 'off' } });
    await migrateDatabase(embedded.url);
    const running = await TestService.start({}, { url: embedded.url, drop: async () => undefined });
    await running.createUser('ada');
    const cookie = await running.signIn('ada');
    const made: string[] = [];
    const over = new AbortController();
    const write = async () => {
      while (!over.signal.aborted) made.push(await createNote(running, cookie, `note ${made.length}\nof a user`));
    };
    const writers = Promise.all([write(), write(), write()]);
    const stop = async () => {
      over.abort();
      await writers;
      await running.close();
      await embedded.stop();
    };
    onTestFinished(stop);
    await vi.waitFor(() => expect(made.length).toBeGreaterThan(30), { timeout: 10_000 });
    const before = [...made];
    const run = await startAdmin(['database', 'backup', '--to', file, '--json'], {
      environment: { DATABASE: 'embedded', DATA_DIR: source },
    });
    expect(run, run.stderr).toMatchObject({ code: 0 });
    const during = made.length;
    over.abort();
    await writers;
    expect(during).toBeGreaterThan(before.length);
    const rowsOf = `select key, version, fields, created_at, created_by from entity order by key`;
    const all = await query<{ key: string }>(embedded.url, rowsOf);
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    expect(await restore(file, copy)).toMatchObject({ code: 0, stderr: expect.stringContaining('note: all sessions have ended') });
    const restored = await openEmbedded(copy, { settings: { fsync: 'off' } });
    const again = await TestService.start({}, { url: restored.url, drop: () => restored.stop() });
    onTestFinished(() => again.close());
    const rows = await query<{ key: string }>(restored.url, rowsOf);
    const keys = new Set(rows.map(({ key }) => key));
    expect(
      before.filter((key) => !keys.has(key)),
      'what was answered before the backup',
    ).toEqual([]);
    expect(rows).toEqual(all.filter(({ key }) => keys.has(key)));
    const events = await query<{ key: string }>(
      restored.url,
      `select detail ->> 'key' as key from audit_event where event = 'entity.created'`,
    );
    expect(new Set(events.map(({ key }) => key))).toEqual(keys);

    // A9: sessions have ended, and no key that a client may know is given again.
    expect((await again.call('GET', '/auth', { cookie })).status).toBe(401);
    const next = Number(await createNote(again, await again.signIn('ada'), 'after'));
    expect(next).toBeGreaterThan(Math.max(...all.map(({ key }) => Number(key))));
    expect(next).toBeGreaterThan(1_000_000);
    const [event] = await query<{ detail: unknown }>(restored.url, `select detail from audit_event where event = 'database.restored'`);
    expect(event?.detail).toMatchObject({ by: 'administrator', via: 'cli', takenAt: (JSON.parse(run.stdout) as Summary).takenAt });
  }, 90_000);

  test('a restored database has the indexes and rules of its types', async () => {
    await seed(service(), 'rated', '521', { stars: 5 }, 'ada');
    await declareType(service(), 'rated', {
      properties: { stars: { type: 'number' } },
      'x-index': [['stars']],
      'x-unique': [{ fields: ['stars'] }],
    });
    const { file } = await backup('types.backup');
    const target = await createDatabase();
    onTestFinished(() => target.drop());
    const command = new AdminCommand(target.url);
    expect(await command.run(['database', 'restore', '--from', file])).toMatchObject({ code: 0 });
    const status = await command.json<{ name: string; state: string }[]>(['types', 'status']);
    expect(status).toContainEqual(expect.objectContaining({ name: 'rated', state: 'ready', entities: 1 }));
    expect((await command.run(['doctor', '--all'])).stdout).toMatch(/^ok +companions +\d tables? agrees? with the entities/m);
    const moved = await TestService.start({}, { ...target, drop: async () => undefined });
    try {
      const session = await moved.openSession((await moved.createUser('eve')).id);
      const answer = await moved.call('POST', '/rest/entity/rated', { cookie: session, json: { stars: 5 } });
      expect([answer.status, answer.body]).toEqual([409, expect.objectContaining({ code: 'unique-conflict' })]);
    } finally {
      await moved.close();
    }
  });

  test('the file is text under gzip: a header, the rows, and their checksum; it has no session', async () => {
    await service().signIn('ada');
    const { file, summary } = await backup('readable.backup');
    const bytes = await readFile(file);
    expect(summary.bytes).toBe(bytes.length);
    const lines = gunzipSync(bytes).toString().split('\n');
    const header = JSON.parse(lines[0] ?? '') as Summary & Record<string, unknown>;
    expect(header).toMatchObject({ format: 'entity-service backup', formatVersion: 1, takenAt: summary.takenAt });
    expect(header.tables.map(({ name, rows }) => ({ name, rows }))).toEqual(summary.tables);
    expect(header.tables.map(({ name }) => name)).not.toContain('session');
    expect(lines.length - 1).toBe(2 + header.tables.reduce((sum, { rows }) => sum + rows, 0));
    expect(lines.at(-2)).toMatch(/^sha256 [0-9a-f]{64}$/);
    const events = await query(
      service().databaseUrl,
      `select detail ->> 'file' as file from audit_event where event = 'database.backed_up'`,
    );
    expect(events).toContainEqual({ file });
  });

  test('an existing file and a missing directory are refused; nothing else is left behind', async () => {
    const file = join(directory, 'present');
    await writeFile(file, 'mine');
    expect(await admin.refusal(['database', 'backup', '--to', file])).toBe(`${file} exists already: name another file`);
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect(await admin.refusal(['database', 'backup', '--to', '/nonexistent/x'])).toBe('there is no directory /nonexistent');
    expect((await readdir(directory)).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  test('a damaged or foreign file is refused before anything is written', async () => {
    const { file } = await backup('whole.backup');
    const bytes = await readFile(file);
    const text = gunzipSync(bytes).toString();
    const flipped = Buffer.from(bytes);
    const middle = Math.floor(bytes.length / 2);
    flipped.writeUInt8(flipped.readUInt8(middle) ^ 1, middle);
    const damages: [name: string, content: Buffer, message: RegExp][] = [
      ['cut', bytes.subarray(0, -20), /is damaged: its end is missing$/],
      ['without its last lines', gzipSync(text.slice(0, -200)), /is damaged: its checksum is wrong$/],
      ['flipped', flipped, /is damaged/],
      ['altered', gzipSync(text.replace(/\tada\t/, '\teve\t')), /is damaged: its checksum is wrong$/],
      ['longer', gzipSync(`${text}more\n`), /is damaged: its checksum is wrong$/],
      ['no gzip', Buffer.from('hello'), /is damaged, or is no backup of this service$/],
      ['another text', gzipSync('hello\n'), /is no backup of this service$/],
      ['empty', Buffer.alloc(0), /is no backup of this service$|is damaged/],
      ['of a later format', gzipSync(text.replace('"formatVersion":1', '"formatVersion":2')), /has the format 2, which a later version/],
    ];
    expect(text).toMatch(/\tada\t/);
    const target = await createDatabase();
    onTestFinished(() => target.drop());
    for (const [name, content, message] of damages) {
      const damaged = join(directory, 'damaged');
      await writeFile(damaged, content);
      expect(await new AdminCommand(target.url).refusal(['database', 'restore', '--from', damaged]), name).toMatch(message);
      expect(await counts(target.url), name).toEqual(nothing);
    }
    const dataDir = await newDataDir();
    await writeFile(join(directory, 'damaged'), bytes.subarray(0, -20));
    expect((await restore(join(directory, 'damaged'), dataDir)).stderr).toMatch(/is damaged: its end is missing\n$/);
    expect(await stat(dataDir).catch(() => 'absent')).toBe('absent');
    expect(await admin.refusal(['database', 'restore', '--from', join(directory, 'nil')])).toMatch(/^there is no file /);
  });

  test('a database with rows, as that of a running service, is refused and stays as it is', async () => {
    const { file } = await backup('again.backup');
    const before = await counts(service().databaseUrl);
    expect(await admin.refusal(['database', 'restore', '--from', file])).toMatch(
      /^the database has rows \(in the table \w+\): it must be empty$/,
    );
    expect(await counts(service().databaseUrl)).toEqual(before);
  });

  test('a backup of a schema without `may_be_unfit` is restored, also if a type was being built', async () => {
    const [early, target] = [await createDatabase(), await createDatabase()];
    onTestFinished(async () => {
      await early.drop();
      await target.drop();
    });
    for (const { url } of [early, target]) await execute(url, dropTables);
    await migrateDatabase(early.url, { upTo: '0031-path-of-statistics' });
    const parts = { columns: [], indexes: [], uniques: [], substrings: [], references: [] };
    const companion = JSON.stringify({ table: 'x1', ...parts, next: 1, state: 'building', complete: null });
    await execute(
      early.url,
      `with revision as (
         insert into entity_type_revision (name, document, source, plan, applied_by, companion)
         values ('order', '{}', 'command', '{"isPlaceholder": true}', 'ada', '${companion}') returning revision
       ) insert into entity_type (name, revision) select 'order', revision from revision`,
    );
    const file = join(directory, 'building.backup');
    await withSnapshot(early.url, [], never, (source) => writeBackup(file, '0.0.9', source, { signal: never, onRows: () => undefined }));
    const command = new AdminCommand(target.url);
    expect(await command.run(['database', 'restore', '--from', file])).toMatchObject({ code: 0 });
    expect(await query(target.url, 'select count(*)::int as types from entity_type')).toEqual([{ types: 0 }]);
    expect(await query(target.url, 'select distinct may_be_unfit from entity_type_revision')).toEqual([{ may_be_unfit: false }]);
  });

  test('a backup of an earlier schema is migrated with its rows; one of a later schema is refused', async () => {
    const [early, target] = [await createDatabase(), await createDatabase()];
    onTestFinished(async () => {
      await early.drop();
      await target.drop();
    });
    for (const { url } of [early, target]) await execute(url, dropTables);
    await migrateDatabase(early.url, { upTo: '0009-audit' });
    await execute(early.url, `insert into role (name) values ('early')`);
    const file = join(directory, 'early.backup');
    await withSnapshot(early.url, [], never, (source) => writeBackup(file, '0.0.9', source, { signal: never, onRows: () => undefined }));
    const command = new AdminCommand(target.url);
    expect(await command.run(['database', 'restore', '--from', file])).toMatchObject({ code: 0 });
    expect(await command.say(['migrate', '--check'])).toBe('The database has every migration.\n');
    expect(await query(target.url, 'select name from role')).toEqual([{ name: 'early' }]);

    const later = join(directory, 'later.backup');
    await execute(early.url, `update kysely_migration set name = '9999-later' where name = '0009-audit'`);
    await withSnapshot(early.url, [], never, (source) => writeBackup(later, '9.0.0', source, { signal: never, onRows: () => undefined }));
    expect(await admin.refusal(['database', 'restore', '--from', later])).toBe(
      `version 9.0.0 wrote ${later}, with migrations that this version lacks (9999-later): use that version`,
    );
  });
});
