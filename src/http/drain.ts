/**
 * How a server ends without cutting off a client. The operating system makes a connection before this process learns of it, and a request
 * arrives after its connection. A server that closes at once would reset both. When each of these functions is called: `src/shutdown.ts`.
 */
import type { Server } from 'node:http';
import type { Server as NetServer } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The parts of a silence. Each is a turn of the event loop at least, so a process that is held up hears no silence. */
const silentTurns = 5;

/** Adds `app.drain` to the server. Call this before the routes are added. */
export function prepareDrain(app: FastifyInstance): void {
  const { server } = app;
  const closeIdle = server.closeIdleConnections.bind(server);
  let isDraining = false;
  let turnsWithoutRequest = 0;
  app.addHook('onRequest', (_request, _reply, done) => {
    turnsWithoutRequest = 0;
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isDraining) reply.header('connection', 'close');
    done();
  });
  app.decorate('drain', ({ silenceMs, timeoutMs }) => {
    isDraining = true;
    keepIdleConnections(server);
    const startedAt = performance.now();
    turnsWithoutRequest = 0;
    const isSilent = () => turnsWithoutRequest >= silentTurns || performance.now() - startedAt >= timeoutMs;
    const timer = setInterval(() => {
      turnsWithoutRequest += 1;
      if (!isSilent()) return;
      // A process that was held up runs its timers before it reads the requests that have arrived meanwhile.
      setImmediate(() => {
        if (!isSilent()) return;
        clearInterval(timer);
        closeIdle();
      });
    }, silenceMs / silentTurns).unref();
  });
}

/**
 * Accepts the connections that the operating system has already made. Resolves when no connection has come in a turn of the event loop, which
 * `nextTurn` waits for, or when `timeout` fires.
 */
export async function acceptWaiting(server: Server, nextTurn: () => Promise<void>, timeout: AbortSignal): Promise<void> {
  let hasAccepted = true;
  const onConnection = () => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  while (hasAccepted && !timeout.aborted) {
    hasAccepted = false;
    await nextTurn();
  }
  server.off('connection', onConnection);
}

/** Stops listening. Open connections stay, so that no client has a reason to connect again. Call {@link acceptWaiting} right before. */
export function stopListening({ server, furtherAddresses }: FastifyInstance): void {
  keepIdleConnections(server);
  for (const each of [server, ...furtherAddresses]) each.close();
}

/** Node.js and Fastify close idle connections when they close the server. A request may be on its way on each of them. */
function keepIdleConnections(server: Server): void {
  server.closeIdleConnections = () => undefined;
}

/** Whether a client is connected. */
export async function hasConnections({ server, furtherAddresses }: FastifyInstance): Promise<boolean> {
  const counts = await Promise.all([server, ...furtherAddresses].map(countConnections));
  return counts.some((count) => count > 0);
}

async function countConnections(server: NetServer): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  server.getConnections((_error, count) => resolve(count ?? 0));
  return promise;
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * From now on each answer has `Connection: close`. Idle connections are closed when no request has arrived for `silenceMs`, at the latest
     * after `timeoutMs`. Call `stopListening` first, so that clients told to close cannot reconnect to this process.
     */
    drain(limits: { silenceMs: number; timeoutMs: number }): void;
  }
}
