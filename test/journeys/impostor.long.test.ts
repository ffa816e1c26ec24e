/** Another program takes the port of the embedded PostgreSQL when that dies. */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isAlive, newDataDir, serverPid, startService, type ServiceProcess } from '../support/embedded.ts';
import { credentialsIn, expectStopped, npmStart, signIn, type Started } from '../support/start.ts';

// Each start creates a database on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const project = join(import.meta.dirname, '../..');
const nobody = { uid: 65534, gid: 65534 };
/** Only root can run a program as another user, and that user must be able to read the project. */
const canBeNobody = process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], { ...nobody, cwd: project }).status === 0;
const identity = canBeNobody ? nobody : {};

interface Impostor extends ServiceProcess {
  /** Its events so far. */
  events: Record<string, unknown>[];
}

/** Waits for the server's port in this directory. */
async function startImpostor(dataDir: string): Promise<Impostor> {
  const cluster = join(dataDir, 'postgresql/data');
  const port = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[3] ?? '';
  const script = join(project, 'test/support/impostor.ts');
  // Only the server's own user may listen at its socket path.
  const socketPath = canBeNobody ? [`${cluster}/.s.PGSQL.${port}`] : [];
  const impostor = startService([port, ...socketPath], { ...identity, script, cwd: '/' });
  const events = [await impostor.next()];
  void (async () => {
    for await (const event of impostor.rest()) events.push(event);
  })();
  return Object.assign(impostor, { events });
}

const hasPort = ({ events }: Impostor) => events.some(({ port, outcome }) => port !== undefined && outcome === 'listening');
const readyStatus = ({ url }: Started) =>
  fetch(`${url}/health/ready`).then(
    ({ status }) => status,
    () => 0,
  );

/** The tests ask for the state of the service more often than the limit of an address allows. */
async function startIn(dataDir: string): Promise<Started> {
  const service = await npmStart({ DATA_DIR: dataDir, RATE_LIMIT: 'off' });
  await service.ready;
  return service;
}

/** Kills the server until the impostor has its port: the process that listens first gets it. */
async function killUntilTaken(dataDir: string, impostor: Impostor): Promise<void> {
  await vi.waitFor(
    async () => {
      const pid = await serverPid(dataDir);
      if (!hasPort(impostor) && (await isAlive(pid))) process.kill(pid ?? Number.NaN, 'SIGKILL');
      expect(hasPort(impostor)).toBe(true);
    },
    { timeout: 30_000 },
  );
}

/** A data directory whose path is too long for a Unix socket. */
const newLongDataDir = async () => join(await newDataDir(), 'long'.repeat(20), 'data');

test('no other program gets a connection in the place of a killed server, and the service is ready again (rule 91)', async () => {
  const dataDir = await newDataDir();
  const service = await startIn(dataDir);
  const { user, password } = credentialsIn(service.told()) ?? { user: '', password: '' };
  const impostor = await startImpostor(dataDir);
  const pid = await serverPid(dataDir);
  process.kill(pid ?? Number.NaN, 'SIGKILL');

  await vi.waitFor(async () => expect(await serverPid(dataDir)).not.toBe(pid), { timeout: 20_000 });
  await expect.poll(() => readyStatus(service), { timeout: 20_000 }).toBe(200);
  await signIn(service, user, password);
  expect(impostor.events).not.toContainEqual({ connected: true });
  if (canBeNobody) {
    expect(impostor.events).toContainEqual({ path: join(dataDir, 'postgresql/data/.s.PGSQL.5432'), outcome: 'EACCES' });
  }
  service.signal('SIGTERM');
  await expectStopped(service);
});

test('with a path too long for a socket, a program that takes the port gets no password, and the service recovers (rule 91)', async () => {
  const dataDir = await newLongDataDir();
  onTestFinished(() => stopServerIn(dataDir));
  const service = await startIn(dataDir);
  const impostor = await startImpostor(dataDir);
  await killUntilTaken(dataDir, impostor);

  await vi.waitFor(async () => {
    await readyStatus(service);
    expect(impostor.events.some(({ received, closed }) => received ?? closed)).toBe(true);
  }, 10_000);
  expect(impostor.events.filter(({ received }) => received)).toEqual([]);
  impostor.signal('SIGKILL');
  await expect.poll(() => readyStatus(service), { timeout: 20_000 }).toBe(200);
  service.signal('SIGTERM');
  await expectStopped(service);
});

test('when another program stays on the port, the service ends with the reason, and a new start works (rule 91)', async () => {
  const dataDir = await newLongDataDir();
  onTestFinished(() => stopServerIn(dataDir));
  const service = await startIn(dataDir);
  const impostor = await startImpostor(dataDir);
  await killUntilTaken(dataDir, impostor);
  expect(await service.ended).toMatchObject({ code: 1, signal: null });
  expect(service.told()).toMatch(/entity-service: the service stops, because its database is lost:\nentity-service: .*could not bind/);

  const next = await startIn(dataDir);
  expect(await readyStatus(next)).toBe(200);
  expect(impostor.events.filter(({ received }) => received)).toEqual([]);
  next.signal('SIGTERM');
  await expectStopped(next);
});

/** Stops a server that a failed test has left running. */
async function stopServerIn(dataDir: string): Promise<void> {
  const pid = await serverPid(dataDir);
  if (await isAlive(pid)) process.kill(pid ?? Number.NaN, 'SIGQUIT');
}
