import { spawn } from 'node:child_process';
import { readdir, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import type { EmbeddedDatabase } from '../../../src/database/embedded/embedded.ts';
import { connect, isAlive, newDataDir, serverPid, startService } from '../../support/embedded.ts';

async function open(dataDir: string): Promise<EmbeddedDatabase> {
  const database = await openEmbedded(dataDir);
  onTestFinished(() => database.stop());
  return database;
}

/** A cluster that these tests may crash: each begins and ends with its server stopped. */
const sharedDir = await newDataDir(afterAll);
const lockFile = join(sharedDir, 'postgresql/data/postmaster.pid');

/** Runs a service that writes rows and is killed meanwhile. Returns the number of rows that it reported as committed. */
async function writeUntilKilled(table: string, kill: (service: { signal(signal: 'SIGKILL'): void }) => Promise<void>): Promise<number> {
  const service = startService([sharedDir]);
  await service.next();
  service.send(`write ${table}`);
  let written = 0;
  while (written < 200) written = Number((await service.next())['written']);
  await kill(service);
  await service.ended;
  // The process is killed a moment after its server and may still report the loss.
  for await (const event of service.rest()) written = Number(event['written'] ?? written);
  return written;
}

test('the next process joins the server of a killed one, finds every acknowledged row and stops it (rule 91)', async () => {
  const written = await writeUntilKilled('after_kill', async (service) => service.signal('SIGKILL'));
  const orphan = await serverPid(sharedDir);
  expect(await isAlive(orphan)).toBe(true);

  const database = await open(sharedDir);
  expect(database.origin).toBe('joined');
  const client = await connect(database.url);
  expect((await client.query('select count(*)::int as rows from after_kill where number <= $1', [written])).rows).toEqual([
    { rows: written },
  ]);

  await database.stop();
  expect(await isAlive(orphan)).toBe(false);
});

test('after a kill of the process and the server, the next start recovers every acknowledged row', async () => {
  const written = await writeUntilKilled('after_crash', async (service) => {
    process.kill((await serverPid(sharedDir)) ?? Number.NaN, 'SIGKILL');
    service.signal('SIGKILL');
  });

  const database = await open(sharedDir);
  expect(database.origin).toBe('started');
  const client = await connect(database.url);
  expect((await client.query('select count(*)::int as rows from after_crash where number <= $1', [written])).rows).toEqual([
    { rows: written },
  ]);
});

test.for(['SIGKILL', 'SIGINT'] as const)('a server that %s ends under an open database comes back at the same address', async (signal) => {
  const database = await open(sharedDir);
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
  const database = await open(dataDir);
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

test('a killed first start leaves no partial database, and the next one creates the database (rule 91)', async () => {
  const dataDir = await newDataDir();
  const service = startService([dataDir]);
  const half = await vi.waitFor(async () => {
    const name = (await readdir(dataDir)).find((name) => name.startsWith('building-')) ?? '';
    await stat(join(dataDir, name, 'data/base'));
    return name;
  }, 10_000);
  process.kill(service.pid, 'SIGKILL'); // the process alone: PostgreSQL's initdb continues
  await service.ended;
  expect(await readdir(dataDir)).toEqual([half]);

  expect((await open(dataDir)).origin).toBe('created');
  expect(await readdir(dataDir)).toEqual(['postgres.log', 'postgresql']);
});

test('a lock file left by a crash does not stop the start: its process is dead', async () => {
  await (await open(sharedDir)).stop();
  const dead = spawn('true');
  await new Promise((resolve) => dead.once('exit', resolve));
  await writeFile(lockFile, lockText(dead.pid));

  expect((await open(sharedDir)).origin).toBe('started');
});

test('a lock file left by a crash does not stop the start: its process id now belongs to another program of the same user', async () => {
  await (await open(sharedDir)).stop();
  const { uid, gid } = await stat(join(sharedDir, 'postgresql/data'));
  const other = spawn('sleep', ['60'], { uid, gid });
  onTestFinished(() => void other.kill());
  await writeFile(lockFile, lockText(other.pid));

  expect((await open(sharedDir)).origin).toBe('started');
  expect(await isAlive(other.pid)).toBe(true);
});

test('a lock file left by a crash does not stop the start: it is empty', async () => {
  await (await open(sharedDir)).stop();
  await writeFile(lockFile, '');
  await utimes(lockFile, 0, 0);

  expect((await open(sharedDir)).origin).toBe('started');
});

function lockText(pid: number | undefined): string {
  return [pid, join(sharedDir, 'postgresql/data'), 1_700_000_000, 5432, '', '127.0.0.1', '12345 1', 'ready', ''].join('\n');
}
