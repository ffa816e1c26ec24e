/** The limit of the operating system on the open files of a process, of which each connection is one. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { processConnections } from '../config/network-settings.ts';

/** Files that are not connections of clients: those of Node.js, the database, issuers, and what is read and written. */
const mostReserved = 128;

/** The files that this process may open; undefined where the system does not say, and without a limit. Node.js raises it to the hard limit. */
export function readOpenFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** The files of a process with this limit that no connection of a client takes. */
export const reservedFiles = (limit: number): number => Math.min(mostReserved, Math.ceil(limit / 4));

/**
 * Whether the connection takes one of the reserved files. The system gives the lowest free number, so each lower number is in use. False where the number is
 * unknown: Node.js has it on other systems than Windows.
 */
export function takesReservedFile(socket: Socket, limit: number | undefined): boolean {
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } | null };
  return limit !== undefined && (handle?.fd ?? 0) >= limit - reservedFiles(limit);
}

/** For the operator: what too low a limit means, and the remedy; undefined if all connections have room. */
export function openFilesAdvice(limit: number | undefined): string | undefined {
  if (limit === undefined || limit - reservedFiles(limit) >= processConnections) return undefined;
  return (
    `a process may open ${limit} files, so it has less than ${limit - reservedFiles(limit)} connections of clients instead of ${processConnections}: ` +
    `allow ${processConnections + mostReserved * 2} (ulimit -n, LimitNOFILE= of systemd, ulimits of a container)`
  );
}
