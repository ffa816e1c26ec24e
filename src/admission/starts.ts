/**
 * Starts at most 32 requests in each turn of the event loop, in the order of their arrival. Node.js emits all requests that have arrived in one turn. A
 * thousand clients would thus start a thousand requests, whose objects survive young collections until the database has answered. So would one client
 * that does not wait for answers. A request that waits here has few objects yet.
 *
 * States of a request:
 * - waiting: 32 others have started in this turn, or 16 of its connection are under way (`answer-order.ts`).
 * - started: the listener of the server has it.
 * - abandoned: its connection ended while it waited. It is never started.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { answerLastIfDue, isFull, mayStart, pacedConnection, readOrStop, type PacedConnection } from './answer-order.ts';
import { limitParsing } from './parser-guard.ts';

/** 32 clients never wait. The objects of as many requests fit into the caches of a processor. */
const startsPerTurn = 32;
/** 32 MiB of objects. Node.js reads 64 KiB at once, in which one connection can send 3,600 requests. */
const waitingPerProcess = 8_192;

/** The requests that have arrived and have not been started. */
export interface PacedStarts {
  /** Those that wait for their turn, or for the answers of others on their connection. */
  readonly waiting: number;
  /** The number of those that were never started, because their connections had ended. */
  readonly abandoned: number;
}

/**
 * Paces the requests of `server`, which must have its listener for them. While a connection has more than 16 unanswered requests, the server does
 * not read from it; those that have arrived by then wait and start in order. Such a connection is destroyed if 8,192 requests wait in the process: RFC
 * 9112 section 9.3.2 lets its client repeat those without an answer. A request whose connection has ended is not started. Nothing more of a
 * destroyed connection is parsed, and its requests count as waiting until its end, because Node.js retains them until then.
 */
export function paceStarts(server: Server): PacedStarts {
  const [listener] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  if (listener === undefined) throw new Error('the server has no listener for requests');
  server.removeListener('request', listener);
  const serve = listener.bind(server);
  // Otherwise a request would start in the context of the one whose answer made room for it.
  const outside = AsyncLocalStorage.snapshot();
  // An array, because the tables of a Map would become old objects, and retain the requests.
  let line: PacedConnection[] = [];
  let waiting = 0;
  let abandoned = 0;
  let started = 0;

  const startNext = (connection: PacedConnection) => {
    // Hooks that follow the connection would learn nothing of its end, which is over.
    if (!connection.socket.writable) return abandonAll(connection);
    const response = connection.waiting.shift();
    if (!response) return;
    waiting -= 1;
    connection.underWay += 1;
    started += 1;
    if (started === 1) setImmediate(nextTurn);
    response.once('close', () => {
      connection.underWay -= 1;
      if (connection.newest === response && response.req.complete) connection.newest = undefined;
      advance(connection);
      answerLastIfDue(connection);
    });
    outside(serve, response.req, response);
  };
  const abandonAll = ({ waiting: left }: PacedConnection) => {
    waiting -= left.length;
    abandoned += left.length;
    left.length = 0;
  };
  /** Starts what may start now, and puts the connection into the line if more may start in a later turn. */
  const advance = (connection: PacedConnection) => {
    while (mayStart(connection) && !connection.isInLine)
      if (line.length === 0 && started < startsPerTurn) startNext(connection);
      else joinLine(connection);
    readOrStop(connection);
  };
  const joinLine = (connection: PacedConnection) => {
    connection.isInLine = true;
    line.push(connection);
  };
  const nextTurn = () => {
    started = 0;
    let next = 0;
    // Connections that join the line meanwhile are reached as well.
    for (const connection of line) {
      if (started === startsPerTurn) break;
      next += 1;
      startNext(connection);
      connection.isInLine = false;
      if (mayStart(connection)) joinLine(connection);
    }
    line = line.slice(next);
  };
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = pacedConnection(socket, abandonAll);
    connection.waiting.push(response);
    connection.newest = response;
    waiting += 1;
    if (waiting > waitingPerProcess && isFull(connection)) socket.destroy();
    if (socket.writable) advance(connection);
    else if (!socket.destroyed) abandonAll(connection);
  });
  server.on('connection', (socket) => limitParsing(server, socket));
  return {
    get waiting() {
      return waiting;
    },
    get abandoned() {
      return abandoned;
    },
  };
}
