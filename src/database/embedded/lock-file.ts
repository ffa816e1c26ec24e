/**
 * Who holds the cluster: PostgreSQL's lock file, and whether the process it names is that server.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { readPassword, scratchPath } from './cluster.ts';
import type { Layout } from './cluster.ts';
import { join } from './membership.ts';
import { findProcess } from './process.ts';

export interface Server {
  pid: number;
  port: number;
  /** By its own account. It can still refuse: recovering after the crash of one of its processes it says nothing here. */
  ready: boolean;
}

/** A server writes its lock file at once; one that has been empty for longer was cut off by a crash. */
const emptyLockMilliseconds = 5000;

const lockFile = (layout: Layout) => `${layout.cluster}/postmaster.pid`;

/** PostgreSQL's lock file: the process number in line 1, the port in line 4, the state in line 8. */
async function readLock(layout: Layout): Promise<(Server & { text: string }) | undefined> {
  const text = await readFile(lockFile(layout), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  return { text, pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
}

/** The server that lives in the cluster, whatever state it is in. A lock file is no proof: its process may be dead, or another program's. */
export async function findServer(layout: Layout): Promise<Server | undefined> {
  const lock = await readLock(layout);
  if (!lock) return undefined;
  const found = await findProcess(lock.pid);
  if (!found) return undefined;
  if (found.command.includes(await clusterMark(layout))) return lock;
  // Started by hand, without our mark? Then it answers to the password.
  if (basename(found.command.split(' ')[0] ?? '') !== 'postgres' || !lock.port) return undefined;
  const membership = await join(lock.port, await readPassword(layout)).catch(() => undefined);
  await membership?.end();
  return membership && lock;
}

/** Stands in the server's command line and tells it from every other PostgreSQL on the machine. */
export async function clusterMark(layout: Layout): Promise<string> {
  const { dev, ino } = await stat(layout.cluster, { bigint: true });
  return `entity-service-${dev}-${ino}`;
}

/** The port of a server that did not end cleanly: the pools of living processes still look for it there. */
export async function lastPort(layout: Layout): Promise<number | undefined> {
  return (await readLock(layout))?.port || undefined;
}

/**
 * Moves a lock file out of the way that PostgreSQL would respect for ever although no server stands behind it: one whose process number now
 * belongs to another program of the same user, and one left empty by a power failure.
 * Even if it were wrong about that, the server's second lock, on its shared memory, keeps another server off.
 */
export async function discardStrayLock(layout: Layout): Promise<void> {
  const lock = await readLock(layout);
  if (!lock) return;
  if (lock.text.trim() === '') {
    if (Date.now() - (await stat(lockFile(layout))).mtimeMs < emptyLockMilliseconds) return;
  } else if (!(await findProcess(lock.pid)) || (await findServer(layout))) return;

  const aside = `${await scratchPath(layout, 'starting')}${randomUUID()}.pid`;
  try {
    await rename(lockFile(layout), aside);
    // Between reading and moving, a rival may have put its own lock there: it gets that back.
    if ((await readFile(aside, 'utf8')) !== lock.text) await rename(aside, lockFile(layout));
    else await rm(aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
