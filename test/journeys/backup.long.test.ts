/** The commands of docs/backup.md: a backup and its restore, and a database brought back to a moment with the tools of PostgreSQL. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readHistories } from '../../src/embedded/archive/histories.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { AdminCommand } from '../support/admin.ts';
import { DebianPostgres, whyNoDebianPostgres, whyNoPgBackRest } from '../support/debian-postgres.ts';
import { projectDirectory, runAll, stepsOf } from '../support/document-runner.ts';
import { serverPid } from '../support/embedded.ts';
import type { Entity } from '../support/entities.ts';
import { readDocument, section } from '../support/markdown.ts';
import { TestService } from '../support/service.ts';
import { npmStart } from '../support/start.ts';

vi.setConfig({ testTimeout: 180_000 });

const page = readDocument('docs/backup.md');

/** The blocks of a section in a language, without the indent of a list. */
const blocksOf = (title: string, language: string) =>
  [...section(page, title).matchAll(new RegExp(`^( *)\`\`\`${language}\n(.*?)^ *\`\`\`$`, 'gms'))].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trim(),
  );

test('the script for two database roles writes a whole backup and the metric, and after a failure not the metric', async () => {
  const service = await TestService.start();
  onTestFinished(() => service.close());
  const cwd = await projectDirectory();
  for (const folder of ['backups', 'metrics']) await mkdir(join(cwd, folder));
  const [script = ''] = blocksOf('### One file a day, with two database roles', 'sh');
  const here = script.replaceAll(/\/(?=(?:backups|metrics)\b)/g, `${cwd}/`);
  const runScript = () => promisify(execFile)('sh', ['-c', here], { cwd, env: { ...process.env, DATABASE_URL: service.databaseUrl } });
  const { stdout } = await runScript();
  expect(stdout).toMatch(/ is whole: /);
  expect(await readdir(join(cwd, 'backups'))).toEqual([expect.stringMatching(/^entity-service-\d{4}-\d\d-\d\d\.backup$/)]);
  const metric = await readFile(join(cwd, 'metrics/entity-service.prom'), 'utf8');
  expect(metric).toMatch(/^entity_service_last_backup_timestamp_seconds \d{10}\n$/);
  // The file of today is there already.
  await expect(runScript()).rejects.toThrow();
  expect(await readdir(join(cwd, 'metrics'))).toEqual(['entity-service.prom']);
  expect(await readFile(join(cwd, 'metrics/entity-service.prom'), 'utf8')).toBe(metric);
});

test('after the loss of all files the archive gives back any moment: all before it, nothing after it, no session, and no key twice', async () => {
  const cwd = await projectDirectory();
  await mkdir(join(cwd, 'archive'));
  const here = (command: string) => command.replaceAll(/(?<= |=)\/archive/g, join(cwd, 'archive'));
  const [start = '', commands = ''] = blocksOf('## Any moment of the embedded database', 'sh').map(here);
  const [, value = ''] = /^ARCHIVE_DIR=(\S+) npm start$/.exec(start) ?? [];
  const service = await npmStart({ ARCHIVE_DIR: value }, { cwd });
  await service.ready;
  const [secret = ''] = /\b[a-z0-9]{6}(-[a-z0-9]{6}){3}\b/.exec(service.told()) ?? [];
  const signIn = (url: string) => fetch(`${url}/auth`, { method: 'POST', body: new URLSearchParams({ user: 'admin', password: secret }) });
  const cookieOf = (answer: Response) => answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const create = async (url: string, cookie: string) => {
    const headers = { cookie, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/rest/entity/customer`, { method: 'POST', headers, body: '{"city":"London"}' });
    expect(answer.status).toBe(201);
    return BigInt(((await answer.json()) as Entity).key);
  };
  const cookie = cookieOf(await signIn(service.url));
  const reach = async () => (await readHistories(value)).at(-1)?.reach?.at ?? new Date(0);
  const untilReach = (at: Date) => vi.waitFor(async () => expect((await reach()) >= at).toBe(true), 30_000);
  await vi.waitFor(async () => expect((await readHistories(value)).at(-1)?.bases).toHaveLength(1), 30_000);
  await untilReach((await readHistories(value)).at(-1)?.bases[0]?.at ?? new Date());
  const before = [await create(service.url, cookie), await create(service.url, cookie)];
  const moment = new Date();
  const after = [await create(service.url, cookie), await create(service.url, cookie)];
  await untilReach(new Date());
  const server = await serverPid(join(cwd, 'data'));
  service.signal('SIGKILL');
  if (server !== undefined) process.kill(server, 'SIGKILL');
  await service.ended;
  await rm(join(cwd, 'data'), { recursive: true, maxRetries: 10, retryDelay: 200 });

  const lines = commands.replace(/(?<=--until )\S+/, moment.toISOString()).split('\n');
  const [verified = '', restored = ''] = await runAll(lines.slice(0, 2), cwd);
  expect(verified).toContain('is whole');
  expect(restored).toContain('Restored the state of');
  const again = await npmStart({ DATABASE: 'embedded', DATA_DIR: 'restored' }, { cwd });
  await again.ready;
  const read = async (key: bigint, as: string) =>
    (await fetch(`${again.url}/rest/entity/customer/${key}`, { headers: { cookie: as } })).status;
  expect(await read(before[0] ?? 0n, cookie)).toBe(401);
  const anew = cookieOf(await signIn(again.url));
  for (const key of before) expect(await read(key, anew)).toBe(200);
  for (const key of after) expect(await read(key, anew)).toBe(404);
  expect(await create(again.url, anew)).toBeGreaterThan(after.at(-1) ?? 0n);
  again.signal('SIGINT');
  expect((await again.ended).code).toBe(0);
});

test('a backup of the running service is whole, and its restore starts with the entities and without sessions', async () => {
  const cwd = await projectDirectory();
  await mkdir(join(cwd, 'backups'));
  const [start = ''] = blocksOf('## One file a day, by the service', 'sh');
  const [, name = '', value = ''] = /^(BACKUP_DIR)=\/(\w+) npm start$/.exec(start) ?? [];
  const service = await npmStart({ [name]: join(cwd, value) }, { cwd });
  await service.ready;
  const [secret = ''] = /\b[a-z0-9]{6}(-[a-z0-9]{6}){3}\b/.exec(service.told()) ?? [];
  const signIn = (url: string) => fetch(`${url}/auth`, { method: 'POST', body: new URLSearchParams({ user: 'admin', password: secret }) });
  const cookieOf = (answer: Response) => answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const headers = { cookie: cookieOf(await signIn(service.url)), 'content-type': 'application/json' };
  const created = await fetch(`${service.url}/rest/entity/customer`, { method: 'POST', headers, body: '{"city":"London"}' });
  expect(created.status).toBe(201);

  const commands = stepsOf(section(page, '## One file, while the service runs'));
  const [written = '', verified = ''] = await runAll(
    commands.map(({ command }) => command),
    cwd,
  );
  expect(written).toMatch(/^Wrote the state of .* into backups\/monday\.backup: \d+ rows, \d+ bytes\.$/m);
  expect(verified).toMatch(/^backups\/monday\.backup is whole: the state of .*, \d+ rows, written by version .*\.$/m);
  const today = `backups/entity-service-${new Date().toISOString().slice(0, 10)}.backup`;
  await vi.waitFor(async () => expect(await readdir(join(cwd, 'backups'))).toContain(basename(today)), 30_000);
  const [daily = ''] = await runAll([`npm run -s admin -- database verify --from ${today}`], cwd);
  expect(daily).toContain(`${today} is whole`);
  service.signal('SIGINT');
  expect((await service.ended).code).toBe(0);

  const [restore = ''] = blocksOf('## One file, while the service runs', 'sh');
  const [restored, checked] = await runAll(restore.split('\n').slice(0, 2), cwd);
  expect(restored).toContain('Restored the state of');
  expect(checked).toMatch(/^ok +migrations +complete$/m);
  const again = await npmStart({ DATABASE: 'embedded', DATA_DIR: 'restored' }, { cwd });
  await again.ready;
  const read = (cookie: string) => fetch(`${again.url}${created.headers.get('location')}`, { headers: { cookie } });
  expect((await read(headers.cookie)).status).toBe(401);
  expect((await read(cookieOf(await signIn(again.url)))).status).toBe(200);
  again.signal('SIGINT');
  expect((await again.ended).code).toBe(0);
});

/** A way to bring a server back whose files are lost, as a section of the page has it. */
interface Way {
  title: string;
  /** Puts the addresses of the test into a text of the page. */
  here: (text: string) => string;
  /** Where the restored server has its files. */
  restored: string;
}

const steps = '## Any moment, with your own server';

/** Writes, makes a backup, writes again, loses all files of the server and brings it back to the moment between. */
async function bringBack(postgres: DebianPostgres, { title, here, restored }: Way): Promise<void> {
  const [backup = '', restore = ''] = blocksOf(title, 'sh').map(here);
  const [tell = ''] = blocksOf(steps, 'sh').slice(2);
  await postgres.initialise('primary', here(blocksOf(title, 'ini')[0] ?? ''));
  await postgres.start('primary');
  await migrateDatabase(postgres.url);
  const own = { url: postgres.url, drop: () => Promise.resolve() };
  const service = await TestService.start({}, own);
  const { id } = await service.createUser('ada');
  const session = { cookie: await service.openSession(id) };
  const leaving = { cookie: await service.openSession(id) };
  const caller = { headers: { 'x-api-key': await service.createKey(id) } };
  const create = async (at: TestService, text: string) =>
    (await at.call<Entity>('POST', '/rest/entity/note', { ...caller, json: { text } })).body.key;
  const statusOf = async (at: TestService, key: string, by: object = caller) =>
    (await at.call('GET', `/rest/entity/note/${key}`, by)).status;

  const first = await create(service, 'before the backup');
  await postgres.shell(backup);
  // pgBackRest knows the second in which a backup ended, and restores later ones only.
  const seconds = () => Math.floor(Date.now() / 1_000);
  const ended = seconds();
  await expect.poll(seconds).toBeGreaterThan(ended);
  const second = await create(service, 'before the moment');
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(service.db);
  const moment = rows[0]?.now ?? '';
  const third = await create(service, 'after the moment');
  expect((await service.call('HEAD', '/auth?logout=1', leaving)).status).toBe(204);
  expect(await statusOf(service, third, session)).toBe(200);

  // The server ends as in a crash, once its log is in the archive, and all of its files are lost.
  const switched = await sql<{ file: string }>`select pg_walfile_name(pg_switch_wal()) as file`.execute(service.db);
  const archived = `primary/pg_wal/archive_status/${switched.rows[0]?.file}.done`;
  await vi.waitFor(() => postgres.shell(`test -e ${archived}`), { timeout: 30_000 });
  await postgres.stop('primary', 'immediate');
  await service.stop();
  await postgres.shell('rm -r primary');
  await postgres.shell(
    restore.replace('2026-11-22 21:28:25+00', moment).replace('-w start', '-w -l restored.log start >restored.out 2>&1'),
  );

  const admin = new AdminCommand(postgres.url);
  const taken = new Date(moment).toISOString();
  for (const line of tell.split('\n')) {
    const words = line.replace('npm run -s admin -- ', '').replace('2026-11-22T21:28:25Z', taken).split(' ');
    const { code, stdout, stderr } = await admin.run(words);
    if (words[0] !== 'doctor') expect(code, stdout + stderr).toBe(0);
    else expect(stdout).toMatch(/^ok +migrations +complete$/m);
  }
  const again = await TestService.start({}, own);
  expect(await Promise.all([first, second, third].map((key) => statusOf(again, key)))).toEqual([200, 200, 404]);
  for (const ended of [session, leaving]) expect((await again.call('GET', '/auth', ended)).status).toBe(401);
  expect(BigInt(await create(again, 'new')) - BigInt(third)).toBeGreaterThan(900_000n);
  await again.stop();
  await postgres.stop(restored, 'fast');
}

const why = whyNoDebianPostgres();

test.skipIf(why)(`the steps of docs/backup.md bring an own server back to a moment${why ? `: ${why}` : ''}`, async () => {
  const postgres = await DebianPostgres.create();
  const here = (text: string) => text.replaceAll('/backups/', `${postgres.directory}/`).replaceAll('/srv/', `${postgres.directory}/`);
  await postgres.shell('mkdir wal');
  await bringBack(postgres, { title: steps, here, restored: 'restored' });
});

const whyNot = whyNoPgBackRest();

test.skipIf(whyNot)(`so do those with pgBackRest${whyNot ? `: ${whyNot}` : ''}`, async () => {
  const title = '## Any moment, with pgBackRest';
  const postgres = await DebianPostgres.create();
  const { directory, port } = postgres;
  const configuration = join(directory, 'pgbackrest.conf');
  const here = (text: string) =>
    text
      .replaceAll('/backups/', `${directory}/`)
      .replaceAll('/srv/', `${directory}/`)
      .replaceAll('pgbackrest --', `pgbackrest --config=${configuration} --`);
  const [written = ''] = blocksOf(title, 'text').map(here);
  const lines = [
    written.replace('[global]', `[global]\nlog-path=${directory}\nlock-path=${directory}`).replace('=5432', `=${port}`),
    `pg1-socket-path=${directory}`,
    'pg1-user=postgres',
  ];
  await writeFile(configuration, `${lines.join('\n')}\n`);
  await bringBack(postgres, { title, here, restored: 'primary' });
});
