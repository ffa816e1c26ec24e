/**
 * Starts at most 32 requests in each turn of the event loop, in the order of their arrival. At most 16 of a connection are under way (rule 80).
 * Node.js emits all requests that have arrived in one turn. A thousand clients would thus start a thousand requests, whose objects survive
 * young collections until the database has answered. So would one client that does not wait for answers. A request that waits here has few
 * objects yet.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** 32 clients never wait. The objects of as many requests fit into the caches of a processor. */
const startsPerTurn = 32;
/** Clients that do not wait for answers have about ten requests under way. */
const unansweredPerConnection = 16;
/** 32 MiB of objects. Node.js reads 64 KiB at once, in which one connection can send 3,600 requests. */
const waitingPerProcess = 8_192;
/** Node.js reads on behind bytes that it could not parse, and reports each part of 64 KiB. */
const mostBytesBehindLast = 1_048_576;

/** The requests that have arrived and have not been started. */
export interface PacedStarts {
  /** Those that wait for their turn, or for the answers of others on their connection. */
  readonly waiting: number;
  /** The number of those that were never started, because their connections had ended. */
  readonly abandoned: number;
}

interface PacedConnection {
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
/** What Node.js calls with each request that it has parsed. A negative answer is an error in the bytes: nothing behind them is parsed. */
type OnIncoming = (request: IncomingMessage & { upgrade?: boolean }, keepsAlive: boolean) => number;
/** Node.js does not document the parser of a socket. Without one nothing ends the parsing of what has been read. */
type PacedSocket = Socket & { [connectionOf]?: PacedConnection; parser?: { onIncoming: OnIncoming } | null };

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
  const mayStart = ({ waiting: { length }, underWay }: PacedConnection) => length > 0 && underWay < unansweredPerConnection;
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
  server.on('request', ({ socket }: IncomingMessage & { socket: PacedSocket }, response: ServerResponse) => {
    const connection = (socket[connectionOf] ??= newConnection(socket, abandonAll));
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

function isFull({ underWay, waiting }: PacedConnection): boolean {
  return underWay + waiting.length > unansweredPerConnection;
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

/**
 * Node.js would otherwise go on to parse the whole of what it has read, up to 3,600 requests, after the connection has been destroyed. At a CONNECT it
 * would remove its listeners from the connection. The answers before it need them, for the room to write more and for the end of the connection.
 */
function limitParsing(server: Server, socket: PacedSocket): void {
  const { parser } = socket;
  if (!parser) return;
  const onIncoming = parser.onIncoming.bind(parser);
  parser.onIncoming = (request, keepsAlive) => {
    if (socket.destroyed) return -1;
    if (request.method !== 'CONNECT') return onIncoming(request, keepsAlive);
    request.upgrade = false;
    server.emit('connect', request, socket, Buffer.alloc(0));
    return -1;
  };
}

/** Stops reading from a connection with too many requests, and goes on when there is room. The body of its last request may not have arrived by then. */
function readOrStop(connection: PacedConnection): void {
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

function answerLastIfDue({ socket, underWay, waiting, newest, answerLast }: PacedConnection): void {
  const incomplete = newest?.req.complete === false ? newest : undefined;
  // An answer that has been written as a whole is waited for like the others. One that has only begun may wait for the rest of the body.
  const unanswered = underWay + waiting.length - (incomplete?.writableEnded === false ? 1 : 0);
  if (!answerLast || unanswered > 0 || !socket.writable) return;
  if (incomplete?.headersSent) socket.destroy();
  else answerLast();
}
