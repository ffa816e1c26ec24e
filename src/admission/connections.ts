/**
 * The limits on open connections (rule 80): one for the process, and a lower one for each address, so that one client cannot take all of
 * them. Connections from this machine and from trusted proxies belong to many clients. They count for the process alone. A process that may open few files
 * closes connections before it has none left: without a file it could accept none, and could not even say so.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { addressGroup, addressIn } from '../network/address.ts';
import { takesReservedFile } from './open-files.ts';

/** The connections of a server. */
export interface Connections {
  readonly open: number;
  /** The number of those that were closed at once, by the limit that they exceeded. */
  readonly refused: Readonly<Record<ConnectionLimit, number>>;
}

type ConnectionLimit = 'address' | 'process' | 'files';

interface ConnectionLimits {
  process: number;
  /** Of an IPv4 address, or of an IPv6 /64. 0: no such limit. */
  address: number;
  /** CIDR ranges of the trusted proxies. */
  trustProxy: readonly string[];
  /** The files that the process may open; undefined if that is unknown. */
  openFiles?: number | undefined;
}

/** Called with the limit that a new connection exceeded, and with its address. */
type OnRefused = (limit: ConnectionLimit, address: string) => void;

const loopback = ['127.0.0.0/8', '::1'];

/** Closes each new connection to `server` that exceeds one of `limits`. Call it before the server listens. */
export function limitConnections(server: Server, limits: ConnectionLimits, onRefused: OnRefused): Connections {
  const isShared = addressIn([...loopback, ...limits.trustProxy]);
  const openOfAddress = new Map<string, number>();
  const connections = { open: 0, refused: { address: 0, process: 0, files: 0 } };
  const exceededBy = (socket: Socket, group: string | undefined): ConnectionLimit | undefined => {
    if (connections.open >= limits.process) return 'process';
    if (takesReservedFile(socket, limits.openFiles)) return 'files';
    return group !== undefined && (openOfAddress.get(group) ?? 0) >= limits.address ? 'address' : undefined;
  };
  const count = (group: string | undefined, change: number) => {
    connections.open += change;
    if (group === undefined) return;
    const open = (openOfAddress.get(group) ?? 0) + change;
    if (open === 0) openOfAddress.delete(group);
    else openOfAddress.set(group, open);
  };
  // Before Node.js's own listener, so that nothing of a refused connection is read.
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    // A Unix socket has no address, nor has a client that has hung up.
    const isCounted = limits.address > 0 && remoteAddress !== undefined && !isShared(remoteAddress);
    const group = isCounted ? addressGroup(remoteAddress) : undefined;
    const limit = exceededBy(socket, group);
    if (limit !== undefined) {
      connections.refused[limit] += 1;
      socket.destroy();
      return onRefused(limit, remoteAddress ?? '');
    }
    count(group, 1);
    socket.once('close', () => count(group, -1));
  });
  return connections;
}

const logIntervalMs = 60_000;
const refusals: Record<ConnectionLimit, string> = {
  address: 'an address has as many connections as CONNECTIONS_PER_ADDRESS allows: its further ones are closed',
  process: 'the process has all the connections that it accepts: further ones are closed',
  files: 'the process has nearly all the files that the system allows it (ulimit -n): further connections are closed',
};

/** Logs a refused connection at most once a minute for each limit, with the number of those since the line before. */
export function logRefusedConnections(log: FastifyBaseLogger): OnRefused {
  const last: Record<ConnectionLimit, { at: number; refused: number }> = {
    address: { at: Number.NEGATIVE_INFINITY, refused: 0 },
    process: { at: Number.NEGATIVE_INFINITY, refused: 0 },
    files: { at: Number.NEGATIVE_INFINITY, refused: 0 },
  };
  return (limit, address) => {
    const line = last[limit];
    line.refused += 1;
    const now = performance.now();
    if (now - line.at < logIntervalMs) return;
    log.warn({ event: 'connections.refused', limit, address, refused: line.refused }, refusals[limit]);
    last[limit] = { at: now, refused: 0 };
  };
}
