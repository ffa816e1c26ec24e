/** One keep-alive connection of a load client. It returns the answers without checking them. */
import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import type { Fetch } from '../../src/client/index.ts';

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Send {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form. */
  form?: Record<string, string>;
  /** Sent unchanged, with the type of the headers. */
  raw?: string | undefined;
}

export class Caller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: () => number;
  readonly #patienceMs: number;
  readonly #localAddress: string;

  /**
   * `port` is called before each request. A request without an answer within `patienceMs` fails. `localAddress` is the client's address.
   */
  constructor(port: () => number, { patienceMs = 30_000, localAddress = '127.0.0.1' } = {}) {
    this.#port = port;
    this.#patienceMs = patienceMs;
    this.#localAddress = localAddress;
  }

  /** Rejects when there is no complete answer. */
  send(method: string, path: string, { headers = {}, json, form, raw }: Send = {}): Promise<Reply> {
    const body = raw ?? (json === undefined ? form && new URLSearchParams(form).toString() : JSON.stringify(json));
    const type = json === undefined ? 'application/x-www-form-urlencoded' : 'application/json';
    const entity = {
      ...(body !== undefined && raw === undefined && { 'content-type': type }),
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const to = { host: '127.0.0.1', port: this.#port(), localAddress: this.#localAddress, agent: this.#agent };
    const outgoing = request({ ...to, method, path, headers: { ...headers, ...entity } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    outgoing.setTimeout(this.#patienceMs, () => outgoing.destroy(new Error(`no answer within ${this.#patienceMs} ms`)));
    outgoing.on('error', reject);
    outgoing.end(body);
    return promise;
  }

  /** A `fetch` that uses this connection; `hear` gets the headers of each answer. */
  fetchFor(hear: (headers: IncomingHttpHeaders) => void): Fetch {
    return async (url, { method = 'GET', headers: given, body }) => {
      const { pathname, search } = new URL(url);
      const raw = typeof body === 'string' ? body : undefined;
      const reply = await this.send(method, pathname + search, { headers: Object.fromEntries(new Headers(given)), raw });
      hear(reply.headers);
      const headers = new Headers();
      for (const [name, value] of Object.entries(reply.headers)) for (const one of [value].flat()) headers.append(name, one ?? '');
      return new Response(reply.body === '' ? null : reply.body, { status: reply.status, headers });
    };
  }

  close(): void {
    this.#agent.destroy();
  }
}
