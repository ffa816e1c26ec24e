/**
 * Closing the door without hitting anybody (security rule 92). The operating system makes a connection before the process hears of it, and
 * a request arrives after its connection: whoever is in between would be cut off by a server that simply closes.
 */
import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Callers that come again and again do not keep the door open for longer. */
const doorMilliseconds = 500;
/** How long a connection may be silent once the door is closed. */
const silenceMilliseconds = 250;

/**
 * Makes `app.close()` stop listening at a moment when nobody waits to be let in, answer with `Connection: close` from then on, and leave
 * connections alone on which nothing is under way until they have had the time to bring in what was sent.
 */
export function drainBeforeClosing(app: FastifyInstance): void {
  const { server } = app;
  const closeIdle = server.closeIdleConnections.bind(server);
  let leaving = false;
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (leaving) reply.header('connection', 'close');
    done();
  });
  app.addHook('preClose', async () => {
    await emptyQueue(server);
    leaving = true;
    // Node and Fastify call it as soon as they close.
    server.closeIdleConnections = () => undefined;
    setTimeout(closeIdle, silenceMilliseconds).unref();
  });
}

/** Resolves in a turn of the event loop in which nobody came: Node lets one in a turn. */
async function emptyQueue(server: Server): Promise<void> {
  const deadline = performance.now() + doorMilliseconds;
  let came = true;
  const note = () => {
    came = true;
  };
  server.on('connection', note);
  while (came && performance.now() < deadline) {
    came = false;
    await nextTurn();
  }
  server.off('connection', note);
}
