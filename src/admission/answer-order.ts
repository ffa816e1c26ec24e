/**
 * What one connection has under way, and in which order its answers go out. At most 16 requests of a connection are under way (rule 80), and the answer to
 * what Node.js cannot parse comes behind those to the requests before it.
 *
 * States of a connection:
 * - read: it has at most 16 requests without an answer, started or not.
 * - stopped: it has more, and the server reads nothing from it.
 * - ending: it waits for the answers of all requests, and writes the last answer behind them.
 * - closed: its requests that have not been started never are.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Clients that do not wait for answers have about ten requests under way. */
const unansweredPerConnection = 16;
/** Node.js reads on behind bytes that it could not parse, and reports each part of 64 KiB. */
const mostBytesBehindLast = 1_048_576;

export interface PacedConnection {
  readonly socket: Socket;
  /** The number of its requests that have been started and whose answers have not been sent. */
  underWay: number;
  /** Those that have not been started, in the order of arrival. */
  readonly waiting: ServerResponse[];
  /** Whether it stands in the line of the connections that start a request in one of the next turns. */
  isInLine: boolean;
  /** Whether the server reads no more from it for the present. */
  isStopped: boolean;
  /** The answer to the newest request, until both are complete: an idle connection retains no headers. */
  newest: ServerResponse | undefined;
  /** Writes what follows the answers of all requests; undefined if nothing does. */
  answerLast: (() => void) | undefined;
  /** The bytes that had been read by then. */
  bytesBeforeLast: number;
}

const connectionOf = Symbol('connection');
type PacedSocket = Socket & { [connectionOf]?: PacedConnection };

/** The connection of a socket, made at its first request. */
export function pacedConnection(socket: PacedSocket, onClose: (connection: PacedConnection) => void): PacedConnection {
  return (socket[connectionOf] ??= newConnection(socket, onClose));
}

function newConnection(socket: Socket, onClose: (connection: PacedConnection) => void): PacedConnection {
  const connection: PacedConnection = {
    socket,
    underWay: 0,
    waiting: [],
    isInLine: false,
    isStopped: false,
    newest: undefined,
    answerLast: undefined,
    bytesBeforeLast: 0,
  };
  socket.once('close', () => onClose(connection));
  // A request that reads its body resumes the connection, and Node.js does when an answer has been sent.
  socket.on('resume', () => {
    if (connection.isStopped) socket.pause();
  });
  return connection;
}

/** Whether one of its requests may start. */
export function mayStart({ waiting: { length }, underWay }: PacedConnection): boolean {
  return length > 0 && underWay < unansweredPerConnection;
}

/** Whether it has more requests without an answer than may be under way. */
export function isFull({ underWay, waiting }: PacedConnection): boolean {
  return underWay + waiting.length > unansweredPerConnection;
}

/** Stops reading from a connection with too many requests, and goes on when there is room. The body of its last request may not have arrived by then. */
export function readOrStop(connection: PacedConnection): void {
  const { socket, isStopped } = connection;
  connection.isStopped = isFull(connection);
  if (connection.isStopped === isStopped) return;
  if (isStopped) socket.resume();
  else socket.pause();
}

/**
 * Calls `answer`, which writes to the socket and closes it, when the answers of all requests of the connection have been sent (RFC 9112 section 9.3.2). If
 * the body of the newest request is not complete, `answer` is the answer to this request. If it has another one by then, the connection is
 * destroyed in place of the call, and likewise if the client goes on and sends 1 MiB. `answer` is not called if the connection ends before, or if another one waits already.
 */
export function answerInOrder(socket: Duplex, answer: () => void): void {
  const connection = (socket as PacedSocket)[connectionOf];
  if (!connection) return answer();
  if (!connection.answerLast) Object.assign(connection, { answerLast: answer, bytesBeforeLast: connection.socket.bytesRead });
  else if (connection.socket.bytesRead - connection.bytesBeforeLast > mostBytesBehindLast) return void socket.destroy();
  answerLastIfDue(connection);
}

/** Writes what follows the answers of all requests, once these have been sent. */
export function answerLastIfDue({ socket, underWay, waiting, newest, answerLast }: PacedConnection): void {
  const incomplete = newest?.req.complete === false ? newest : undefined;
  // An answer that has been written as a whole is waited for like the others. One that has only begun may wait for the rest of the body.
  const unanswered = underWay + waiting.length - (incomplete?.writableEnded === false ? 1 : 0);
  if (!answerLast || unanswered > 0 || !socket.writable) return;
  if (incomplete?.headersSent) socket.destroy();
  else answerLast();
}
