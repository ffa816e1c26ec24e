/**
 * Closing the door without hitting anybody (security rule 92). The operating system makes a connection before the process hears of it, and
 * a request arrives after its connection: whoever is in between would be cut off by a server that simply closes.
 */
import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Callers that come again and again do not keep the door open for longer. */
const doorMilliseconds = 500;
/** Once the door is closed and nobody has asked anything for so long, connections are ended on which nothing is under way. */
const silenceMilliseconds = 250;
/** Callers that ask again and again do not keep them open for longer. */
const drainMilliseconds = 2_000;

/**
 * Makes `app.close()` answer with `Connection: close` from then on, and leave connections alone on which nothing is under way until they have
 * had the time to bring in what was sent. Call {@link stopListening} first: who is sent away comes back at once, and must not find it open.
 */
export function drainBeforeClosing(app: FastifyInstance): void {
  const { server } = app;
  const closeIdle = server.closeIdleConnections.bind(server);
  let leaving = false;
  let cameAt = 0;
  app.addHook('onRequest', (_request, _reply, done) => {
    if (leaving) cameAt = performance.now();
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (leaving) reply.header('connection', 'close');
    done();
  });
  app.addHook('preClose', async () => {
    leaving = true;
    keepIdleConnections(server);
    const since = performance.now();
    cameAt = since;
    const look = setInterval(() => {
      const now = performance.now();
      if (now - cameAt < silenceMilliseconds && now - since < drainMilliseconds) return;
      clearInterval(look);
      closeIdle();
    }, silenceMilliseconds / 5).unref();
  });
}

/** Stops listening at a moment when nobody waits to be let in. Connections stay as they are, so that nobody has a reason to come again. */
export async function stopListening(server: Server): Promise<void> {
  await emptyQueue(server);
  keepIdleConnections(server);
  server.close();
}

/** Node and Fastify close them as soon as they close. */
function keepIdleConnections(server: Server): void {
  server.closeIdleConnections = () => undefined;
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
