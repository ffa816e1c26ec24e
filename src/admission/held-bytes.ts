/**
 * Bounds the memory that callers make a process hold: long bodies until they are answered, and answers until the operating system has taken
 * them. A client decides how fast it sends and reads (rule 80, decision 69).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../rights/principal.ts';
import type { Problem } from '../problems/errors.ts';
import { busyProblem, rateLimitProblem } from './refusals.ts';
import { addressGroup } from '../network/address.ts';
import { addressOf } from '../network/client-address.ts';

/** In bytes. */
export interface HeldBytesLimits {
  /** Limit of one user, or of one address without a credential, in a process. */
  caller: number;
  /** Limit of all addresses without a credential together. What they hold does not count for the limit of the process. */
  strangers: number;
  process: number;
}

const defaultLimits = { caller: 64 * 2 ** 20, strangers: 64 * 2 ** 20, process: 256 * 2 ** 20 };
/** Shorter bodies and answers are not counted, unless an answer has to wait for earlier ones. */
const longBytes = 16_384;

/** The bytes that each caller holds at present. */
export class HeldBytes {
  readonly #limits: HeldBytesLimits;
  readonly #byCaller = new Map<string, number>();
  #ofUsers = 0;
  #ofStrangers = 0;

  constructor(limits: HeldBytesLimits = defaultLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#byCaller.size === 0;
  }

  /** Counts `bytes` for the caller until the returned function is called. */
  hold(caller: string, bytes: number): () => void {
    this.#add(caller, bytes);
    return () => this.#add(caller, -bytes);
  }

  /**
   * The 429 or 503 for a caller who needs `bytes` more. Undefined if that is within the limits, or the caller holds nothing yet: a single
   * body or answer may exceed the limit.
   */
  refusal(caller: string, bytes: number): Problem | undefined {
    if (this.isEmpty) return undefined;
    const held = this.#byCaller.get(caller) ?? 0;
    if (held > 0 && held + bytes > this.#limits.caller) return tooMuchHeld(this.#limits.caller);
    const free = isUser(caller) ? this.#limits.process - this.#ofUsers : this.#limits.strangers - this.#ofStrangers;
    return bytes > 0 && bytes > free ? busyProblem() : undefined;
  }

  #add(caller: string, bytes: number): void {
    const held = (this.#byCaller.get(caller) ?? 0) + bytes;
    if (held === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, held);
    if (isUser(caller)) this.#ofUsers += bytes;
    else this.#ofStrangers += bytes;
  }
}

const userPrefix = 'user ';

/** The key under which a user's bytes are counted. */
export function holderOf({ name }: Pick<Principal['user'], 'name'>): string {
  return userPrefix + name;
}

function isUser(caller: string): boolean {
  return caller.startsWith(userPrefix);
}

/** Counts the bodies and answers of `app`, and refuses requests of callers who hold too much, before their body is read. */
export function boundHeldBytes(app: FastifyInstance, held: HeldBytes): void {
  const count = (caller: string, bytes: number, { raw }: FastifyReply) => {
    // Fastify prepares an answer even after the client has hung up: then 'close' has been emitted before, and is not emitted again.
    if (!raw.closed) raw.once('close', held.hold(caller, bytes));
  };
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const bytes = announcedBytes(request);
    if (bytes <= longBytes && held.isEmpty) return done();
    // A stranger whose connection has unread answers needs memory for the next one as well.
    const needed = request.principal || !hasToWait(reply) ? bytes : Math.max(bytes, 1);
    const refusal = held.refusal(holderOfRequest(request), needed);
    if (!refusal && bytes > longBytes) count(holderOfRequest(request), bytes, reply);
    done(refusal);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const length = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
    if (length === 0) return done();
    if (length > longBytes || hasToWait(reply)) count(holderOfRequest(request), length, reply);
    done();
  });
}

/** Whether the answer has to wait for earlier ones on its connection. */
function hasToWait({ raw: { socket } }: FastifyReply): boolean {
  // Without a socket another answer of the connection is being made or sent.
  return !socket || socket.writableLength > 0;
}

/** The key of a request: its user, or its address without a credential. */
export function holderOfRequest(request: FastifyRequest): string {
  return request.principal ? holderOf(request.principal.user) : addressGroup(addressOf(request));
}

/** The announced length of the body, at most the limit of the route; without a `Content-Length` that limit, and 0 without a body or for one that is not held. */
function announcedBytes({ headers, routeOptions: { bodyLimit, config } }: FastifyRequest): number {
  if (config.streamsBody) return 0;
  return headers['transfer-encoding'] === undefined ? Math.min(Number(headers['content-length'] ?? 0), bodyLimit) : bodyLimit;
}

const tooMuchHeld = (limit: number) => rateLimitProblem('held-bytes', `q=${limit};qu="content-bytes"`, 1);
