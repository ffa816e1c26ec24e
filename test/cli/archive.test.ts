/** `database restore` and `database verify` with the directory of an archive, and what `doctor` and the metrics say of it. */
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Check } from '../../src/cli/check.ts';
import { runChecks } from '../../src/cli/doctor.ts';
import { archiveReach, readHistories } from '../../src/embedded/archive/histories.ts';
import { writeReach } from '../../src/embedded/archive/reach.ts';
import { formatLsn, parseLsn } from '../../src/embedded/archive/segments.ts';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { Archive } from '../../src/embedded/archive/archive.ts';
import { AdminCommand, startAdmin } from '../support/admin.ts';
import { connect, newDataDir } from '../support/embedded.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { TestService } from '../support/service.ts';
import { npmStart, reasonsIn } from '../support/start.ts';

const unsafe = { settings: { fsync: 'off' } };
let directory: string;
/** The cookie and the entity of a user before the end of the archive. */
let cookie: string;
let path: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'entity-service-archive-'));
  const database = await openEmbedded(await newDataDir(afterAll), unsafe);
  const archive = new Archive(database.archiveUrl, { directory, days: 7 }, { info: () => undefined, error: () => undefined });
  await migrateDatabase(database.url);
  const service = await TestService.start({}, { url: database.url, drop: async () => undefined });
  await service.createUser('ada');
  cookie = await service.signIn('ada');
  const headers = { cookie, 'content-type': 'application/json' };
  const created = await fetch(`${service.url}/rest/entity/note`, { method: 'POST', headers, body: '{"text":"kept"}' });
  path = created.headers.get('location') ?? '';
  const restorable = async () => {
    const [{ bases, reach } = { bases: [], reach: undefined }] = await readHistories(directory);
    return bases.filter(({ at }) => reach !== undefined && at <= reach.at);
  };
  await vi.waitFor(async () => expect(await restorable()).toHaveLength(1), 30_000);
  for (const text of ['soon', 'last'])
    await fetch(`${service.url}/rest/entity/note`, { method: 'POST', headers, body: `{"text":"${text}"}` });
  await service.close();
  await archive.close();
  await database.stop();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const restore = (words: string[], dataDir: string) =>
  startAdmin(['database', 'restore', '--from', directory, ...words], { environment: { DATABASE: 'embedded', DATA_DIR: dataDir } });

test('the last moment of an archive has the entities and no session, and the key of no entity twice', async () => {
  const dataDir = await newDataDir();
  const run = await restore(['--json'], dataDir);
  expect(run, run.stderr).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^unpacking [^\n]+\nunpacking the log: \d+ segments?\nreplaying the log\nnote: passwords/),
  });
  const reach = (await archiveReach(directory))?.toISOString();
  expect(JSON.parse(run.stdout)).toMatchObject({
    archive: directory,
    dataDir,
    takenAt: reach,
    sessions: 1,
    nextKey: expect.stringMatching(/^10000\d\d$/),
  });
  const database = await openEmbedded(dataDir, unsafe);
  const service = await TestService.start({}, { url: database.url, drop: () => database.stop() });
  onTestFinished(() => service.stop());
  expect((await fetch(`${service.url}${path}`, { headers: { cookie } })).status).toBe(401);
  const again = await service.signIn('ada');
  expect((await fetch(`${service.url}${path}`, { headers: { cookie: again } })).status).toBe(200);
  const events = await service.db.selectFrom('audit_event').select('detail').where('event', '=', 'database.restored').execute();
  expect(events).toMatchObject([{ detail: { takenAt: reach, sessions: 1 } }]);
});

test('verify says which moments there are', async () => {
  const admin = new AdminCommand('postgres://nobody@127.0.0.1:1/none');
  const { histories } = await admin.json<{ histories: unknown[] }>(['database', 'verify', '--from', directory]);
  expect(histories).toMatchObject([{ bases: 1, from: expect.any(String), to: (await archiveReach(directory))?.toISOString() }]);
  expect(await admin.say(['database', 'verify', '--from', directory])).toContain(
    `${directory} is whole. Any moment from FROM to TO can be restored.`,
  );
});

test('verify names the base whose files are cut short', async () => {
  const copy = await mkdtemp(join(tmpdir(), 'entity-service-archive-'));
  onTestFinished(() => rm(copy, { recursive: true }));
  await cp(directory, copy, { recursive: true });
  const [{ bases: [base] } = { bases: [] }] = await readHistories(copy);
  const file = join(base?.path ?? '', 'base.tar.gz');
  const bytes = await readFile(file);
  await writeFile(file, bytes.subarray(0, bytes.length / 2));
  const admin = new AdminCommand('postgres://nobody@127.0.0.1:1/none');
  expect(await admin.refusal(['database', 'verify', '--from', copy])).toBe(`${file} is damaged: unexpected end of file`);
});

test('what cannot be restored is refused before anything is made', async () => {
  const dataDir = await newDataDir();
  const refusal = async (words: string[], code = 1) => {
    const run = await restore(words, dataDir);
    expect(run).toMatchObject({ code, stdout: '' });
    return run.stderr;
  };
  expect(await refusal(['--until', '2020-01-01T00:00:00Z'])).toMatch(
    /^error: .* does not have the moment 2020-01-01T00:00:00\.000Z: it has .* to .*\n$/,
  );
  expect(await refusal(['--until', 'noon'], 2)).toContain('Give a time such as 2026-11-22T21:28:25Z.');
  expect(await refusal(['--until', '2999-01-01T00:00:00Z'], 2)).toContain('This time is not over yet.');
  const own = new AdminCommand('postgres://nobody@127.0.0.1:1/none');
  expect(await own.refusal(['database', 'restore', '--from', directory])).toMatch(/^an archive is restored into an embedded database/);
  const empty = await mkdtemp(join(tmpdir(), 'entity-service-archive-'));
  onTestFinished(() => rm(empty, { recursive: true }));
  expect(await own.refusal(['database', 'verify', '--from', empty])).toBe(`${empty} has nothing that can be restored`);
  const file = join(empty, 'monday.backup');
  await writeFile(file, '');
  expect(await own.refusal(['database', 'restore', '--from', file, '--until', '2020-01-01T00:00:00Z'], '', 2)).toBe(
    `--until is for an archive, and ${file} is no directory`,
  );
});

/** The only history. Its `reach` gets back its content after the test. */
async function onlyHistory(): Promise<string> {
  const [{ path: history } = { path: '' }] = await readHistories(directory);
  const text = await readFile(join(history, 'reach'));
  onTestFinished(() => writeFile(join(history, 'reach'), text));
  return history;
}

/** The check of the archive by `doctor`. */
async function diagnose(ARCHIVE_DIR: string): Promise<Check | undefined> {
  const checks = await runChecks(() => ({ DATA_DIR: join(ARCHIVE_DIR, 'data'), ARCHIVE_DIR }));
  return checks.find(({ name }) => name === 'archive');
}

test('the start refuses an archive of another database, and doctor one of two', async () => {
  const service = await npmStart({ DATA_DIR: await newDataDir(), ARCHIVE_DIR: directory });
  await expect(service.ready).rejects.toThrow();
  expect(reasonsIn(service.told())).toEqual([
    `- ARCHIVE_DIR: ${directory} has the log of another database: give each database a directory of its own`,
  ]);
  expect(await readdir(directory)).toHaveLength(1);

  const foreign = join(directory, '1-20260101T000000Z');
  onTestFinished(() => rm(foreign, { recursive: true }));
  await mkdir(foreign);
  expect(await diagnose(directory)).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('has the logs of several databases'),
  });
});

test('verify, restore and doctor name the file that says how far the log goes, if it is damaged', async () => {
  const file = join(await onlyHistory(), 'reach');
  const whole = await readFile(file);
  const own = new AdminCommand('postgres://nobody@127.0.0.1:1/none');
  const oneByte = Buffer.from(whole);
  oneByte[3] = (oneByte[3] ?? 0) ^ 1;
  for (const damaged of [oneByte, whole.subarray(0, 10), Buffer.alloc(0), Buffer.alloc(whole.length)]) {
    await writeFile(file, damaged);
    expect(await own.refusal(['database', 'verify', '--from', directory])).toContain(`${file} is damaged`);
    const dataDir = await newDataDir();
    expect(await restore([], dataDir)).toMatchObject({ code: 1, stderr: expect.stringContaining(`${file} is damaged`) });
    expect(await readdir(dataDir).catch(() => [])).toEqual([]);
    expect(await diagnose(directory)).toMatchObject({ status: 'fail', message: expect.stringContaining(`${file} is damaged`) });
  }
  await rm(file);
  await mkdir(file);
  onTestFinished(() => rm(file, { recursive: true }));
  expect(await own.refusal(['database', 'verify', '--from', directory])).toContain(`${file} cannot be read: `);
});

test('verify checks the other histories too if a file that says how far the log goes is damaged or missing', async () => {
  const [history] = await readHistories(directory);
  if (!history) throw new TypeError('nothing was archived');
  const both = await mkdtemp(join(tmpdir(), 'entity-service-archive-'));
  onTestFinished(() => rm(both, { recursive: true }));
  const [older, newer] = [`${history.systemId}-20200101T000000Z`, basename(history.path)].map((name) => join(both, name)) as [
    string,
    string,
  ];
  for (const copy of [older, newer]) await cp(history.path, copy, { recursive: true });
  await rename(join(older, basename(history.bases[0]?.path ?? '')), join(older, 'base-20200101T000001Z'));
  const own = new AdminCommand('postgres://nobody@127.0.0.1:1/none');
  const file = join(older, 'reach');
  await rm(file);
  expect(await own.refusal(['database', 'verify', '--from', both])).toBe(`${file} is missing`);
  await writeFile(file, '');
  const manifest = join(newer, basename(history.bases[0]?.path ?? ''), 'backup_manifest');
  await writeFile(manifest, '');
  const refusal = await own.refusal(['database', 'verify', '--from', both]);
  expect(refusal).toContain(`${file} is damaged; ${manifest}`);
});

test('a flipped byte of the last segment is found by verify and by a restore, which makes nothing and says what can be restored', async () => {
  const [{ segments, reach } = { segments: [], reach: undefined }] = await readHistories(directory);
  const { path: file = '', isWhole } = segments.at(-1) ?? {};
  expect(isWhole).toBe(false);
  const bytes = await readFile(file);
  onTestFinished(() => writeFile(file, bytes));
  const damaged = Buffer.from(bytes);
  damaged[bytes.lastIndexOf('last')] = 'L'.charCodeAt(0);
  await writeFile(file, damaged);
  const own = new AdminCommand('postgres://nobody@127.0.0.1:1/none');
  expect(await own.refusal(['database', 'verify', '--from', directory])).toContain(`${file} is damaged`);

  const dataDir = await newDataDir();
  const refused = await restore([], dataDir);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  const [, end, goal, until = ''] =
    /error: the replay of \S+ ended at (\S+), and its log goes to (\S+): a part of it is damaged\. "--until (\S+)" restores/.exec(
      refused.stderr,
    ) ?? [];
  expect([refused.stderr, goal]).toEqual([expect.stringContaining(directory), formatLsn(reach?.lsn ?? 0n)]);
  expect(parseLsn(end ?? '')).toBeLessThan(reach?.lsn ?? 0n);
  expect(await readdir(dataDir)).toEqual([]);

  expect(await restore(['--until', until], dataDir)).toMatchObject({ code: 0, stderr: expect.stringContaining('warning: the replay of') });
  const database = await openEmbedded(dataDir, unsafe);
  const client = await connect(database.url);
  const { rows } = await client.query("select fields->>'text' as text from entity order by key");
  await client.end();
  await database.stop();
  expect(rows).toEqual([{ text: 'kept' }, { text: 'soon' }]);
});

test('doctor warns of an archive that is behind or empty, and a metric has the moment', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'entity-service-archive-'));
  onTestFinished(() => rm(empty, { recursive: true }));
  expect(await diagnose(empty)).toMatchObject({ status: 'warn', message: expect.stringContaining(`nothing in ${empty}`) });
  const history = await onlyHistory();
  await writeReach(history, { at: new Date(), lsn: 0n, checksum: 0 });
  expect(await diagnose(directory)).toMatchObject({ status: 'ok', message: expect.stringContaining('has every moment until') });
  await writeReach(history, { at: new Date('2020-01-01T00:00:00Z'), lsn: 0n, checksum: 0 });
  expect(await diagnose(directory)).toMatchObject({ status: 'warn', message: expect.stringContaining('"event":"archive"') });
  const service = await TestService.start({ METRICS_TOKEN: metricsToken, ARCHIVE_DIR: directory });
  onTestFinished(() => service.stop());
  const page = await scrape(service.url);
  expect(page.value('entity_service_archive_reach_timestamp_seconds')).toBe(Date.parse('2020-01-01T00:00:00Z') / 1_000);
});
