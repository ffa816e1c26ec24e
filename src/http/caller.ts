/** Creates the {@link Caller} of each request, which represents the request in use cases. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { holderOfRequest } from '../admission/held-bytes.ts';
import type { Ledger } from '../admission/ledger.ts';
import type { Caller, CallerLog, CookieAttributes, Cookies } from '../authn/caller.ts';
import type { CostKind, CostMeter, Origin } from '../network/origin.ts';
import type { Principal } from '../rights/principal.ts';
import { addressOf, hasLeft } from '../network/client-address.ts';

/** Reads the request on demand, so that a request whose operation needs none of it costs one small object. */
class RequestCaller implements Caller, Cookies, CostMeter {
  readonly #ledger: Ledger;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(ledger: Ledger, request: FastifyRequest, reply: FastifyReply) {
    this.#ledger = ledger;
    this.#request = request;
    this.#reply = reply;
  }

  /** The user agent is cut to 256 characters (rule 84). */
  get origin(): Origin {
    const request = this.#request;
    return { requestId: request.id, address: addressOf(request), userAgent: request.headers['user-agent']?.slice(0, 256), cost: this };
  }

  add(kind: CostKind, amount: number): void {
    this.#ledger.add(holderOfRequest(this.#request), kind, amount);
  }

  get principal(): Principal | undefined {
    return this.#request.principal;
  }

  get cookies(): Cookies {
    return this;
  }

  get header(): string | undefined {
    return this.#request.headers.cookie;
  }

  set(name: string, value: string, attributes: CookieAttributes): void {
    this.#reply.setCookie(name, value, attributes);
  }

  get log(): CallerLog {
    return this.#request.log;
  }

  get hasLeft(): boolean {
    return this.#reply.isLate || hasLeft(this.#request);
  }
}

/** Sets `caller` on each request to `app`. Its hook must run before all hooks that may throw a problem. */
export function identifyCallers(app: FastifyInstance, ledger: Ledger): void {
  app.decorateRequest('caller');
  app.addHook('onRequest', (request, reply, done) => {
    request.caller = new RequestCaller(ledger, request, reply);
    done();
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The sender of this request, for use cases. */
    caller: Caller;
  }
}
