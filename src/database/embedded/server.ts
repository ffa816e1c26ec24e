/**
 * The running PostgreSQL server of a data directory: finding it, starting it, stopping it. Who may stop it is decided in `membership.ts`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { readPassword } from './cluster.ts';
import type { Layout } from './cluster.ts';
import { freePort, startServer } from './launch.ts';
import type { Launch, Launcher } from './launch.ts';
import { discardStrayLock, findServer, lastPort } from './lock-file.ts';
import { join } from './membership.ts';
import type { Membership } from './membership.ts';
import { findProcess } from './process.ts';

const pollMilliseconds = 20;
/** Recovery after a crash can take minutes. A server that needs longer is left to it, and the next start joins it. */
const startLimitMilliseconds = 300_000;
/** How long a start is tried again that failed for a reason which passes: a port just taken, a rival, a killed server's last processes. */
const retryMilliseconds = 10_000;
const stopLimitMilliseconds = 60_000;

export interface Reached {
  membership: Membership;
  port: number;
  /** Whether this call started the server, rather than found it running. */
  launched: boolean;
}

/**
 * Finds the server of the data directory or starts it, and becomes a member. Of several processes that do this at once PostgreSQL's own lock
 * lets one server live; the others join it. A server that ended cleanly has left no port behind: `formerPort` is where the caller knew it.
 *
 * @throws Error with one line for a person, which quotes the server's log.
 */
export async function reachServer(layout: Layout, launcher: () => Promise<Launcher>, formerPort?: number): Promise<Reached> {
  const began = Date.now();
  let launch: Launch | undefined;
  let failingSince: number | undefined;
  while (Date.now() - began < startLimitMilliseconds) {
    const server = await findServer(layout);
    if (server) {
      const membership = server.ready ? await join(server.port, await readPassword(layout)) : undefined;
      if (membership) {
        const launched = launch?.pid === server.pid;
        await (launched ? launch?.keepLog() : launch?.discard());
        return { membership, port: server.port, launched };
      }
    } else if (!launch || launch.ended()) {
      const reason = await launch?.reason();
      if (launch && reason && reason.kind !== 'stopped') {
        failingSince ??= Date.now();
        if (reason.kind === 'failure' || Date.now() - failingSince > retryMilliseconds) {
          await launch.keepLog();
          throw new Error(`The embedded PostgreSQL in ${layout.dataDir} does not start: ${reason.text} (log: ${layout.logFile})`);
        }
      }
      await launch?.discard();
      const port = (reason?.kind === 'port' ? undefined : ((await lastPort(layout)) ?? formerPort)) ?? (await freePort());
      await discardStrayLock(layout);
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
  let stopping: number | undefined;
  while (Date.now() < deadline) {
    const pid: number | undefined = stopping ?? (await findServer(layout))?.pid;
    if (pid === undefined || !(await findProcess(pid))) return;
    if (stopping === undefined) {
      membership ??= await joinRunning(layout);
      try {
        if (membership && !(await membership.release())) return await membership.end();
        if (membership) {
          process.kill(pid, 'SIGINT'); // PostgreSQL's fast shutdown
          stopping = pid;
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

async function joinRunning(layout: Layout): Promise<Membership | undefined> {
  const server = await findServer(layout);
  return server && join(server.port, await readPassword(layout));
}
