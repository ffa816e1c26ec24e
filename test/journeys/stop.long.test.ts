/** Every way of stopping, with one worker and with two. The ways that matter most are in `stop.test.ts`. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Client } from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { connect, isAlive, newDataDir, serverPid, startService } from '../support/embedded.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { leftovers } from '../support/leftovers.ts';
import { loginEnvironment, npmStart, primaryOf, project, workersOf } from '../support/start.ts';
import { StopTrial, terminate } from '../support/stop.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });
const patient = { interval: 5, timeout: 20_000 };

/** Makes each process of the service throw an error as of the database, outside of any request, when it receives SIGUSR2. */
const throwing = {
  NODE_OPTIONS:
    '--import=data:text/javascript,process.on(%22SIGUSR2%22,()=>{throw(Object.assign(Error(%22quo%22.concat(%22ted%22)),{code:%2223505%22,severity:%22ERROR%22}))})',
};

/** The lock for migrations, taken on a running server whose process was killed. The next service joins that server. */
async function lockMigrations(dataDir: string): Promise<Client> {
  const killed = startService([dataDir]);
  const { url } = await killed.next();
  killed.signal('SIGKILL');
  await killed.ended;
  const client = await connect(String(url));
  await client.query('select pg_advisory_lock(3853314791062309107)');
  return client;
}

/** Whether a migrator tries to get the lock. */
async function isAwaited(client: Client): Promise<boolean> {
  return (await client.query(`select from pg_stat_activity where application_name = 'entity-service migrate'`)).rowCount === 1;
}

describe.skipIf(!existsSync('/proc/self/stat')).each(['1', '2'])('with WORKERS=%s the embedded PostgreSQL stops', (WORKERS) => {
  const trial = new StopTrial(WORKERS);

  test.runIf(WORKERS === '1')('at SIGTERM to the process group', async () => {
    const service = await trial.ready();
    service.signal('SIGTERM');
    await trial.expectGone(service, 'SIGTERM');
  });

  test('at SIGTERM to the primary process alone', async () => {
    const service = await trial.ready();
    await terminate(service);
    await trial.expectGone(service, 'SIGTERM');
  });

  test('at Ctrl-C twice', async () => {
    const service = await trial.ready();
    service.signal('SIGINT');
    service.signal('SIGINT');
    await trial.expectGone(service, 'SIGINT');
  });

  test.skipIf(spawnSync('script', ['--version']).status !== 0)('when its terminal is closed', async () => {
    const env = loginEnvironment({ DATA_DIR: trial.dataDir, WORKERS, PORT: String(await fixedPort()) });
    const terminal = spawn('script', ['-qfc', 'npm start', '/dev/null'], { cwd: project, env });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    for await (const data of terminal.stdout) if (String(data).includes('Press Ctrl-C')) break;
    expect(await leftovers(trial.dataDir)).toContain('postmaster.pid');
    terminal.kill('SIGKILL');
    await expect.poll(() => leftovers(trial.dataDir), patient).toEqual([]);
  });

  test('after a fault of the primary process, with status 1, and the log has no value of a row (rule 84)', async () => {
    const service = await trial.ready(throwing);
    process.kill(await primaryOf(service), 'SIGUSR2');
    await trial.expectGone(service, 'fault', { status: 1 });
    expect(service.log()).toContainEqual(
      expect.objectContaining({ event: 'service.stop', err: expect.objectContaining({ message: 'SQL state 23505' }) }),
    );
    expect(JSON.stringify(service.log())).not.toContain('quoted');
  });

  test('after a start that failed, with status 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const service = await npmStart({ DATA_DIR: trial.dataDir, WORKERS }, { port: (other.address() as AddressInfo).port });
    await trial.expectGone(service, 'start-failed', { status: 1 });
  });

  test('at SIGTERM as soon as the process runs', async () => {
    const service = await trial.start();
    await expect.poll(() => primaryOf(service), patient).toBeGreaterThan(0);
    await terminate(service);
    await service.ended;
    expect(await leftovers(trial.dataDir)).toEqual([]);
  });

  test('at SIGTERM while the database is being created', async () => {
    const dataDir = await newDataDir();
    const service = await trial.start(dataDir);
    const unfinished = async () => (await readdir(dataDir).catch(() => [])).find((name) => name.startsWith('building-')) ?? '';
    await expect.poll(async () => existsSync(join(dataDir, await unfinished(), 'data/base')), patient).toBe(true);
    await terminate(service);
    await trial.expectGone(service, 'SIGTERM', { dataDir });
    expect(await readdir(dataDir)).toEqual([]);
  });

  test.runIf(WORKERS === '2')('at SIGTERM while it starts', async () => {
    const service = await trial.start();
    await expect.poll(() => serverPid(trial.dataDir), patient).toBeDefined();
    await terminate(service);
    await trial.expectGone(service, 'SIGTERM');
  });

  test('at SIGTERM while a migration runs', async () => {
    const dataDir = await newDataDir();
    const lock = await lockMigrations(dataDir);
    const service = await trial.start(dataDir);
    await expect.poll(() => isAwaited(lock), patient).toBe(true);
    await terminate(service);
    await trial.expectGone(service, 'SIGTERM', { dataDir });
  });

  test('with the next service, if the primary process was killed with -9', async () => {
    const killed = await trial.ready();
    const server = await serverPid(trial.dataDir);
    process.kill(await primaryOf(killed), 'SIGKILL');
    await killed.ended;
    expect(await isAlive(server)).toBe(true);

    const next = await trial.ready();
    expect(await serverPid(trial.dataDir)).toBe(server);
    await terminate(next);
    await trial.expectGone(next, 'SIGTERM');
  });

  test.runIf(WORKERS === '2')('at SIGTERM to a worker first, then to the primary process', async () => {
    const service = await trial.ready();
    process.kill((await workersOf(service))[0] ?? 0, 'SIGTERM');
    await expect.poll(() => service.log().map(({ event }) => event)).toContain('worker.lost');
    await terminate(service);
    await trial.expectGone(service, 'SIGTERM');
  });

  test.runIf(WORKERS === '2')('at SIGTERM after all workers have died, which are replaced', async () => {
    const service = await trial.ready();
    for (const pid of await workersOf(service)) process.kill(pid, 'SIGKILL');
    await expect.poll(() => service.log().filter(({ event }) => event === 'worker.replaced').length, patient).toBe(2);
    await terminate(service);
    await trial.expectGone(service, 'SIGTERM');
  });

  test.runIf(WORKERS === '2')('at SIGTERM with a worker that does not respond, which is killed, with status 1', async () => {
    const service = await trial.ready();
    const [frozen = 0] = await workersOf(service);
    process.kill(frozen, 'SIGSTOP');
    await terminate(service);
    await trial.expectGone(service, 'SIGTERM', { status: 1 });
    expect(service.told()).toContain('stopping failed: not done in time: stop the last worker');
  });
});
