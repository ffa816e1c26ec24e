/** Crashes that do not lose data, and the restart of a lost server. `crashes.test.ts` has those that could lose data. */
import { spawn } from 'node:child_process';
import { rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { connect, isAlive, newDataDir, openUntilDone, serverPid, startService } from '../support/embedded.ts';

/** A cluster that these tests may crash: each begins and ends with its server stopped. */
const sharedDir = await newDataDir(afterAll);
const lockFile = join(sharedDir, 'postgresql/data/postmaster.pid');

test.for(['SIGKILL', 'SIGINT'] as const)('a server that %s ends under an open database comes back at the same address', async (signal) => {
  const database = await openUntilDone(sharedDir);
  const pid = await serverPid(sharedDir);
  await connect(database.url);
  process.kill(pid ?? Number.NaN, signal);

  const isBack = async () => {
    expect(await serverPid(sharedDir)).not.toBe(pid);
    await connect(database.url);
  };
  await vi.waitFor(isBack, { timeout: 10_000 });
});

test('a server that cannot restart reports why, once for each reason, and restarts when it can', async () => {
  const errors: string[] = [];
  const database = await openEmbedded(sharedDir, { onError: ({ message }) => errors.push(message) });
  onTestFinished(() => database.stop());
  const pid = await serverPid(sharedDir);
  const cluster = join(sharedDir, 'postgresql/data');
  await rename(cluster, `${cluster}-aside`);
  process.kill(pid ?? Number.NaN, 'SIGKILL');
  await expect.poll(() => errors, { timeout: 10_000 }).toEqual([expect.stringContaining('ENOENT')]);
  await rename(`${cluster}-aside`, cluster);
  await vi.waitFor(() => connect(database.url), { timeout: 10_000 });
  expect(new Set(errors).size).toBe(errors.length);
});

test('a server without its data directory is lost', async () => {
  const dataDir = await newDataDir();
  const database = await openUntilDone(dataDir);
  const pid = await serverPid(dataDir);
  await rename(join(dataDir, 'postgresql'), join(dataDir, '../taken'));
  process.kill(pid ?? Number.NaN, 'SIGKILL');
  expect((await database.lost).message).toBe(`the data directory ${dataDir} has no database any more`);
});

test('Ctrl-C in the terminal reaches the service, and not its server', async () => {
  const service = startService([sharedDir]);
  expect(await service.next()).toMatchObject({ origin: 'started' });

  service.signal('SIGINT'); // to its process group, as a terminal does
  expect(await service.next()).toEqual({ interrupted: true });
  service.send('query');
  expect(await service.next()).toEqual({ rows: [{ one: 1 }] });

  service.send('stop');
  expect(await service.next()).toEqual({ stopped: true });
});

test('a lock file left by a crash does not stop the start: its process is dead', async () => {
  await (await openUntilDone(sharedDir)).stop();
  const dead = spawn('true');
  await new Promise((resolve) => dead.once('exit', resolve));
  await writeFile(lockFile, lockText(dead.pid));

  expect((await openUntilDone(sharedDir)).origin).toBe('started');
});

test('a lock file left by a crash does not stop the start: its process id now belongs to another program of the same user', async () => {
  await (await openUntilDone(sharedDir)).stop();
  const { uid, gid } = await stat(join(sharedDir, 'postgresql/data'));
  const other = spawn('sleep', ['60'], { uid, gid });
  onTestFinished(() => void other.kill());
  await writeFile(lockFile, lockText(other.pid));

  expect((await openUntilDone(sharedDir)).origin).toBe('started');
  expect(await isAlive(other.pid)).toBe(true);
});

test('a lock file left by a crash does not stop the start: it is empty', async () => {
  await (await openUntilDone(sharedDir)).stop();
  await writeFile(lockFile, '');
  await utimes(lockFile, 0, 0);

  expect((await openUntilDone(sharedDir)).origin).toBe('started');
});

function lockText(pid: number | undefined): string {
  return [pid, join(sharedDir, 'postgresql/data'), 1_700_000_000, 5432, '', '127.0.0.1', '12345 1', 'ready', ''].join('\n');
}
