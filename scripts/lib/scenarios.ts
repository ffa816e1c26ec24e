/** What is measured: for each operation the requests a client would send, byte for byte the same for the service and for the limit. */
import type { RequestOf } from './load.ts';
import { fieldsOf, type Seeds } from './seed.ts';

export interface Scenario {
  name: ScenarioName;
  /** Fewer connections than asked for, where more would only measure a queue. */
  maximumConnections?: number;
  requestOf: RequestOf;
}

/** Their names, in the order in which they are measured. */
export const scenarioNames = [
  'get-entity-by-session',
  'get-entity-by-key',
  'create-entity',
  'update-entity',
  'get-session',
  'create-session',
] as const;

export type ScenarioName = (typeof scenarioNames)[number];

/** The scenarios over the rows that were seeded. */
export function scenariosOf(seeds: Seeds): Scenario[] {
  const { entityName, keys, users, password } = seeds;
  const cookie = `cookie: sid=${seeds.sessionToken}`;
  const apiKey = `x-api-key: ${seeds.apiKey}`;
  const path = `/rest/entity/${entityName}`;
  const requestsOf: Record<ScenarioName, Omit<Scenario, 'name'>> = {
    'get-entity-by-session': { requestOf: among(keys.map((key) => request('GET', `${path}/${key}`, cookie))) },
    'get-entity-by-key': { requestOf: among(keys.map((key) => request('GET', `${path}/${key}`, apiKey))) },
    'create-entity': { requestOf: among(keys.map((_, n) => request('POST', path, apiKey, json(fieldsOf(n))))) },
    'update-entity': {
      // Each entity is given two values in turn: an update to the present value would write nothing.
      requestOf: among(
        [0, 0.5].flatMap((step) =>
          keys.map((key, n) => request('POST', `${path}/${key}`, apiKey, json({ creditLimit: n + step, note: null }))),
        ),
      ),
    },
    'get-session': { requestOf: among([request('GET', '/auth', cookie)]) },
    'create-session': {
      // Hashing keeps every core busy with four at a time already.
      maximumConnections: 4,
      requestOf: among(users.map((user) => request('POST', '/auth', 'accept: application/json', form({ user, password })))),
    },
  };
  return scenarioNames.map((name) => Object.assign(requestsOf[name], { name }));
}

/** Goes through `requests` with a stride that visits all of them, so that connections do not meet at one row. */
export function among(requests: Buffer[]): RequestOf {
  const stride = 7_919;
  return (n) => requests[(n * stride) % requests.length] ?? Buffer.alloc(0);
}

interface Body {
  type: string;
  text: string;
}

/** A body of `value`. */
export function json(value: unknown): Body {
  return { type: 'application/json', text: JSON.stringify(value) };
}

function form(fields: Record<string, string>): Body {
  return { type: 'application/x-www-form-urlencoded', text: new URLSearchParams(fields).toString() };
}

/** A request as it goes over the wire, with `header`, which may be several lines, and whatever its body needs. */
export function request(method: string, path: string, header: string, body?: Body): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: localhost', 'user-agent: entity-service-bench', header];
  if (body) lines.push(`content-type: ${body.type}`, `content-length: ${Buffer.byteLength(body.text)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body?.text ?? ''}`);
}
