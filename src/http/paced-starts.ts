/**
 * Starts at most 32 requests in each turn of the event loop, in the order of their arrival. Node.js emits all requests that have arrived in one
 * turn. A thousand clients would thus start a thousand requests, whose objects survive young collections until the database has answered. A
 * request that waits here has few objects yet.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** 32 clients never wait. The objects of as many requests fit into the caches of a processor. */
const startsPerTurn = 32;

/** The requests that have arrived and have not been started. */
export interface PacedStarts {
  /** Those that wait for their turn: one for each connection at most. */
  readonly waiting: number;
  /** The number of those that were never started, because their clients had left. */
  readonly abandoned: number;
}

/** The response of the connection's request that waits. */
const waitingOf = Symbol('waiting');
type PacedSocket = Socket & { [waitingOf]?: ServerResponse | undefined };

/**
 * Paces the requests of `server`, which must have its listener for them. Only one request of a connection waits. If another one arrives on it, both start at once: so they stay in
 * order, and Node.js reads no more from a client that does not wait for answers than without pacing. A request whose client has left is not started.
 * The further servers that Fastify creates for other addresses of `localhost` are not paced.
 */
export function paceStarts(server: Server): PacedStarts {
  const [listener] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  if (listener === undefined) throw new Error('the server has no listener for requests');
  server.removeListener('request', listener);
  // An array, because the tables of a Map would become old objects, and retain the requests.
  let queue: ServerResponse[] = [];
  let waiting = 0;
  let abandoned = 0;
  let started = 0;

  const start = (response: ServerResponse) => {
    started += 1;
    if (started === 1) setImmediate(nextTurn);
    listener.call(server, response.req, response);
  };
  /** Starts the request if it waits. One that had to start before its turn is still in the queue. */
  const startWaiting = (socket: PacedSocket, response: ServerResponse) => {
    if (socket[waitingOf] !== response) return;
    socket[waitingOf] = undefined;
    waiting -= 1;
    // Hooks that follow the connection would learn nothing of its end, which is over.
    if (socket.destroyed) abandoned += 1;
    else start(response);
  };
  const nextTurn = () => {
    started = 0;
    let next = 0;
    for (const response of queue) {
      if (started === startsPerTurn) break;
      next += 1;
      startWaiting(response.req.socket, response);
    }
    queue = queue.slice(next);
  };
  server.on('request', ({ socket }: IncomingMessage & { socket: PacedSocket }, response: ServerResponse) => {
    const isFirst = response.socket !== null;
    if (!isFirst) {
      if (socket[waitingOf]) startWaiting(socket, socket[waitingOf]);
      start(response);
    } else if (started < startsPerTurn) start(response);
    else {
      socket[waitingOf] = response;
      waiting += 1;
      queue.push(response);
    }
  });
  return {
    get waiting() {
      return waiting;
    },
    get abandoned() {
      return abandoned;
    },
  };
}
