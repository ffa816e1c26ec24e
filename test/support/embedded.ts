/** Data directories and stand-ins for service processes, for the tests of the embedded database. Both are removed when the test is over. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import { openEmbedded, type EmbeddedDatabase } from '../../src/embedded/embedded.ts';
import { findProcess } from '../../src/embedded/process.ts';
import { reapAfter } from './server-reaper.ts';

const project = join(import.meta.dirname, '../..');

/** A directory that does not exist yet, below one that only this user may enter. Pass `afterAll` for one that a whole file shares. */
export async function newDataDir(whenDone: (cleanUp: () => Promise<void>) => void = onTestFinished): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'entity-service-embedded-'));
  const dataDir = join(parent, 'data');
  const callOff = reapAfter(parent);
  whenDone(async () => {
    await stopServer(dataDir);
    await rm(parent, { recursive: true, force: true, maxRetries: 5 });
    callOff();
  });
  return dataDir;
}

/** The PostgreSQL server's process id from its own lock file; undefined after a clean stop, or if it never ran. */
export async function serverPid(dataDir: string): Promise<number | undefined> {
  const lock = await readFile(join(dataDir, 'postgresql/data/postmaster.pid'), 'utf8').catch(() => undefined);
  return lock === undefined ? undefined : Number(lock.split('\n')[0]);
}

/** Whether a process with that id runs; false for a zombie that its parent has not yet collected. */
export async function isAlive(pid: number | undefined): Promise<boolean> {
  return pid !== undefined && (await findProcess(pid)) !== undefined;
}

/** Processes that a failed test has left running. */
async function stopServer(dataDir: string): Promise<void> {
  const pid = await serverPid(dataDir);
  if (!(await isAlive(pid))) return;
  await (await openEmbedded(dataDir)).stop();
}

/** Opens the embedded database, and stops it when the test is over. */
export async function openUntilDone(dataDir: string): Promise<EmbeddedDatabase> {
  const database = await openEmbedded(dataDir);
  onTestFinished(() => database.stop());
  return database;
}

/** A copy of what the embedded database needs of the project, below a directory that only its owner can enter. `whatElse` are more paths. */
export async function copyOfProject(whatElse: string[]): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'entity-service-closed-'));
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  for (const path of [
    'src/database',
    'src/embedded',
    'src/config',
    'src/json/parse-json.ts',
    'test/support/embedded-process.ts',
    'package.json',
    ...whatElse,
  ]) {
    await cp(join(project, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
  }
  await mkdir(join(copy, 'node_modules'), { recursive: true });
  await symlink(join(project, 'node_modules/pg'), join(copy, 'node_modules/pg'));
  return copy;
}

export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {}); // the server stops and kills it
  await client.connect();
  onTestFinished(() => client.end().catch(() => {}));
  return client;
}

export interface ServiceProcess {
  pid: number;
  /** The next line of its output; rejects when it ends without another line. */
  next(): Promise<Record<string, unknown>>;
  /** The lines before its end. */
  rest(): AsyncIterable<Record<string, unknown>>;
  send(command: string): void;
  signal(signal: NodeJS.Signals): void;
  ended: Promise<unknown>;
}

const script = join(import.meta.dirname, 'embedded-process.ts');

/** A process that opens the embedded database (`embedded-process.ts`), in a process group of its own as a terminal would give it. */
export function startService(args: string[], options: { uid?: number; gid?: number; script?: string; cwd?: string } = {}): ServiceProcess {
  const { script: file = script, ...spawnOptions } = options;
  const child = spawn(process.execPath, [file, ...args], { ...spawnOptions, detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const events = eventsOf(child.stdout);
  const ended = once(child, 'exit');
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, name);
  };
  child.stdin.on('error', () => {});
  onTestFinished(() => signal('SIGKILL'));
  return {
    pid: child.pid ?? 0,
    async next() {
      const { value, done } = await events.next();
      if (done) throw new Error('the process ended without another line');
      return value;
    },
    rest: () => events,
    send: (command) => child.stdin.write(`${command}\n`),
    signal,
    ended,
  };
}

async function* eventsOf(output: Readable): AsyncGenerator<Record<string, unknown>, undefined> {
  for await (const line of createInterface(output)) yield JSON.parse(line) as Record<string, unknown>;
  return undefined;
}
