/**
 * The running PostgreSQL server of a data directory: finding it, starting it, stopping it. Who may stop it is decided in `membership.ts`.
 */
import { spawn } from 'node:child_process';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { inDirectory } from './account.ts';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { readPassword, scratchPath } from './cluster.ts';
import type { Layout } from './cluster.ts';
import { join } from './membership.ts';
import type { Membership } from './membership.ts';
import { findProcess } from './process.ts';

const pollMilliseconds = 20;
/** Recovery after a crash can take minutes. A server that needs longer is left to it, and the next start joins it. */
const startLimitMilliseconds = 300_000;
/** How long a start is tried again that failed for a reason which passes: a port just taken, a rival, a killed server's last processes. */
const retryMilliseconds = 10_000;
const stopLimitMilliseconds = 60_000;

/** PostgreSQL's settings by name. */
export type Settings = Record<string, string>;

export interface Launcher {
  binaries: Binaries;
  account: Account;
  settings: Settings;
}

interface Server {
  pid: number;
  port: number;
}

export interface Reached {
  membership: Membership;
  port: number;
  /** Whether this call started the server, rather than found it running. */
  launched: boolean;
}

/**
 * Finds the server of the data directory or starts it, and becomes a member. Of several processes that do this at once PostgreSQL's own lock
 * lets one server live; the others join it.
 *
 * @throws Error with one line for a person, which quotes the server's log.
 */
export async function reachServer(layout: Layout, launcher: () => Promise<Launcher>): Promise<Reached> {
  const began = Date.now();
  let launch: Launch | undefined;
  let portRefused = false;
  while (Date.now() - began < startLimitMilliseconds) {
    const server = await findServer(layout);
    if (server) {
      const membership = await join(server.port, await readPassword(layout));
      if (membership) {
        const launched = launch?.pid === server.pid;
        await (launched ? launch?.keepLog() : launch?.discard());
        return { membership, port: server.port, launched };
      }
    } else if (!launch || launch.ended()) {
      if (launch) {
        const reason = await launch.failure();
        portRefused = /could not (bind|create any TCP)/.test(reason);
        const passing = portRefused || /lock file .*(already exists|is empty)|shared memory block .* still in use/.test(reason);
        await (passing && Date.now() - began < retryMilliseconds ? launch.discard() : launch.fail(reason));
      }
      const port = (portRefused ? undefined : await lastPort(layout)) ?? (await freePort());
      await discardForeignLock(layout);
      launch = await startServer(layout, await launcher(), port);
    }
    await delay(pollMilliseconds);
  }
  throw new Error(
    `The embedded PostgreSQL in ${layout.dataDir} is not ready after ${startLimitMilliseconds / 1000} s and goes on starting; see ${layout.logFile}.`,
  );
}

/** Ends the membership, and the server too when nobody else is a member. Returns when the server is down, where it was ours to stop. */
export async function leaveServer(layout: Layout, current: Membership | undefined): Promise<void> {
  const deadline = Date.now() + stopLimitMilliseconds;
  let membership = current;
  let stopping = false;
  while (Date.now() < deadline) {
    const server = await findServer(layout);
    if (!server) return;
    if (!stopping) {
      membership ??= await join(server.port, await readPassword(layout));
      try {
        if (membership && !(await membership.release())) return await membership.end();
        if (membership) {
          process.kill(server.pid, 'SIGINT'); // PostgreSQL's fast shutdown
          stopping = true;
        }
      } catch {
        membership = undefined; // the connection is gone: the server has died, or is recovering and can be joined again soon
      }
    }
    await delay(pollMilliseconds);
  }
  throw new Error(
    `The embedded PostgreSQL in ${layout.dataDir} is still stopping after ${stopLimitMilliseconds / 1000} s; see ${layout.logFile}.`,
  );
}

const lockFile = (layout: Layout) => `${layout.cluster}/postmaster.pid`;

/** PostgreSQL's lock file: the process number in line 1, the port in line 4. */
async function readLock(layout: Layout): Promise<{ text: string; pid: number; port: number } | undefined> {
  const text = await readFile(lockFile(layout), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  return { text, pid: Number(lines[0]), port: Number(lines[3]) };
}

/** The server that lives in the cluster, whatever state it is in. A lock file is no proof: its process may be dead, or another program's. */
async function findServer(layout: Layout): Promise<Server | undefined> {
  const lock = await readLock(layout);
  if (!lock) return undefined;
  const found = await findProcess(lock.pid);
  if (!found) return undefined;
  if (found.command.includes(await clusterMark(layout))) return { pid: lock.pid, port: lock.port };
  // Started by hand, without our mark? Then it answers to the password.
  if (basename(found.command.split(' ')[0] ?? '') !== 'postgres' || !lock.port) return undefined;
  const membership = await join(lock.port, await readPassword(layout)).catch(() => undefined);
  await membership?.end();
  return membership && { pid: lock.pid, port: lock.port };
}

/** Stands in the server's command line and tells it from every other PostgreSQL on the machine. */
async function clusterMark(layout: Layout): Promise<string> {
  const { dev, ino } = await stat(layout.cluster, { bigint: true });
  return `entity-service-${dev}-${ino}`;
}

async function lastPort(layout: Layout): Promise<number | undefined> {
  return (await readLock(layout))?.port || undefined;
}

/**
 * Moves a lock file out of the way whose process is alive but not the server. PostgreSQL itself only sees that some process of this user has
 * that number, and would refuse to start. Even if a server had begun meanwhile, its lock on the shared memory would still keep another off.
 */
async function discardForeignLock(layout: Layout): Promise<void> {
  const lock = await readLock(layout);
  if (!lock || !(await findProcess(lock.pid)) || (await findServer(layout))) return;
  const aside = await scratchPath(layout, 'starting').then((path) => `${path}${randomUUID()}.pid`);
  await rename(lockFile(layout), aside).catch(() => {});
  const moved = await readFile(aside, 'utf8').catch(() => undefined);
  if (moved !== undefined && moved !== lock.text)
    await rename(aside, lockFile(layout)); // a rival's new lock: give it back
  else await rm(aside, { force: true });
}

async function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.on('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    server.close(() => resolve(port));
  });
  return promise;
}

interface Launch {
  pid: number;
  ended(): boolean;
  /** What the log says of a failed start, as one line. */
  failure(): Promise<string>;
  keepLog(): Promise<void>;
  discard(): Promise<void>;
  fail(reason: string): Promise<never>;
}

/**
 * Starts PostgreSQL without waiting for it. It gets a session of its own: Ctrl-C in the terminal reaches the service alone, which still needs
 * its database to finish what it is doing.
 */
async function startServer(layout: Layout, { binaries, account, settings }: Launcher, port: number): Promise<Launch> {
  const all: Settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    fsync: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // What goes wrong in a statement is told to the service; the log would grow with it, and repeat values of rows.
    log_min_messages: 'log',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    cluster_name: await clusterMark(layout),
    ...settings,
  };
  const { pgdata, options } = inDirectory(account, layout.cluster);
  const args = ['-D', pgdata, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const logPath = `${await scratchPath(layout, 'starting')}${randomUUID()}.log`;
  const log = await open(logPath, 'wx', 0o600);
  const child = spawn(binaries.postgres, args, { ...options, detached: true, stdio: ['ignore', log.fd, log.fd] });
  const { promise: end, resolve } = Promise.withResolvers<string>();
  let ended = false;
  child.on('error', (error) => {
    ended = true;
    resolve(error.message);
  });
  child.on('exit', (code, signal) => {
    ended = true;
    resolve(`the server ended with ${code ?? signal}`);
  });
  child.unref();
  await log.close();
  return {
    pid: child.pid ?? 0,
    ended: () => ended,
    async failure() {
      const exit = await end;
      const lines = (await readFile(logPath, 'utf8')).split('\n').filter((line) => line.trim() !== '');
      const telling = lines.filter((line) => /FATAL|PANIC|ERROR|HINT|could not/.test(line));
      return (
        (telling.length > 0 ? telling : lines)
          .slice(-4)
          .map((line) => line.replace(/^[-\d]+ [:.\d]+ UTC \[\d+\] /, '').trim())
          .join(' ') || exit
      );
    },
    keepLog: () => rename(logPath, layout.logFile),
    async discard() {
      await end;
      await rm(logPath, { force: true });
    },
    async fail(reason) {
      await rename(logPath, layout.logFile);
      throw new Error(`The embedded PostgreSQL in ${layout.dataDir} does not start: ${reason} (log: ${layout.logFile})`);
    },
  };
}
