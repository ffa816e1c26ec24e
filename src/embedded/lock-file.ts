/**
 * PostgreSQL's lock file of the cluster, and whether the process that it names is the server.
 */
import { randomUUID } from 'node:crypto';
import { lstat, rename, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { socketPath, type ServerAddress } from './address.ts';
import { readClusterFile } from './cluster-files.ts';
import { readPassword, scratchPath } from './cluster.ts';
import type { DataLayout } from './cluster.ts';
import { joinCluster } from './membership.ts';
import { findProcess } from './process.ts';

export interface Server {
  pid: number;
  address: ServerAddress;
  /** As the server says. It may still refuse connections: a recovery after the crash of a process does not show here. */
  ready: boolean;
}

/** A server writes its lock file at once. A file that has been empty for longer is the remains of a crash. */
const emptyLockMs = 5000;

const lockFile = ({ cluster }: DataLayout) => `${cluster}/postmaster.pid`;

/** Undefined also for a lock file that cannot be read: PostgreSQL says why when it is started. */
const read = (path: string) => readClusterFile(path).catch(() => undefined);

/** PostgreSQL's lock file: the process number in line 1, the port in line 4, the directory of the socket in line 5, the state in line 8. */
async function readLock(layout: DataLayout): Promise<Server | undefined> {
  const text = await read(lockFile(layout));
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const kind = lines[4] === '.' ? 'socket' : 'tcp';
  return { pid: Number(lines[0]), address: { kind, port: Number(lines[3]) }, ready: lines[7]?.trim() === 'ready' };
}

/** The server that runs on the cluster, in whatever state. The lock file alone is no proof: its process may be dead or another program. */
export async function findServer(layout: DataLayout): Promise<Server | undefined> {
  const lock = await readLock(layout);
  if (!lock) return undefined;
  const found = await findProcess(lock.pid);
  if (!found) return undefined;
  if (found.command.includes(await clusterMark(layout))) return lock;
  // A server that was started by hand has no mark, but accepts the password.
  if (basename(found.command.split(' ')[0] ?? '') !== 'postgres' || !lock.address.port) return undefined;
  const membership = await joinCluster(layout, lock.address, await readPassword(layout)).catch(() => undefined);
  await membership?.end();
  return membership && lock;
}

/** A mark in the server's command line, which distinguishes it from other PostgreSQL servers on the machine. */
export async function clusterMark(layout: DataLayout): Promise<string> {
  const { dev, ino } = await stat(layout.cluster, { bigint: true });
  return `entity-service-${dev}-${ino}`;
}

/** The TCP port of a server that did not end cleanly: the pools of living processes still connect to it. */
export async function lastTcpAddress(layout: DataLayout): Promise<ServerAddress | undefined> {
  const address = (await readLock(layout))?.address;
  return address?.kind === 'tcp' && address.port ? address : undefined;
}

/**
 * Renames stale lock files, of the cluster and of the socket, which PostgreSQL would respect for ever: those whose process number now belongs to
 * another program of the same user, and those left empty by a power failure. If the check were wrong, the server's second lock, on its shared
 * memory, would still prevent a second server.
 */
export async function discardStrayLocks(layout: DataLayout): Promise<void> {
  for (const path of [lockFile(layout), `${socketPath(layout)}.lock`]) await discardStrayLock(layout, path);
}

async function discardStrayLock(layout: DataLayout, path: string): Promise<void> {
  const text = await read(path);
  if (text === undefined) return;
  if (text.trim() === '') {
    if (Date.now() - (await lstat(path)).mtimeMs < emptyLockMs) return;
  } else if (!(await findProcess(Number(text.split('\n')[0]))) || (await findServer(layout))) return;

  const aside = `${await scratchPath(layout, 'starting')}${randomUUID()}.pid`;
  try {
    await rename(path, aside);
    // Between reading and renaming, another server may have created its own lock file: that one is put back.
    if ((await read(aside)) !== text) await rename(aside, path);
    else await rm(aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
