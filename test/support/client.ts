/** The client for tests, and a scripted server. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { EntityServiceClient, type Clock, type CookieJar, type ClientOptions, type ErrorStyle } from '../../src/client/index.ts';

/** A client of the service at a URL. */
export function clientOf<S extends ErrorStyle = 'throw'>(
  { url }: { url: string },
  options: Omit<ClientOptions<S>, 'baseUrl'> = {},
): EntityServiceClient<S> {
  return new EntityServiceClient<S>({ baseUrl: url, ...options });
}

/** The session of a client as a `Cookie` header, for requests that the client would not send. Throws without a session. */
export function cookieHeader({ cookies }: { cookies: CookieJar | undefined }, { url }: { url: string }): string {
  const header = cookies?.header(new URL(url));
  if (header === undefined) throw new Error('the client has no session');
  return header;
}

/** A clock that records pauses without waiting. A request's time is up when the test says so. */
export class PausingClock implements Clock {
  /** The milliseconds of the pauses so far. */
  readonly pauses: number[] = [];
  readonly #deadlineMs: number;
  readonly #waiting = new Set<() => void>();
  #now = Date.parse('2026-11-20T08:00:00Z');

  constructor(deadlineMs = 30_000) {
    this.#deadlineMs = deadlineMs;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (ms !== this.#deadlineMs) {
      this.pauses.push(ms);
      this.#now += ms;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      signal?.addEventListener('abort', () => {
        this.#waiting.delete(resolve);
        reject(signal.reason as Error);
      });
    });
  }

  /** Ends the time limit of every request in progress. */
  expire(): void {
    this.#now += this.#deadlineMs;
    for (const resolve of this.#waiting) resolve();
  }

  /** The number of active deadlines. */
  get watched(): number {
    return this.#waiting.size;
  }
}

/** One answer of a scripted server: a problem, a body, or any other action on the socket. */
export type Step = (response: ServerResponse, request: IncomingMessage) => void;

export interface Heard {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server that answers each request with the next step, and repeats the last one. It records the requests, and stops with the test. */
export async function scriptedServer(...steps: Step[]): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      heard.push({ method, path, headers, body });
      (steps[heard.length - 1] ?? steps.at(-1))?.(response, request);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string | string[]> = {}): Step {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(JSON.stringify(body));
}

/** Answers with a problem. */
export function problem(status: number, code: string, headers: Record<string, string> = {}): Step {
  const body = { type: `http://localhost/problems/${code}`, title: code, status, detail: code, instance: 'urn:uuid:0192f0c4', code };
  return json(status, body, { 'content-type': 'application/problem+json; charset=utf-8', ...headers });
}

/** Breaks the connection without an answer. */
export const reset: Step = (response) => void response.socket?.destroy();
/** Never answers. */
export const silence: Step = () => undefined;
/** Answers without a body. */
export const empty =
  (status: number, headers: Record<string, string> = {}): Step =>
  (response) =>
    response.writeHead(status, headers).end();

/** An entity in the form that the service sends. */
export function entity(fields: object = {}, version = 1): object {
  const at = '2026-11-20T08:00:00.000Z';
  return { name: 'note', key: '1', version, createdAt: at, createdBy: 'ada', updatedAt: at, updatedBy: 'ada', fields };
}
