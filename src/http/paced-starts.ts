/**
 * Starts at most 32 requests in each turn of the event loop, in the order of their arrival. Node.js emits all requests that have arrived in one
 * turn. With a thousand clients it would start a thousand, and the objects of all of them would be copied by each young collection until the
 * database has answered. A request that waits here has few objects yet.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Few enough that 32 clients wait for no turn, and that the objects of one turn fit into the caches of a processor. */
const startsPerTurn = 32;
/** One for each connection (rule 80). Only clients that send requests without waiting for answers can exceed it. */
const maximumWaiting = 4_096;

/** The requests that have arrived and wait for their turn. */
export interface PacedStarts {
  readonly waiting: number;
}

/**
 * Paces the requests of `server`, which must have its listener for them. If 4,096 wait, the oldest one starts for each that arrives, so the memory
 * of those that wait is bounded. The further servers that Fastify creates for the other addresses of `localhost` are not paced.
 */
export function paceStarts(server: Server): PacedStarts {
  const [start] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  if (start === undefined) throw new Error('the server has no listener for requests');
  server.removeListener('request', start);
  let waiting: ServerResponse[] = [];
  let started = 0;

  const run = (response: ServerResponse) => {
    started += 1;
    if (started === 1) setImmediate(nextTurn);
    start.call(server, response.req, response);
  };
  const nextTurn = () => {
    started = 0;
    const next = waiting.slice(0, startsPerTurn);
    waiting = waiting.slice(startsPerTurn);
    for (const response of next) run(response);
  };
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (started < startsPerTurn && waiting.length === 0) return run(response);
    waiting.push(response);
    if (waiting.length <= maximumWaiting) return;
    const oldest = waiting.shift();
    if (oldest) run(oldest);
  });
  return {
    get waiting() {
      return waiting.length;
    },
  };
}
