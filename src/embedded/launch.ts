/**
 * Starts a server process on the cluster without waiting for the result, and stores its log.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { completeAccess } from './access.ts';
import { inDirectory } from './account.ts';
import type { SystemAccount } from './account.ts';
import type { ServerAddress } from './address.ts';
import type { Binaries } from './binaries.ts';
import { readPassword, scratchPath } from './cluster.ts';
import type { DataLayout } from './cluster.ts';
import { clusterMark } from './lock-file.ts';

/** PostgreSQL's settings by name. */
export type ServerSettings = Record<string, string>;

export interface Launcher {
  binaries: Binaries;
  account: SystemAccount;
  settings: ServerSettings;
}

export interface Launch {
  pid: number;
  ended(): boolean;
  /** The reason of its end, as one line from its log. */
  reason(): Promise<Reason>;
  /** Moves the log to its documented place. */
  keepLog(): Promise<void>;
  /** Waits for the end of a server that was not needed, and deletes its log. */
  discard(): Promise<void>;
  /** Stops a server that is still starting, waits for its end and deletes its log. */
  stop(): Promise<void>;
}

export interface Reason {
  text: string;
  /** `stopped`: cleanly, by another member. `address`: it cannot listen there. `rival`: another server has the cluster, or its remains. */
  kind: 'stopped' | 'address' | 'rival' | 'failure';
}

/**
 * Starts PostgreSQL without waiting for it. The process gets a session of its own, so that Ctrl-C in the terminal reaches the service only: the
 * service needs its database to finish its requests.
 */
export async function startServer(layout: DataLayout, { binaries, account, settings }: Launcher, address: ServerAddress): Promise<Launch> {
  await completeAccess(layout.cluster, account, binaries.postgres, await readPassword(layout));
  const all: ServerSettings = {
    port: String(address.port),
    listen_addresses: address.kind === 'tcp' ? '127.0.0.1' : '',
    // The server's working directory is the cluster, so its path is short and passes no directory that the account cannot enter.
    unix_socket_directories: address.kind === 'socket' ? '.' : '',
    unix_socket_permissions: '0700',
    max_connections: '200',
    fsync: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The service gets the errors of statements. In the log they would take space and repeat values of rows.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    // What the server keeps for an archive that does not receive the log, so that its disk does not become full.
    max_slot_wal_keep_size: '4GB',
    idle_replication_slot_timeout: '1d',
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
  const endWith = (text: string) => {
    ended = true;
    resolve(text);
  };
  child.on('error', (error) => endWith(error.message));
  child.on('exit', (code, signal) => endWith(code === 0 ? '' : `it ended with ${code ?? signal}`));
  child.unref();
  await log.close();
  const discard = async () => {
    child.ref(); // Otherwise this process could end while it waits.
    await end;
    await rm(logPath, { force: true });
  };
  return {
    pid: child.pid ?? 0,
    ended: () => ended,
    async reason() {
      const exit = await end;
      return exit === '' ? { kind: 'stopped', text: 'it was stopped' } : explain(await readFile(logPath, 'utf8'), exit);
    },
    keepLog: () => rename(logPath, layout.logFile),
    discard,
    async stop() {
      child.kill('SIGINT'); // PostgreSQL's fast shutdown
      await discard();
    },
  };
}

function explain(log: string, exit: string): Reason {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.filter((line) => /FATAL|PANIC|ERROR|DETAIL|HINT|could not/.test(line));
  const text = (telling.length > 0 ? telling : lines)
    .slice(-4)
    .map((line) => line.replace(/^[-\d]+ [:.\d]+ UTC \[\d+\] /, '').trim())
    .join(' ');
  if (/could not (bind|create any (TCP|Unix))/.test(text)) return { kind: 'address', text };
  return /lock file .*(already exists|is empty)|shared memory block .* still in use/.test(text)
    ? { kind: 'rival', text }
    : { kind: 'failure', text: text || exit };
}

/** A port of the loopback address on which no program listens at this moment. */
export async function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.on('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    server.close(() => resolve(port));
  });
  return promise;
}
