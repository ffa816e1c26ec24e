/** The client's network address of a request, for the limits, the log and the audit trail. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { cleanAddress } from './address.ts';

/** The warning about a proxy in front of the service that TRUST_PROXY does not name. */
export const unnamedProxyRisk =
  'TRUST_PROXY is empty, but a proxy seems to pass requests on: all clients count as one address, and 20 wrong passwords keep all of them out ' +
  'for 5 minutes. Set it to the address of the proxy';

/**
 * The client's IP address without port, brackets or zone id, or `unknown`. From `X-Forwarded-For` if TRUST_PROXY names the sender (rule
 * 83).
 */
export function addressOf(request: FastifyRequest): string {
  return (request.address ??= cleanAddress(request.ip));
}

/**
 * Reads the address of each request at its start, because the socket of a client that has hung up has none. Without trusted proxies, the
 * first request of `app` that a proxy seems to have forwarded causes one warning.
 */
export function readAddresses(app: FastifyInstance, trustProxy: readonly string[]): void {
  app.decorateRequest('address', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    addressOf(request);
    done();
  });
  if (trustProxy.length > 0) return;
  let isWarned = false;
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (!isWarned && (headers['x-forwarded-for'] ?? headers.forwarded) !== undefined) {
      isWarned = true;
      app.log.warn({ event: 'configuration.risky' }, unnamedProxyRisk);
    }
    done();
  });
}

/** Whether the client has closed its connection, so that no answer can reach it. */
export function hasLeft({ raw }: FastifyRequest): boolean {
  return raw.socket.destroyed;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined until {@link addressOf} has been called. */
    address: string | undefined;
  }
}
