import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { connect, isAlive, newDataDir, serverPid, startService } from '../support/embedded.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { leftovers } from '../support/leftovers.ts';
import { loginEnvironment, npmStart, primaryOf, project, workersOf, type Started } from '../support/start.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });
const patient = { interval: 5, timeout: 20_000 };

/** Makes each process of the service throw an error as of the database, outside of any request, when it receives SIGUSR2. */
const throwing = {
  NODE_OPTIONS:
    '--import=data:text/javascript,process.on(%22SIGUSR2%22,()=>{throw(Object.assign(Error(%22quo%22.concat(%22ted%22)),{code:%2223505%22,severity:%22ERROR%22}))})',
};

let sharedDir = '';
beforeAll(async () => {
  sharedDir = await newDataDir(afterAll);
});

/** Kysely's lock for migrations, taken on a running server whose process was killed. The next service joins that server. */
async function lockMigrations(dataDir: string): Promise<Client> {
  const killed = startService([dataDir]);
  const { url } = await killed.next();
  killed.signal('SIGKILL');
  await killed.ended;
  const client = await connect(String(url));
  await client.query('select pg_advisory_lock(3853314791062309107)');
  return client;
}

async function isAwaited(client: Client): Promise<boolean> {
  return (await client.query(`select from pg_locks where locktype = 'advisory' and not granted`)).rowCount === 1;
}

/** Waits for the end of the service. Nothing is left of it then, and its log has the reason. */
async function expectGone(service: Started, reason: string, { status = 0, dataDir = sharedDir } = {}): Promise<void> {
  expect((await service.ended).code, service.told()).toBe(status);
  expect(await leftovers(dataDir)).toEqual([]);
  const level = ['start-failed', 'fault', 'database-lost'].includes(reason) ? 'fatal' : 'info';
  expect(service.log().filter(({ event }) => String(event).startsWith('service.sto'))).toEqual([
    expect.objectContaining({ level, event: 'service.stop', reason }),
    expect.objectContaining({ level: 'info', event: 'service.stopped', status, durationMs: expect.any(Number) }),
  ]);
}

describe.skipIf(!existsSync('/proc/self/stat')).each(['1', '2'])('with WORKERS=%s the embedded PostgreSQL stops', (WORKERS) => {
  const start = (dataDir = sharedDir, settings = {}) => npmStart({ DATA_DIR: dataDir, WORKERS, ...settings });
  const terminate = async (service: Started) => process.kill(await primaryOf(service), 'SIGTERM');

  async function ready(settings = {}): Promise<Started> {
    const service = await start(sharedDir, settings);
    await service.ready;
    expect(await leftovers(sharedDir)).toEqual(expect.arrayContaining(['postmaster.pid', '.s.PGSQL.5432']));
    return service;
  }

  test('at SIGTERM to the process group (rule 92)', async () => {
    const service = await ready();
    service.signal('SIGTERM');
    await expectGone(service, 'SIGTERM');
    const started = { event: 'service.start', version: expect.any(String), workers: Number(WORKERS) };
    expect(service.log()).toContainEqual(expect.objectContaining(started));
  });

  test('at SIGTERM to the primary process alone', async () => {
    const service = await ready();
    await terminate(service);
    await expectGone(service, 'SIGTERM');
  });

  test('at Ctrl-C twice', async () => {
    const service = await ready();
    service.signal('SIGINT');
    service.signal('SIGINT');
    await expectGone(service, 'SIGINT');
  });

  test.skipIf(spawnSync('script', ['--version']).status !== 0)('when its terminal is closed', async () => {
    const env = loginEnvironment({ DATA_DIR: sharedDir, WORKERS, PORT: String(await fixedPort()) });
    const terminal = spawn('script', ['-qfc', 'npm start', '/dev/null'], { cwd: project, env });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    for await (const data of terminal.stdout) if (String(data).includes('Press Ctrl-C')) break;
    expect(await leftovers(sharedDir)).toContain('postmaster.pid');
    terminal.kill('SIGKILL');
    await expect.poll(() => leftovers(sharedDir), patient).toEqual([]);
  });

  test('after a fault of the primary process, with status 1, and the log has no value of a row (rule 84)', async () => {
    const service = await ready(throwing);
    process.kill(await primaryOf(service), 'SIGUSR2');
    await expectGone(service, 'fault', { status: 1 });
    expect(service.log()).toContainEqual(
      expect.objectContaining({ event: 'service.stop', err: expect.objectContaining({ message: 'SQL state 23505' }) }),
    );
    expect(JSON.stringify(service.log())).not.toContain('quoted');
  });

  test('after a start that failed, with status 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const service = await npmStart({ DATA_DIR: sharedDir, WORKERS }, { port: (other.address() as AddressInfo).port });
    await expectGone(service, 'start-failed', { status: 1 });
  });

  test('at SIGTERM as soon as the process runs', async () => {
    const service = await start();
    await expect.poll(() => primaryOf(service), patient).toBeGreaterThan(0);
    await terminate(service);
    await service.ended;
    expect(await leftovers(sharedDir)).toEqual([]);
  });

  test('at SIGTERM while the database is being created', async () => {
    const dataDir = await newDataDir();
    const service = await start(dataDir);
    const unfinished = async () => (await readdir(dataDir).catch(() => [])).find((name) => name.startsWith('building-')) ?? '';
    await expect.poll(async () => existsSync(join(dataDir, await unfinished(), 'data/base')), patient).toBe(true);
    await terminate(service);
    await expectGone(service, 'SIGTERM', { dataDir });
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('at SIGTERM while it starts', async () => {
    const service = await start();
    await expect.poll(() => serverPid(sharedDir), patient).toBeDefined();
    await terminate(service);
    await expectGone(service, 'SIGTERM');
  });

  test('at SIGTERM while a migration runs', async () => {
    const dataDir = await newDataDir();
    const lock = await lockMigrations(dataDir);
    const service = await start(dataDir);
    await expect.poll(() => isAwaited(lock), patient).toBe(true);
    await terminate(service);
    await expectGone(service, 'SIGTERM', { dataDir });
  });

  test('with the next service, if the primary process was killed with -9', async () => {
    const killed = await ready();
    const server = await serverPid(sharedDir);
    process.kill(await primaryOf(killed), 'SIGKILL');
    await killed.ended;
    expect(await isAlive(server)).toBe(true);

    const next = await ready();
    expect(await serverPid(sharedDir)).toBe(server);
    await terminate(next);
    await expectGone(next, 'SIGTERM');
  });

  test.runIf(WORKERS === '2')('at SIGTERM to a worker first, then to the primary process', async () => {
    const service = await ready();
    process.kill((await workersOf(service))[0] ?? 0, 'SIGTERM');
    await expect.poll(() => service.log().map(({ event }) => event)).toContain('worker.lost');
    await terminate(service);
    await expectGone(service, 'SIGTERM');
  });

  test.runIf(WORKERS === '2')('at SIGTERM after all workers have died, which are replaced', async () => {
    const service = await ready();
    for (const pid of await workersOf(service)) process.kill(pid, 'SIGKILL');
    await expect.poll(() => service.log().filter(({ event }) => event === 'worker.replaced').length, patient).toBe(2);
    await terminate(service);
    await expectGone(service, 'SIGTERM');
  });

  test.runIf(WORKERS === '2')('at SIGTERM with a worker that does not respond, which is killed, with status 1', async () => {
    const service = await ready();
    const [frozen = 0] = await workersOf(service);
    process.kill(frozen, 'SIGSTOP');
    await terminate(service);
    await expectGone(service, 'SIGTERM', { status: 1 });
    expect(service.told()).toContain('stopping failed: not done in time: stop the last worker');
  });
});
