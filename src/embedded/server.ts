/**
 * Finds, starts and stops the PostgreSQL server of a data directory. `membership.ts` decides which process may stop it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isSameAddress, nameOfAddress, type ServerAddress } from './address.ts';
import { readPassword } from './cluster.ts';
import type { DataLayout } from './cluster.ts';
import { freePort, startServer } from './launch.ts';
import type { Launch, Launcher } from './launch.ts';
import { discardStrayLocks, findServer, lastTcpAddress } from './lock-file.ts';
import { joinCluster } from './membership.ts';
import type { Membership } from './membership.ts';
import { findProcess } from './process.ts';

const pollIntervalMs = 20;
/** Recovery after a crash can take minutes. A server that needs longer continues alone, and the next start joins it. */
const startLimitMs = 300_000;
/** For how long a start is repeated after a transient failure: a port in use, another server, the last processes of a killed server. */
const transientFailureLimitMs = 10_000;
const stopLimitMs = 60_000;

export interface Reached {
  membership: Membership;
  address: ServerAddress;
  /** Whether this call started the server, rather than found it running. */
  launched: boolean;
}

/** The address for the server: a required one, to which existing connections return; or a preferred one, or any. */
export type ServerPlace =
  { required: ServerAddress; preferred?: undefined } | { required?: undefined; preferred: ServerAddress | undefined };

/** The server cannot listen at the required address: another program uses it, or the server was started again at another one. */
export class AddressLostError extends Error {
  override readonly name = 'AddressLostError';
}

/**
 * Finds the server of the data directory or starts it, and becomes a member. If several processes do this at once, PostgreSQL's own lock allows
 * one server, and the others join it.
 *
 * @throws AddressLostError when the server is not at the required address: at once when it listens at another, after ten seconds when it
 *   cannot listen there. Error with one line for a person, which quotes the server's log, when it does not start. The reason of `signal` when
 *   that fires before: a server that this call has started is stopped.
 */
export async function reachServer(
  layout: DataLayout,
  launcher: () => Promise<Launcher>,
  { preferred, required }: ServerPlace,
  signal?: AbortSignal,
): Promise<Reached> {
  const began = Date.now();
  let launch: Launch | undefined;
  let failingSince: number | undefined;
  while (Date.now() - began < startLimitMs) {
    if (signal?.aborted) {
      await launch?.stop();
      throw signal.reason;
    }
    const server = await findServer(layout);
    if (server) {
      if (required && server.ready && !isSameAddress(server.address, required)) {
        await launch?.discard();
        throw moved(layout, server.address, required);
      }
      const membership = server.ready ? await joinCluster(layout, server.address, await readPassword(layout)) : undefined;
      if (membership) {
        const launched = launch?.pid === server.pid;
        await (launched ? launch?.keepLog() : launch?.discard());
        return { membership, address: server.address, launched };
      }
    } else if (!launch || launch.ended()) {
      const reason = await launch?.reason();
      if (launch && reason && reason.kind !== 'stopped') {
        failingSince ??= Date.now();
        if (reason.kind === 'failure' || Date.now() - failingSince > transientFailureLimitMs) {
          await launch.keepLog();
          const text = `The embedded PostgreSQL in ${layout.dataDir} does not start: ${reason.text} (log: ${layout.logFile})`;
          throw required && reason.kind === 'address' ? new AddressLostError(text) : new Error(text);
        }
      }
      await launch?.discard();
      const first = reason?.kind === 'address' ? undefined : (preferred ?? (await lastTcpAddress(layout)));
      const address = required ?? first ?? { kind: 'tcp', port: await freePort() };
      await discardStrayLocks(layout);
      launch = await startServer(layout, await launcher(), address);
    }
    await delay(pollIntervalMs);
  }
  throw new Error(
    `The embedded PostgreSQL in ${layout.dataDir} is not ready after ${startLimitMs / 1000} s and goes on starting; see ${layout.logFile}.`,
  );
}

function moved({ dataDir }: DataLayout, found: ServerAddress, required: ServerAddress): AddressLostError {
  return new AddressLostError(
    `The embedded PostgreSQL in ${dataDir} was started again on ${nameOfAddress(found)}, and this process looks for it on ${nameOfAddress(required)}`,
  );
}

/** Ends the membership, and stops the server if this was the last member. Resolves when the server has stopped in that case. */
export async function leaveServer(layout: DataLayout, current: Membership | undefined): Promise<void> {
  const deadline = Date.now() + stopLimitMs;
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
        membership = undefined; // The connection has ended: the server has died, or it recovers and can be joined again soon.
      }
    }
    await delay(pollIntervalMs);
  }
  throw new Error(`The embedded PostgreSQL in ${layout.dataDir} is still stopping after ${stopLimitMs / 1000} s; see ${layout.logFile}.`);
}

async function joinRunning(layout: DataLayout): Promise<Membership | undefined> {
  const server = await findServer(layout);
  return server && joinCluster(layout, server.address, await readPassword(layout));
}
