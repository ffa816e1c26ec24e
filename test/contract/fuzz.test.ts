/** Thousands of random requests over the whole surface: whatever comes, the answer is one that openapi.yaml knows, and never a 5xx. */
import { METHODS } from 'node:http';
import * as fc from 'fast-check';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { seed } from '../support/entities.ts';
import { objectText } from '../support/exact-json.ts';
import { bodyOf, methodOf, operations, pathOf } from '../support/operations.ts';
import { useService } from '../support/service.ts';

const service = useService({ BODY_LIMIT_BYTES: '65536' });
let users: string[];
let cookies: string[] = [];
let keys: string[];

beforeAll(async () => {
  const { id: all } = await service().createUser('all');
  const { id: some } = await service().createUser('some', {
    customer: { actions: ['create', 'read', 'update', 'delete'], condition: 'own' },
  });
  const { id: none } = await service().createUser('none', null);
  users = [all, some, none, all];
  keys = await Promise.all([all, some, none].map((id) => service().createKey(id)));
  for (const key of rows) await seed(service(), 'customer', key, { key }, Number(key) % 2 ? 'all' : 'some');
});

/** Enough that deleting some leaves others. */
const rows = Array.from({ length: 300 }, (_, index) => String(10_001 + index));

let requests = 0;
const statuses = new Map<number, number>();
const pick = <T>(...values: T[]) => fc.constantFrom(...values);
/** Mostly `usual`, sometimes anything. */
const mostly = <T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: rare });

const anyText = fc.string({ unit: pick(...Array.from('aZ09 é😀%=&;"\'\n\0/\\{}[]:,\u202e'), '\ud800'), maxLength: 20 });
const segment = mostly(
  pick('customer', '10001', '10002', 'sales', 'all', '1', '9223372036854775807'),
  fc.oneof(
    anyText.map(encodeURIComponentLoosely),
    fc.string({ maxLength: 300 }).map(encodeURIComponentLoosely),
    pick('', '%', '%zz', '%ff', '%00', '..', '.', '%2e%2e', '*', '1e3', 'constructor'),
  ),
);

/** Like encodeURIComponent, for text with lone surrogates as well. */
function encodeURIComponentLoosely(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

const path = fc.oneof(
  {
    weight: 1,
    arbitrary: pick(
      ...'/ /docs /openapi.json /openapi.yaml /health/live /problems/not-found /problems/toString /auth/ // /.. /auth? * /AUTH'.split(' '),
    ),
  },
  { weight: 1, arbitrary: fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`) },
);

const anyMethod = pick(...METHODS.filter((method) => method !== 'CONNECT'));

/** A method and a path: mostly of an operation, with all sorts of things in the place of its parameters. */
const target = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(pick(...operations), fc.array(segment, { minLength: 3, maxLength: 3 }), mostly(fc.constant(undefined), anyMethod))
      .map(([operation, values, method]) => ({
        method: method ?? methodOf(operation),
        path: operation.path.replace(/{\w+}/g, () => values.pop() ?? ''),
      })),
  },
  { weight: 1, arbitrary: fc.record({ method: mostly(pick('GET', 'POST', 'DELETE', 'HEAD'), anyMethod), path }) },
);

const query = mostly(
  pick('', '', '', '?roles=1', '?profiles=1&roles=1', '?logout=1'),
  fc.oneof(
    pick('?', '?roles=2', '?roles', '?logout=1&logout=1', '?__proto__=1', '?%zz', '?a[b]=c', '?&&=&'),
    anyText.map((text) => `?${encodeURIComponentLoosely(text)}`),
  ),
);

/** What a header may hold by HTTP; Node refuses to send anything else. */
const headerText = fc.stringMatching(/^[\x21-\x7e\xa0-\xff]{0,40}$/);
const tag = pick('"1"', '"2"', 'W/"1"', '*', '"1", "2"', '1', '"', '""', ',', '"9999999999999999999"');
const header = fc.oneof(
  fc.tuple(
    fc.constant('accept'),
    mostly(pick('*/*', 'application/json'), fc.oneof(headerText, pick('text/html', 'application/json;q=0', '*/*;q=0', ',', ';'))),
  ),
  fc.tuple(
    fc.constant('content-type'),
    mostly(
      pick('application/json', 'application/x-www-form-urlencoded'),
      fc.oneof(headerText, pick('text/plain', 'application/json; charset=utf-16', 'application/json;', ';')),
    ),
  ),
  fc.tuple(pick('if-match', 'if-none-match'), fc.oneof(tag, headerText)),
  fc.tuple(
    pick('sec-fetch-site', 'origin', 'referer', 'sec-purpose'),
    fc.oneof(pick('same-origin', 'cross-site', 'http://localhost:3000', 'https://evil.example', 'null', 'prefetch'), headerText),
  ),
  fc.tuple(
    pick('content-encoding', 'expect', 'accept-language', 'x-forwarded-for', 'x-http-method-override', 'range', 'prefer', 'upgrade'),
    fc.oneof(pick('gzip', 'identity', 'de', '*', 'DELETE', 'bytes=0-1'), headerText),
  ),
);

const credential: fc.Arbitrary<Record<string, () => string>> = fc.oneof(
  { weight: 5, arbitrary: fc.nat(3).map((index) => ({ cookie: () => cookies[index] ?? '' })) },
  { weight: 5, arbitrary: fc.nat(2).map((index) => ({ 'x-api-key': () => keys[index] ?? '' })) },
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: headerText.map((text) => ({ cookie: () => `sid=${text}` })) },
  {
    weight: 1,
    arbitrary: fc.tuple(pick('x-api-key', 'authorization', 'cookie'), headerText).map(([name, text]) => ({ [name]: () => text })),
  },
  { weight: 1, arbitrary: headerText.map((text) => ({ authorization: () => `Bearer ${text}`, 'x-api-key': () => keys[0] ?? '' })) },
);

const examples = operations.flatMap((operation) => bodyOf(operation)?.text ?? []);
const body = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: pick(...examples) },
  { weight: 3, arbitrary: objectText },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: anyText },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.tuple(pick('user', 'password', 'locale', 'oidcIssuer', 'access_token', 'set-password', 'x'), anyText), { maxLength: 5 })
      .map((pairs) => pairs.map(([name, text]) => `${name}=${encodeURIComponentLoosely(text)}`).join('&')),
  },
  { weight: 1, arbitrary: pick('x'.repeat(1_025), 'x'.repeat(8_193), `{"a":"${'x'.repeat(70_000)}"}`, '['.repeat(50_000)) },
);

/** What the answer has to be like even where no operation is known; `contract.ts` compares those of operations with openapi.yaml. */
function expectSound(response: LightMyRequestResponse, request: unknown): void {
  const { statusCode, headers } = response;
  const told = `${JSON.stringify(request)}\n${response.body.slice(0, 300)}`;
  expect(statusCode, told).toBeLessThan(500);
  expect(headers['x-content-type-options'], told).toBe('nosniff');
  expect(headers['cache-control'], told).toBe('no-store');
  if (statusCode < 400) return;
  if (response.raw.req.method === 'HEAD') return expect(headers['problem-code'], told).toMatch(/^[a-z-]+$/);
  expect(headers['content-type'], told).toBe('application/problem+json; charset=utf-8');
  const problem = JSON.parse(response.body) as { status: number; code: string };
  expect(problem.status, told).toBe(statusCode);
}

async function send(request: InjectOptions): Promise<void> {
  // Random requests sign out, too.
  if (requests % 50 === 0) cookies = await Promise.all(users.map((id) => service().openSession(id)));
  const response = await service().inject(request);
  requests++;
  statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1);
  expectSound(response, request);
}

/** One thing that is different from the request that the document gives as an example. */
interface Change {
  headers?: Record<string, string>;
  query?: string;
  payload?: string | Buffer | undefined;
  values?: Record<string, string>;
}

const change: fc.Arbitrary<Change> = fc.oneof(
  header.map(([name, value]) => ({ headers: { [name]: value } })),
  query.map((text) => ({ query: text })),
  body.map((payload) => ({ payload })),
  fc.tuple(pick('name', 'key', 'id'), segment).map(([name, value]) => ({ values: { [name]: value } })),
  fc.constant({}),
);

describe('random requests', () => {
  test('anything anywhere', async () => {
    const random = fc.record({ target, query, credential, headers: fc.array(header, { maxLength: 3 }), body });
    await fc.assert(
      fc.asyncProperty(random, async ({ target: { method, path }, query, credential, headers, body }) => {
        const credentials = Object.fromEntries(Object.entries(credential).map(([name, value]) => [name, value()]));
        await send({
          method,
          url: `${path}${query}`,
          headers: { ...Object.fromEntries(headers), ...credentials },
          ...(body !== undefined && { payload: body }),
        });
      }),
      { numRuns: 1_400 },
    );
  }, 60_000);

  test('requests that are right but for one thing', async () => {
    const oneOff = fc.record({ operation: pick(...operations), key: pick(...rows), caller: fc.nat(2), change });
    await fc.assert(
      fc.asyncProperty(oneOff, async ({ operation, key, caller, change }) => {
        const { headers = {}, query = '', values = {} } = change;
        const example = bodyOf(operation);
        const payload = 'payload' in change ? change.payload : example?.text;
        const takesKey = operation.security.some((way) => 'apiKey' in way);
        await send({
          method: methodOf(operation),
          url: pathOf(operation, { ...(operation.path.includes('{key}') && { key }), ...values }) + query,
          headers: {
            ...(takesKey ? { 'x-api-key': keys[caller] } : { cookie: cookies[caller] }),
            ...(example && { 'content-type': example.type }),
            ...headers,
          },
          ...(payload !== undefined && { payload }),
        });
      }),
      { numRuns: 800 },
    );
  }, 60_000);

  test('have met open doors and closed ones, or this file would find nothing', () => {
    const usual = [200, 201, 204, 400, 401, 403, 404, 405, 406, 413, 415, 422];
    expect(usual.filter((status) => !statuses.has(status))).toEqual([]);
  });
});
