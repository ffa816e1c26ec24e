/**
 * The package as it would be published: packed, installed into an empty directory without installation scripts, and started with the Node.js of
 * this machine and with Node.js 24. Its packages come from the cache of npm or from the registry.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newDataDir, serverPid } from '../support/embedded.ts';
import { credentialsIn, expectStopped, loginEnvironment, npmStart, signIn } from '../support/start.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

const run = promisify(execFile);
let directory = '';
let archive = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'entity-service-package-'));
  const { stdout } = await run(process.execPath, ['scripts/package/main.ts', '--out', join(directory, 'dist')]);
  archive = stdout.trim();
  await mkdir(join(directory, 'empty'));
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, archive], { cwd: join(directory, 'empty'), env: loginEnvironment() });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const installed = (path: string) => join(directory, 'empty/node_modules', path);
const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;

test('the archive has at most 1,500 kB, no TypeScript, and the versions of the lock file', async () => {
  expect((await stat(archive)).size).toBeLessThan(1_500_000);
  const files = execFileSync('tar', ['tzf', archive], { encoding: 'utf8' }).trim().split('\n');
  expect(files).toEqual(expect.arrayContaining(['package/bin/entity-service.cjs', 'package/src/main.js', 'package/npm-shrinkwrap.json']));
  expect(files.filter((file) => file.endsWith('.ts'))).toEqual([]);
  const lock = (await readJson('package-lock.json'))['packages'] as Record<
    string,
    { version: string; dev?: boolean; link?: boolean; optional?: boolean }
  >;
  const locked = Object.entries(lock).filter(
    ([path, { dev, link, optional }]) => /^node_modules\/(?!.*\/node_modules\/)/.test(path) && !dev && !link && !optional,
  );
  expect(locked.length).toBeGreaterThan(100);
  for (const [path, { version }] of locked)
    expect((await readJson(join(directory, 'empty', path, 'package.json')))['version'], path).toBe(version);
});

test('the package has the documents and the files of deploy/, and no document has a link to what is missing', async () => {
  const root = installed('entity-service');
  const has = (path: string) => existsSync(join(root, path));
  const wanted = [
    'docs/production.md',
    'docs/observability/alerts.yaml',
    'deploy/entity-service.service',
    'deploy/helm/entity-service/Chart.yaml',
  ];
  expect(wanted.filter((path) => !has(path))).toEqual([]);
  const documents = globSync('{*.md,docs/**/*.md,src/client/*.md}', { cwd: root });
  expect(documents).toEqual(expect.arrayContaining(['README.md', join('docs', 'backup.md'), join('src', 'client', 'README.md')]));
  const links = documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, path = '']) =>
      join(document, '..', path),
    ),
  );
  expect(links).toContain(join('docs', 'production.md'));
  expect(links.filter((path) => !has(path))).toEqual([]);
});

test.each([
  ['the Node.js of this machine', () => ''],
  ['Node.js 24', () => `${join(process.execPath, '..')}:`],
])('npx --no entity-service in that directory starts the service with a database of its own, with %s', async (_, first) => {
  const dataDir = await newDataDir();
  const settings = { DATA_DIR: dataDir, PATH: `${first()}${loginEnvironment()['PATH']}`, WORKERS: '2' };
  const service = await npmStart(settings, { cwd: join(directory, 'empty'), command: ['npx', '--no', 'entity-service'] });
  await service.ready;
  const { user, password } = credentialsIn(service.told()) ?? { user: '', password: '' };
  const client = await signIn(service, user, password);
  const { key } = await client.entities('note').create({ text: 'kept' });
  expect((await client.entities('note').get(key)).fields).toEqual({ text: 'kept' });
  expect((await fetch(`${service.url}/docs`)).status).toBe(200);

  const { stdout } = await run('npx', ['--no', 'entity-service', 'admin', 'user', 'list', '--json'], {
    cwd: join(directory, 'empty'),
    env: loginEnvironment(settings),
  });
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'admin' }]);
  service.signal('SIGTERM');
  await service.ended;
  expect(service.log().at(-1)).toMatchObject({ event: 'service.stopped', status: 0 });
  expect(await serverPid(dataDir)).toBeUndefined();
});

test('started by an old Node.js, the command ends with status 0 at SIGTERM to it alone', async () => {
  const dataDir = await newDataDir();
  const command = [installed('.bin/entity-service')];
  const service = await npmStart({ DATA_DIR: dataDir }, { cwd: join(directory, 'empty'), command });
  await service.ready;
  service.signalParent('SIGTERM');
  await expectStopped(service);
  expect(await serverPid(dataDir)).toBeUndefined();
});
