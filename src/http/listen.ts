/**
 * One server for all addresses. Fastify would create a further server for each further address of `localhost`, without the limits, listeners and
 * steps of a stop that `app.server` has.
 */
import { once } from 'node:events';
import { lookup } from 'node:dns/promises';
import { createServer, isIPv6, type AddressInfo, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Lets {@link listenOn} open further addresses of `app`, which end with it. Call it before `app` listens. */
export function prepareFurtherAddresses(app: FastifyInstance): void {
  const further: Server[] = [];
  app.decorate('furtherAddresses', further);
  app.addHook('preClose', (done) => {
    for (const each of further) each.close();
    done();
  });
  // The server has closed by then, but it does not wait for the connections of other addresses.
  app.addHook('onClose', async () => void (await Promise.all(further.map(closed))));
}

async function closed(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
}

/**
 * Listens on `port` of `host`, of `localhost` on each of its addresses. `lineOf` makes the line of the log for an address. Returns the first address
 * as a URL.
 */
export async function listenOn(app: FastifyInstance, host: string, port: number, lineOf: (address: string) => string): Promise<string> {
  const found = host === 'localhost' ? await lookup(host, { all: true }).catch(() => []) : [];
  const [first = host, ...others] = new Set(found.map(({ address }) => address));
  const url = await app.listen({ host: first, port, listenTextResolver: lineOf });
  for (const other of others) await listenAlso(app, other, lineOf);
  return url;
}

/** Listens on another address too, with the port of `app`, which must listen. A machine may lack ::1: then it does nothing. Logs any other failure. */
export async function listenAlso(app: FastifyInstance, address: string, lineOf: (address: string) => string): Promise<void> {
  const { port } = app.server.address() as AddressInfo;
  // The options of Node.js's HTTP server.
  const further = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => void app.server.emit('connection', socket));
  further.listen({ host: address, port });
  const failure = await once(further, 'listening').then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
  if (failure && !isMissing(failure))
    app.log.warn({ event: 'configuration.risky', err: failure }, `the service does not listen on ${address}`);
  if (failure) return;
  app.furtherAddresses.push(further);
  app.log.info(lineOf(`http://${isIPv6(address) ? `[${address}]` : address}:${port}`));
}

const isMissing = ({ code }: NodeJS.ErrnoException) => code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT';

declare module 'fastify' {
  interface FastifyInstance {
    /** What listens on other addresses than `server` does. Their connections belong to `server`, but they count them. */
    furtherAddresses: Server[];
  }
}
