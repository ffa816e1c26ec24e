import { spawnSync } from 'node:child_process';
import { appendFile, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { runChecks } from '../../src/cli/doctor.ts';
import { readConfig } from '../../src/config/settings.ts';
import { openEmbedded, type EmbeddedDatabase } from '../../src/embedded/embedded.ts';
import { inDirectory, serverAccount } from '../../src/embedded/account.ts';
import { findBinaries } from '../../src/embedded/binaries.ts';
import { layoutOf } from '../../src/embedded/cluster.ts';
import { theService } from '../../src/audit/actor.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { openStore } from '../../src/database/port.ts';
import { analyzeGrownTables } from '../../src/database/statistics.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import { deleteOldKeys } from '../../src/entities/idempotency/idempotency.ts';
import { deleteEndedSessions } from '../../src/sessions/store.ts';
import { deleteIdleAttempts } from '../../src/credentials/attempts.ts';
import { explainFailure } from '../../src/start/failure.ts';
import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { AdminCommand } from '../support/admin.ts';
import { newDataDir } from '../support/embedded.ts';
import { readDocument, section } from '../support/markdown.ts';
import { cookieOf, password, TestService } from '../support/service.ts';
import { execute, withDatabase } from '../support/sql.ts';

vi.setConfig({ testTimeout: 60_000 });

const role = 'entity_application';
const statements = readDocument('docs/application-role.sql');
const [, rolesOfDocument = ''] = /```sql\n(.*?)```/s.exec(section(readDocument('docs/production.md'), '## Two database roles')) ?? [];
let embedded: EmbeddedDatabase;
/** A superuser. */
let administratorUrl: string;
/** No superuser, and without the right to make roles. */
let ownerUrl: string;
let applicationUrl: string;

/** A server with a superuser who may sign in: that of the embedded one may not, so it makes another while the server is down. */
async function openServerWithSuperuser(): Promise<EmbeddedDatabase> {
  const dataDir = await newDataDir(afterAll);
  await (await openEmbedded(dataDir)).stop();
  const { cluster } = layoutOf(dataDir);
  const account = await serverAccount(cluster);
  const { postgres } = await findBinaries(account, '/var/cache/entity-service');
  const { pgdata, options } = inDirectory(account, cluster);
  const { status, stderr } = spawnSync(postgres, ['--single', '-D', pgdata, 'postgres'], {
    ...options,
    input: `create role administrator superuser login password 'a password of the test'\n`,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  const access = join(cluster, 'pg_hba.conf');
  await appendFile(access, 'local all all scram-sha-256\n');
  if (account) await chown(access, account.uid, account.gid);
  return openEmbedded(dataDir);
}

beforeAll(async () => {
  embedded = await openServerWithSuperuser();
  ownerUrl = embedded.url;
  const url = new URL(ownerUrl);
  url.password = 'a password of the test';
  url.username = 'administrator';
  administratorUrl = url.href;
  url.username = role;
  applicationUrl = url.href;
  await migrateDatabase(ownerUrl);
  const owner = decodeURIComponent(new URL(ownerUrl).username);
  await execute(
    administratorUrl,
    rolesOfDocument.replaceAll('entities_owner', owner).replace(/password '.*?'/, "password 'a password of the test'"),
  );
  await execute(ownerUrl, statements);
});
afterAll(() => embedded.stop());

async function rows<T extends object>(url: string, text: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

test('docs/application-role.sql names every table there is', async () => {
  const tables = await rows<{ name: string }>(ownerUrl, `select tablename as name from pg_tables where schemaname = 'public' order by 1`);
  const named = [...statements.replaceAll(/^--.*$/gm, '').matchAll(/\bon\s+(?!schema|sequence)([\w,\s]+?)\s+to entity_application/g)]
    .flatMap(([, list = '']) => list.split(/[\s,]+/))
    .filter((name) => name !== '');
  expect(named.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
});

test('for an owner who is no member of the role of the service docs/application-role.sql says what the superuser has to run (rule 88)', async () => {
  await execute(administratorUrl, `create role stranger login password 'a password of the test'`);
  await execute(administratorUrl, 'create database strange owner stranger');
  const url = new URL(withDatabase(administratorUrl, 'strange'));
  url.username = 'stranger';
  await migrateDatabase(url.href);
  await expect(execute(url.href, statements)).rejects.toMatchObject({
    message: `the role stranger is no member of ${role}`,
    hint: `Let a superuser run: grant ${role} to stranger;`,
  });
});

test('on a database without tables the start says that the owner has to migrate first', async () => {
  await execute(ownerUrl, 'create database without_tables');
  const config = readConfig({ DATABASE_URL: withDatabase(applicationUrl, 'without_tables') });
  const error: unknown = await prepareDatabase(config).catch((reason: unknown) => reason);
  expect(explainFailure(error, config)).toEqual([
    expect.stringMatching(
      /\(DATABASE_URL\): the user entity_application lacks a right .*: first run "npm run admin -- migrate" as the owner/,
    ),
  ]);
});

test('with these rights alone the service starts and does everything (rule 88)', async () => {
  const prepared = await prepareDatabase(readConfig({ DATABASE_URL: applicationUrl }));
  expect(prepared.administrator?.name).toBe('admin');
  const service = await TestService.start({}, { url: applicationUrl, drop: async () => undefined });
  try {
    await service.createUser('ada');
    expect((await service.call('POST', '/auth', { form: { user: 'ada', password: 'not the password at all' } })).status).toBe(401);
    let cookie = await service.signIn('ada');
    cookie = cookieOf(await service.call('POST', '/auth/refresh', { cookie }));
    cookie = cookieOf(await service.call('POST', '/auth/profile/ada', { cookie }));
    const created = await service.call<{ key: string }>('POST', '/rest/entity/note', { cookie, json: { text: 'first' } });
    expect(created.status, created.text).toBe(201);
    const path = `/rest/entity/note/${created.body.key}`;
    expect((await service.call('POST', path, { cookie, json: { text: 'second' } })).status).toBe(200);
    expect((await service.call('GET', path, { cookie })).status).toBe(200);
    expect((await service.call('DELETE', path, { cookie })).status).toBe(204);
    const keyed = { cookie, json: {}, headers: { 'idempotency-key': 'first' } };
    for (const replayed of [null, 'true']) {
      const answer = await service.call('POST', '/rest/entity/note', keyed);
      expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([201, replayed]);
    }
    const key = await service.call<{ key: string }>('POST', '/auth/keys', { cookie, json: { name: 'import' } });
    expect(key.status, key.text).toBe(201);
    expect((await service.call('GET', '/auth', { headers: { 'x-api-key': key.body.key } })).status).toBe(200);
    const changed = await service.call('POST', '/auth/password', {
      cookie,
      form: {
        'current-password': password,
        'set-password': 'seven quiet lanterns drift north',
        'confirm-password': 'seven quiet lanterns drift north',
      },
    });
    expect(changed.status, changed.text).toBe(204);
    expect((await service.call('HEAD', '/auth?logout=1', { cookie: cookieOf(changed) })).status).toBe(204);
    expect((await service.call('GET', '/health/ready')).status).toBe(200);
    const listening = `select pid from pg_stat_activity where usename = '${role}' and application_name like 'entity-service listen %'`;
    expect(await rows(ownerUrl, listening), 'the owner, as who commands run, sees whom a change has to wait for').toHaveLength(1);
    await deleteEndedSessions(service.db, 1_000);
    await deleteIdleAttempts(service.db, 1_000);
    await deleteOldKeys(service.db, 1_000);
    // Otherwise autovacuum may analyse it first.
    await execute(ownerUrl, 'alter table login_attempt set (autovacuum_enabled = false)');
    await execute(
      applicationUrl,
      `insert into login_attempt (kind, subject) select 'account', sha256(n::text::bytea) from generate_series(1, 5000) n`,
    );
    expect(await analyzeGrownTables(service.db), 'the function analyses as the owner').toEqual(['login_attempt']);
  } finally {
    await service.close();
    await prepared.close();
  }
});

test('with these rights the service changes companion tables that the owner has made by a command, and the other way round (rule 88)', async () => {
  const service = await TestService.start({}, { url: applicationUrl, drop: async () => undefined });
  const owner = openStore(ownerUrl, 2, () => undefined);
  try {
    const cookie = await service.openSession((await service.createUser('bob')).id);
    const create = async (name: string) => (await service.call('POST', `/rest/entity/${name}`, { cookie, json: { a: 'x' } })).status;
    const properties = { a: { type: 'string' }, b: { type: 'string' } };
    for (const [name, stores] of [
      ['owned', [owner, service.store, owner]],
      ['served', [service.store, owner, service.store]],
    ] as const) {
      expect(await create(name)).toBe(201);
      for (const [index, store] of stores.entries()) {
        const document = { type: 'object', properties, 'x-index': [['a'], ['b'], ['a', 'b']].slice(0, index + 1) };
        await applyChange(store, theService, { name, document, source: 'command' });
      }
      await service.settle();
      expect(await create(name)).toBe(201);
      const { companion } = await findStoredType(service.db, name);
      expect(await rows(applicationUrl, `select key from entity_data.${companion?.table}`)).toHaveLength(2);
      const statistics = `select from pg_statistic_ext where stxrelid = 'entity_data.${companion?.table}'::regclass`;
      expect(await rows(ownerUrl, statistics)).toHaveLength(1);
      const fewer = { type: 'object', properties, 'x-index': [['b']] };
      await applyChange(service.store, theService, { name, document: fewer, source: 'command' });
      expect(await rows(ownerUrl, statistics)).toEqual([]);
    }
  } finally {
    await owner.close();
    await service.close();
  }
});

test('the owner’s commands touch no table that the role has named in the layout of a type (rule 126)', async () => {
  const owner = openStore(ownerUrl, 2, () => undefined);
  onTestFinished(() => owner.close());
  const document = (...indexes: string[][]) => ({ type: 'object', properties: { a: { type: 'string' } }, 'x-index': indexes });
  for (const name of ['victim', 'forged']) await applyChange(owner, theService, { name, document: document(['a']), source: 'command' });
  const tables = () =>
    rows<{ name: string }>(ownerUrl, `select relname as name from pg_class where relnamespace = 'entity_data'::regnamespace order by 1`);
  const [before, victim, own] = [await tables(), await findStoredType(owner.db, 'victim'), await findStoredType(owner.db, 'forged')];
  const partition = before.find(({ name }) => /^audit_[0-9]{4}/.test(name))?.name ?? 'audit_first';
  const index = { name: victim.companion?.indexes[0]?.name, columns: [{ name: 'c1', descending: false }] };
  const forge = (companion: string) =>
    execute(
      applicationUrl,
      `with forged as (
        insert into entity_type_revision (name, document, source, plan, may_be_unfit, applied_by, companion)
        select name, document, source, plan, may_be_unfit, applied_by, '${companion}' from entity_type_revision where revision = ${own.revision}
        returning revision
      ) update entity_type set revision = (select revision from forged) where name = 'forged'`,
    );
  for (const change of [
    { table: partition },
    { table: victim.companion?.table },
    { indexes: [index] },
    { uniques: [{ name: 'audit_event_id_idx', columns: ['c1'] }] },
    { references: [{ name: 'entity_change_default', column: 'c1', to: 'victim', onDelete: 'restrict' }] },
    { columns: [{ ...own.companion?.columns[0], name: 'key' }] },
    { complete: { ...own.companion, table: partition } },
  ]) {
    const forged = JSON.stringify({ ...own.companion, ...change }).replaceAll("'", "''");
    await forge(forged);
    for (const next of [document(), document(['a'], ['a']), { type: 'object' }, null])
      await expect(applyChange(owner, theService, { name: 'forged', document: next, source: 'command' }), forged).rejects.toThrow(
        /the layout of the entity type \d+ in entity_type_revision names tables, columns or indexes of others/,
      );
    expect(await tables(), forged).toEqual(before);
  }
  await forge(JSON.stringify(own.companion).replaceAll("'", "''"));
  for (const name of ['victim', 'forged']) await applyChange(owner, theService, { name, document: { type: 'object' }, source: 'command' });
});

test('201 — after a restore and docs/application-role.sql: the service writes types with rules and changes them, and without the file it does not start (rule 88)', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-roles-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const at = (name: string) => ({ owner: withDatabase(ownerUrl, name), application: withDatabase(applicationUrl, name) });
  const [before, after] = [at('before_restore'), at('after_restore')];
  const document = (...indexes: string[][]) => ({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    'x-index': indexes,
  });
  for (const name of ['before_restore', 'after_restore']) await execute(ownerUrl, `create database ${name}`);
  await migrateDatabase(before.owner);
  const owner = openStore(before.owner, 2, () => undefined);
  onTestFinished(() => owner.close());
  await applyChange(owner, theService, { name: 'restored', document: document(['a'], ['a', 'b']), source: 'command' });

  const file = join(directory, 'all.backup');
  expect(await new AdminCommand(before.owner).run(['database', 'backup', '--to', file])).toMatchObject({ code: 0 });
  expect(await new AdminCommand(after.owner).run(['database', 'restore', '--from', file])).toMatchObject({ code: 0 });
  // All rights but the hand-over of what the owner has made.
  await execute(after.owner, statements.replace(/^do \$\$\ndeclare.*?^end \$\$;$/ms, ''));
  const config = readConfig({ DATABASE_URL: after.application });
  const error: unknown = await prepareDatabase(config).catch((reason: unknown) => reason);
  const advice = /tables of entity types belong to another role \(entity_data\.x1\): run docs\/application-role\.sql as the owner/;
  expect(explainFailure(error, config)).toEqual([expect.stringMatching(advice)]);
  const examined = await new AdminCommand(after.application).run(['doctor']);
  expect(examined.stdout).toMatch(new RegExp(`^fail +companions +${advice.source}`, 'm'));
  expect(examined.code).toBe(1);

  await execute(after.owner, statements);
  await (await prepareDatabase(config)).close();
  const service = await TestService.start({}, { url: after.application, drop: async () => undefined });
  try {
    const cookie = await service.openSession((await service.createUser('hal')).id);
    const created = await service.call('POST', '/rest/entity/restored', { cookie, json: { a: 'x' } });
    expect(created.status, created.text).toBe(201);
    await applyChange(service.store, theService, { name: 'restored', document: document(['b']), source: 'command' });
  } finally {
    await service.close();
  }
});

test('201 — while the password of the role changes under load: each connection reads it from password_file, and without the file there is 503 (rules 77 and 87)', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-password-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'password');
  const store = (text: string) => writeFile(file, `${text}\n`, { mode: 0o600 });
  await store('a password of the test');
  const url = new URL(applicationUrl);
  url.password = '';
  url.searchParams.set('password_file', file);
  const reconnect = () => rows(ownerUrl, `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);
  const service = await TestService.start({}, { url: url.href, drop: async () => undefined });
  try {
    const cookie = await service.openSession((await service.createUser('grace')).id);
    const create = async () => (await service.call('POST', '/rest/entity/note', { cookie, json: {} })).status;
    const statuses: number[] = [];
    const over = new AbortController();
    const clients = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) statuses.push(await create());
    });
    const more = async () => {
      const before = statuses.length;
      await expect.poll(() => statuses.length).toBeGreaterThan(before + 20);
    };
    await more();
    await execute(administratorUrl, `alter role ${role} password 'the next password of the test'`);
    await store('the next password of the test');
    await more();
    over.abort();
    await Promise.all(clients);
    expect(new Set(statuses)).toEqual(new Set([201]));
    await reconnect();
    await expect.poll(create).toBe(201);
    const { stdout } = await new AdminCommand(url.href).run(['doctor', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      checks: expect.arrayContaining([
        {
          name: 'secrets',
          status: 'ok',
          message: `DATABASE_URL: ${file} of ${new Date().toISOString().slice(0, 10)}, read by each connection; METRICS_TOKEN: not set`,
        },
      ]),
    });

    const end = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    await execute(administratorUrl, `alter role ${role} connection limit 9 valid until '${end}'`);
    const limited = (await new AdminCommand(url.href).run(['doctor'])).stdout;
    expect(limited).toMatch(/^warn +connections +1 process opens up to 12, and the role entity_application may have 9: alter role/m);
    expect(limited).toMatch(new RegExp(`^warn +role +the password of entity_application ends on ${end}`, 'm'));
    await execute(administratorUrl, `alter role ${role} connection limit -1 valid until 'infinity'`);

    await rm(file);
    await reconnect();
    await expect.poll(create).toBe(503);
    expect((await new AdminCommand(url.href).run(['doctor'])).stdout).toMatch(
      /^fail +secrets +the password_file of DATABASE_URL cannot be read/m,
    );
    await store('the next password of the test');
    await expect.poll(create).toBe(201);
  } finally {
    await service.close();
    await execute(administratorUrl, `alter role ${role} password 'a password of the test'`);
  }
});

test('a function of the owner reads no table or view that the role has put in front of one of PostgreSQL (rule 88)', async () => {
  const client = new Client({ connectionString: applicationUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('select analyze_grown_tables()');
  await client.query(`
    create function pg_temp.caller() returns oid language plpgsql as $$
    begin
      raise exception 'runs as %', current_user;
    end $$`);
  for (const name of ['pg_class', 'pg_proc', 'audit_retention', 'entity_history_keep', 'feed_tick', 'entity_change'])
    await client.query(
      `create temp view ${name} as select pg_temp.caller() as oid, pg_temp.caller() as relnamespace, pg_temp.caller() as pronamespace, 'r' as relkind, 0 as relpages`,
    );
  await expect(client.query('select oid from pg_temp.pg_class')).rejects.toThrow(`runs as ${role}`);
  for (const call of [
    'analyze_grown_tables()',
    'maintain_audit_trail()',
    'maintain_entity_history(1)',
    'make_feed_tick()',
    'delete_old_feed_ticks(1)',
    `purge_entity_history('note', 1, 1)`,
  ])
    await expect(client.query(`select ${call}`), call).resolves.toBeDefined();
});

test('with these rights doctor finds nothing wrong, also where it may not read the audit trail (rule 88)', async () => {
  const { code, stdout } = await new AdminCommand(applicationUrl).run(['doctor']);
  expect(stdout).toMatch(/^ok +backups +not known: the role may not read the audit trail$/m);
  expect(code, stdout).toBe(0);
});

test.each([
  ['audit list'],
  ['audit keep P13M'],
  ['service-secret rotate'],
  ['database backup --to /tmp/entity-service-never.backup'],
  ['database after-restore --taken-at 2026-01-01T00:00:00Z'],
])('with these rights "%s" says that it is for the owner of the tables (rule 88)', async (words) => {
  const { code, stderr } = await new AdminCommand(applicationUrl).run(words.split(' '));
  expect(stderr).toMatch(
    /^error: the database role entity_application may not do this \(.+\): run this command as the owner of the tables$/m,
  );
  expect(code).toBe(1);
});

test('a service whose role may not read the audit trail does not start with BACKUP_DIR, and doctor says so (rule 88)', async () => {
  const start = TestService.start({ BACKUP_DIR: tmpdir() }, { url: applicationUrl, drop: async () => undefined });
  await expect(start).rejects.toThrow('BACKUP_DIR: the database role may not read the audit trail');
  const checksOf = (DATABASE_URL: string) => runChecks(() => ({ DATABASE_URL, BACKUP_DIR: tmpdir() }));
  const finding = (status: string) => expect.objectContaining({ name: 'backups', status });
  expect(await checksOf(ownerUrl)).toContainEqual(finding('ok'));
  expect(await checksOf(applicationUrl)).toContainEqual(finding('fail'));
});

test('each function that runs with the rights of its owner looks for the tables of its caller last (rule 88)', async () => {
  const paths = await rows<{ name: string; config: string[] | null }>(
    ownerUrl,
    `select proname as name, proconfig as config from pg_proc where prosecdef and pronamespace = 'public'::regnamespace order by proname`,
  );
  expect(paths.length).toBeGreaterThan(5);
  for (const { name, config } of paths) expect(config, name).toContain('search_path=public, pg_temp');
});

test('a migration that replaces the table of the audit trail leaves the role its rights, and gives it no others (rule 88)', async () => {
  await execute(ownerUrl, 'create database earlier');
  const owner = withDatabase(ownerUrl, 'earlier');
  const application = withDatabase(applicationUrl, 'earlier');
  await migrateDatabase(owner, { upTo: '0017-entity-history' });
  await execute(owner, `grant insert on audit_event to ${role}; grant execute on function maintain_entity_history(integer) to ${role}`);
  await migrateDatabase(owner);
  const insertion = `insert into audit_event (event, outcome) values ('logout', 'ok')`;
  await execute(application, `${insertion}; select maintain_audit_trail(); select keep from audit_retention`);
  for (const statement of [
    insertion.replace('audit_event', 'entity_data.audit_first'),
    'select from audit_event',
    'delete from audit_event',
    `update audit_retention set keep = 'P30D'`,
    `select maintain_months('audit_event', 'audit', now())`,
  ]) {
    await expect(rows(application, statement), statement).rejects.toMatchObject({ code: '42501' });
  }
});

test('with these rights an index of parts of texts needs the owner, and the refusal says what to run (rule 88)', async () => {
  const service = await TestService.start({}, { url: applicationUrl, drop: async () => undefined });
  try {
    const cookie = await service.openSession((await service.createUser('eve', { '*': ['read', 'create', 'type'] })).id);
    const document = { type: 'object', properties: { a: { type: 'string' } }, 'x-index': [['a'], { field: 'a', substring: true }] };
    const put = () => service.call('PUT', '/rest/entity-type/part', { cookie, json: document, headers: { 'if-none-match': '*' } });
    const plan = () => service.call('POST', '/rest/entity-type/part/plan', { cookie, json: { document } });
    for (const [ask, pointer] of [
      [put, '/x-index/1'],
      [plan, '/document/x-index/1'],
    ] as const) {
      const { status, body } = await ask();
      expect([status, body.errors]).toEqual([
        422,
        [{ pointer, code: 'not-supported', detail: expect.stringContaining('create extension pg_trgm') as string }],
      ]);
    }
    await execute(ownerUrl, 'create extension pg_trgm');
    expect((await plan()).status).toBe(200);
    expect((await put()).status).toBe(201);
  } finally {
    await service.close();
  }
});

test.each([
  ['delete from audit_event'],
  [`update audit_retention set keep = 'P30D'`],
  [`select maintain_months('audit_event', 'audit', now())`],
  ['update audit_event set outcome = outcome'],
  ['truncate entity'],
  ['create table more (id int)'],
  ['alter table entity add column more int'],
  ['update kysely_migration set name = name'],
  ['update service_secret set value = value'],
])('with these rights nobody can %s (rule 88)', async (statement) => {
  await expect(rows(applicationUrl, statement)).rejects.toMatchObject({ code: '42501' });
});
