import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Client } from 'pg';
import { directus } from '../../scripts/bench/peers/directus.ts';
import { parseServer } from '../../scripts/bench/peers/parse-server.ts';
import { startThrowAwayServer } from '../support/global-setup.ts';

const timeout = 300_000;

/** A separate server: other test files measure on the suite's server, and create databases with these names. */
let server: Awaited<ReturnType<typeof startThrowAwayServer>>;
beforeAll(async () => {
  server = await startThrowAwayServer();
});
afterAll(() => server.stop());

async function benchDatabases(): Promise<string[]> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<{ datname: string }>(`select datname from pg_database where datname like 'entity_service_bench_%'`);
  await client.end();
  return rows.map(({ datname }) => datname);
}

function startBench(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['scripts/bench/main.ts', ...args], {
    env: { ...process.env, DATABASE_URL: server.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-peers-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Runs the bench with peers, with its own cache and temporary directories; npm reaches no registry. */
async function benchWithPeers() {
  const [cache, temporary] = await Promise.all([newDirectory(), newDirectory()]);
  const env = {
    XDG_CACHE_HOME: cache,
    TMPDIR: temporary,
    npm_config_cache: temporary,
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_fetch_retries: '0',
  };
  const start = () => startBench(['--peers', '--only', 'get-entity-by-key'], env);
  return { installations: join(cache, 'entity-service/peers'), temporary, start };
}

/** Installs a program in the place where the bench expects Parse Server. */
async function installInstead(installations: string, program: string): Promise<void> {
  const [first, second] = [parseServer, directus].map(({ package: { name, version } }) => join(installations, `${name}-${version}`));
  const bin = join(String(first), 'node_modules/parse-server/bin');
  await Promise.all([mkdir(bin, { recursive: true }), mkdir(String(second), { recursive: true })]);
  await writeFile(join(bin, 'parse-server'), program);
}

test('the bench measures service and limit, and all answers are 2xx', { timeout }, async () => {
  const bench = startBench(['--only', 'get-entity-by-key', '--seconds', '0.2', '--rounds', '2', '--connections', '4', '--json']);
  const [output, errors, [code]] = await Promise.all([text(bench.stdout), text(bench.stderr), once(bench, 'exit')]);
  expect(code, errors).toBe(0);
  const figures = {
    answers: expect.toSatisfy((answers: number) => answers > 0),
    refused: 0,
    requestsPerSecond: expect.toSatisfy((rate: number) => rate > 0),
    p50: expect.any(Number),
    p99: expect.any(Number),
  };
  expect(JSON.parse(output)).toMatchObject({
    machine: { cores: expect.any(Number), node: process.version, postgres: expect.stringMatching(/^\d+\.\d+/) },
    plan: { rounds: 2, seconds: 0.2, connections: 4, logLevel: 'info', lean: false },
    startUp: [{ name: 'start on a running database', milliseconds: expect.any(Number) }],
    comparisons: [{ name: 'get-entity-by-key', connections: 4, service: figures, limit: figures, ratio: expect.any(Number) }],
  });
  expect(await benchDatabases()).toEqual([]);
});

test('Ctrl-C in the middle of a round leaves no process and no database behind', { timeout }, async () => {
  const bench = startBench(['--only', 'get-entity-by-key', '--seconds', '100']);
  const ended = once(bench, 'exit');
  for await (const line of createInterface(bench.stderr)) if (line === 'get-entity-by-key: warm-up') break;
  expect(await benchDatabases()).toHaveLength(1);
  const servers = execFileSync('pgrep', ['-P', String(bench.pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);
  expect(servers).toHaveLength(2);
  bench.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  for (const pid of servers) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(await benchDatabases()).toEqual([]);
});

test('an unknown option or name is reported on standard error, with exit code 2', { timeout }, async () => {
  const bench = startBench(['--only', 'get-entity-by-telepathy']);
  const [errors, [code]] = await Promise.all([text(bench.stderr), once(bench, 'exit')]);
  expect(code).toBe(2);
  expect(errors).toContain('get-entity-by-telepathy');
});

test('a peer that cannot be installed is reported with npm’s message and exit code 1, and leaves nothing behind', { timeout }, async () => {
  const { installations, start } = await benchWithPeers();
  const bench = start();
  const [errors, [code]] = await Promise.all([text(bench.stderr), once(bench, 'exit')]);
  expect(code).toBe(1);
  expect(errors).toMatch(/Parse Server \d+\.\d+\.\d+ could not be installed:\n.*ECONNREFUSED/s);
  expect(await readdir(installations)).toEqual([]);
});

test('a peer that does not start is reported with the end of its output, and leaves nothing behind', { timeout }, async () => {
  const { installations, temporary, start } = await benchWithPeers();
  await installInstead(installations, `console.log('listening to nobody'); console.error('no such setting'); process.exitCode = 1;`);
  const bench = start();
  const [errors, [code]] = await Promise.all([text(bench.stderr), once(bench, 'exit')]);
  expect(code).toBe(1);
  expect(errors).toMatch(/Parse Server \d+\.\d+\.\d+ did not start:\n/);
  expect(errors).toContain('listening to nobody');
  expect(errors).toContain('no such setting');
  expect(await benchDatabases()).toEqual([]);
  expect(await readdir(temporary)).toEqual([]);
});

test('Ctrl-C while a peer starts leaves no process, no database and no file behind', { timeout }, async () => {
  const { installations, temporary, start } = await benchWithPeers();
  const listener = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void listener.close());
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  await installInstead(installations, `require('node:net').connect(${port}, '127.0.0.1');`);
  const bench = start();
  const [peer] = (await once(listener, 'connection')) as [Socket];
  expect(await benchDatabases()).toHaveLength(2);
  const peerEnded = once(peer.resume(), 'close');
  const ended = once(bench, 'exit');
  bench.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  await peerEnded;
  expect(await benchDatabases()).toEqual([]);
  expect(await readdir(temporary)).toEqual([]);
});
