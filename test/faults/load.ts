/**
 * A client that writes without pause and records it in the ledger: creates, some with an Idempotency-Key, updates, deletes, refreshes,
 * logouts.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Callers } from './callers.ts';
import { Caller, type Reply, type Send } from './http.ts';
import type { StartLoad } from './kill.ts';
import { entityName, Ledger, type Line } from './ledger.ts';

/** The pause after a refusal or a missing answer, much shorter than Retry-After. */
const pauseMilliseconds = 20;
const path = `/rest/entity/${entityName}`;

/** Whether the answer says that nothing was done. All refusals but one do (docs/errors.md). */
const isRefusal = (reply: Reply | undefined) => reply !== undefined && reply.status >= 400 && !reply.body.includes('"outcome-unknown"');

export class Writer {
  readonly #caller: Caller;
  readonly #port: () => number;
  readonly #callers: Callers;
  readonly #ledger: Ledger;
  /** The entities that this client has created and not deleted. */
  readonly #own: Line[] = [];
  #number = 0;

  constructor(port: () => number, callers: Callers, ledger: Ledger) {
    this.#port = port;
    this.#caller = new Caller(port);
    this.#callers = callers;
    this.#ledger = ledger;
  }

  /** Writes until stopped, and waits for the request in progress. */
  async work(stopped: () => boolean): Promise<void> {
    while (!stopped()) await this.#step(this.#number++, stopped);
    this.#caller.close();
  }

  async #step(n: number, stopped: () => boolean): Promise<void> {
    const line = this.#own.at(-1);
    if (n % 40 === 13) return this.#refresh();
    if (n % 40 === 33) return this.#logout();
    if (line && n % 4 === 2) return this.#update(line);
    if (line && n % 10 === 5) return this.#remove(line);
    if (n % 10 === 7) return this.#createKeyed(stopped);
    await this.#create(this.#ledger.open());
  }

  async #create(line: Line, headers: Record<string, string> = {}): Promise<boolean> {
    const reply = await this.#ask('POST', path, { json: { id: line.id, value: 0, copy: 0 }, headers });
    if (!isRefusal(reply)) line.undone = false;
    if (reply?.status !== 201) return false;
    line.key = (JSON.parse(reply.body) as { key: string }).key;
    this.#own.push(line);
    return true;
  }

  /** Repeats the create with its Idempotency-Key until it is acknowledged. */
  async #createKeyed(stopped: () => boolean): Promise<void> {
    const line = this.#ledger.open();
    while (!(await this.#create(line, { 'idempotency-key': line.id }))) if (stopped()) return;
  }

  async #update(line: Line): Promise<void> {
    const value = ++line.sent;
    const reply = await this.#ask('POST', `${path}/${line.key}`, { json: { value, copy: value } });
    if (!isRefusal(reply)) line.possible = value;
    if (reply?.status === 200) line.acknowledged = value;
  }

  async #remove(line: Line): Promise<void> {
    line.deletion = 'sent';
    this.#own.pop();
    const reply = await this.#ask('DELETE', `${path}/${line.key}`);
    if (reply?.status === 204) line.deletion = 'acknowledged';
    if (isRefusal(reply)) line.deletion = 'none';
  }

  async #refresh(): Promise<void> {
    const token = this.#callers.sessions.pop();
    if (token === undefined) return;
    const reply = await this.#ask('POST', '/auth/refresh', { headers: { cookie: `sid=${token}` } });
    const next = /^(?:__Host-)?sid=([^;]+)/.exec(reply?.headers['set-cookie']?.[0] ?? '')?.[1];
    if (reply?.status === 200 && next !== undefined) this.#ledger.rotated.push(next);
  }

  async #logout(): Promise<void> {
    const token = this.#callers.sessions.pop();
    if (token === undefined) return;
    const reply = await this.#ask('HEAD', '/auth?logout=1', { headers: { cookie: `sid=${token}` } });
    if (reply?.status === 204) this.#ledger.ended.push(token);
  }

  /** Returns undefined without an answer. An unexpected refusal is a violation. */
  async #ask(method: string, path: string, { headers = {}, ...send }: Send = {}): Promise<Reply | undefined> {
    const credential = 'cookie' in headers ? {} : { 'x-api-key': this.#callers.apiKey };
    let reply: Reply | undefined;
    const askedAt = performance.now();
    try {
      reply = await this.#caller.send(method, path, { ...send, headers: { ...credential, ...headers } });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') this.#ledger.refused += 1;
      else this.#ledger.unanswered += 1;
    }
    this.#ledger.slowest = Math.max(this.#ledger.slowest, performance.now() - askedAt);
    if (reply) this.#ledger.note(reply);
    if (reply && reply.status < 300) this.#ledger.acknowledge(this.#port());
    else await delay(pauseMilliseconds);
    // 409: the first attempt of a keyed create is still in progress.
    if (reply && reply.status >= 300 && ![409, 503].includes(reply.status)) {
      this.#ledger.violations.push(`${method} ${path}: ${reply.status} ${reply.body}`);
    }
    return reply;
  }
}

/** Starts `count` clients. The returned function stops them and waits for them. */
export function startWriters(count: number, port: () => number, callers: Callers, ledger: Ledger): () => Promise<void> {
  let stopped = false;
  const working = Promise.all(Array.from({ length: count }, () => new Writer(port, callers, ledger).work(() => stopped)));
  return async () => {
    stopped = true;
    await working;
  };
}

/** Starts the clients with a ledger of their own. */
export const startLedger: StartLoad = (clients, port, callers) => {
  const ledger = new Ledger();
  const stop = startWriters(clients, () => port, callers, ledger);
  return {
    get acknowledged() {
      return ledger.acknowledged;
    },
    stop,
    compare: (databaseUrl) => ledger.compare(databaseUrl),
    figures: () => ({
      'requests without an answer': ledger.unanswered,
      'of them logouts': ledger.ended.length,
      'of them rotations': ledger.rotated.length,
    }),
  };
};
