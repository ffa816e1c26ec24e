/**
 * Random requests of every kind, most of which must be refused: completely random ones, and valid ones with one change. Callers are given
 * by number, since a credential is made when the request is sent.
 */
import { METHODS } from 'node:http';
import * as fc from 'fast-check';
import type { Operation } from '../../src/contract/contract.ts';
import { objectText } from './exact-json.ts';
import { bodyOf, methodOf, operations, pathOf } from './operations.ts';
import { requiredParameters } from './schema-values.ts';

const pick = <T>(...values: T[]) => fc.constantFrom(...values);
/** Mostly `usual`, sometimes `rare`. */
const mostly = <T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: rare });

const anyText = fc.string({ unit: pick(...Array.from('aZ09 é😀%=&;"\'\n\0/\\{}[]:,\u202e'), '\ud800'), maxLength: 20 });
const segment = mostly(
  pick('customer', '10001', '10002', 'sales', 'all', '1', 'corp', '9223372036854775807'),
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

/** A method and a path: mostly of an operation, with random texts in place of its parameters. */
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

/** Values of the parameters of lists, most of them not accepted. */
const listText = fc.oneof(
  anyText,
  fc.json(),
  pick(
    '{"key":"10001"}',
    '{"$or":[]}',
    '{"a":{"$in":[1e400]}}',
    '{"$not":{"$not":{"$not":{"$not":{"$not":{}}}}}}',
    '-$createdAt,key',
    '$key,$key',
  ),
  pick('{"a":{"$gt":null}}', '{"$createdAt":"now"}', '{"$key":{"$in":["1","x"]}}', 'a..b,-', 'q1.AAAA', '1000', 'exact', 'estimated'),
);

const state = 'x'.repeat(43);
const query = mostly(
  pick('', '', '', '?roles=1', '?profiles=1&roles=1', '?logout=1', '?return_to=/app&fresh=1', `?state=${state}&code=any`),
  fc.oneof(
    pick(
      '?',
      '?roles=2',
      '?roles',
      '?logout=1&logout=1',
      '?__proto__=1',
      '?%zz',
      '?a[b]=c',
      '?&&=&',
      '?return_to=//evil.example',
      '?fresh=0',
      `?state=${state}&state=${state}`,
    ),
    fc
      .tuple(pick('filter', 'search', 'sort', 'fields', 'include', 'cursor', 'limit', 'count'), listText)
      .map(([name, text]) => `?${name}=${encodeURIComponentLoosely(text)}`),
    anyText.map((text) => `?${encodeURIComponentLoosely(text)}`),
  ),
);

/** The characters that HTTP allows in a header; Node refuses to send others. */
const headerText = fc.stringMatching(/^[\x21-\x7e\xa0-\xff]{0,40}$/);
const tag = pick('"1"', '"2"', 'W/"1"', '*', '"1", "2"', '1', '"', '""', ',', '"9999999999999999999"');
const header = fc.oneof(
  fc.tuple(
    fc.constant('accept'),
    fc.oneof(pick('*/*', 'application/json'), fc.oneof(headerText, pick('text/html', 'application/json;q=0', '*/*;q=0', ',', ';'))),
  ),
  fc.tuple(
    fc.constant('content-type'),
    mostly(
      pick('application/json', 'application/x-www-form-urlencoded'),
      fc.oneof(headerText, pick('text/plain', 'application/json; charset=utf-16', 'application/json;', ';')),
    ),
  ),
  fc.tuple(pick('if-match', 'if-none-match', 'idempotency-key'), fc.oneof(tag, headerText)),
  fc.tuple(
    pick('sec-fetch-site', 'origin', 'referer', 'sec-purpose'),
    fc.oneof(pick('same-origin', 'cross-site', 'http://localhost:3000', 'https://evil.example', 'null', 'prefetch'), headerText),
  ),
  fc.tuple(
    pick('content-encoding', 'expect', 'accept-language', 'x-forwarded-for', 'x-http-method-override', 'range', 'prefer', 'upgrade'),
    fc.oneof(pick('gzip', 'identity', 'de', '*', 'DELETE', 'bytes=0-1'), headerText),
  ),
);

/** The credentials of the callers that a test has created. */
export interface Callers {
  cookies: readonly string[];
  keys: readonly string[];
}

type Headers = Record<string, string>;
const credential: fc.Arbitrary<(callers: Callers) => Headers> = fc.oneof(
  { weight: 5, arbitrary: fc.nat(3).map((index) => ({ cookies }: Callers): Headers => ({ cookie: cookies[index] ?? '' })) },
  { weight: 5, arbitrary: fc.nat(2).map((index) => ({ keys }: Callers): Headers => ({ 'x-api-key': keys[index] ?? '' })) },
  { weight: 1, arbitrary: fc.constant((): Headers => ({})) },
  { weight: 1, arbitrary: headerText.map((text) => (): Headers => ({ cookie: `sid=${text}` })) },
  {
    weight: 1,
    arbitrary: fc.tuple(pick('x-api-key', 'authorization', 'cookie'), headerText).map(([name, text]) => (): Headers => ({ [name]: text })),
  },
  {
    weight: 1,
    arbitrary: headerText.map((text) => ({ keys }: Callers): Headers => ({ authorization: `Bearer ${text}`, 'x-api-key': keys[0] ?? '' })),
  },
);

const queries = pick(
  '{"filter":{"a":{"$x":1}}}',
  '{"filter":{"$and":[{"$key":"x"}]}}',
  '{"sort":["$x"]}',
  '{"cursor":"q1.AAAA"}',
  '{"filter":[[]]}',
);
const examples = operations.flatMap((operation) => bodyOf(operation)?.text ?? []);
const tooLarge = `{"a":"${'x'.repeat(70_000)}"}`;

const body = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: pick(...examples) },
  { weight: 1, arbitrary: queries },
  { weight: 3, arbitrary: objectText },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: anyText },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.tuple(pick('user', 'password', 'locale', 'oidcIssuer', 'access_token', 'set-password', 'logout_token', 'x'), anyText), {
        maxLength: 5,
      })
      .map((pairs) => pairs.map(([name, text]) => `${name}=${encodeURIComponentLoosely(text)}`).join('&')),
  },
  { weight: 3, arbitrary: pick('x'.repeat(1_025), 'x'.repeat(8_193), tooLarge, '['.repeat(50_000)) },
);

/** One difference from the request that the document gives as an example. */
interface Change {
  headers?: Record<string, string>;
  query?: string;
  payload?: string | Buffer | undefined;
  values?: Record<string, string>;
}

const anyChange: fc.Arbitrary<Change> = fc.oneof(
  header.map(([name, value]) => ({ headers: { [name]: value } })),
  query.map((text) => ({ query: text })),
  body.map((payload) => ({ payload })),
  fc.tuple(pick('name', 'key', 'id', 'issuer'), segment).map(([name, value]) => ({ values: { [name]: value } })),
  fc.constant({}),
);

/** A request without its credential. */
export interface RandomRequest {
  method: string;
  url: string;
  headers: (callers: Callers) => Headers;
  payload: string | Buffer | undefined;
}

/** Completely random requests. */
export const anything: fc.Arbitrary<RandomRequest> = fc
  .record({ target, query, credential, headers: fc.array(header, { maxLength: 3 }), payload: body })
  .map(({ target: { method, path }, query, credential, headers, payload }) => ({
    method,
    url: path + query,
    headers: (callers) => ({ ...Object.fromEntries(headers), ...credential(callers) }),
    payload,
  }));

/** A body larger than any operation takes. */
export const oversized: fc.Arbitrary<Change> = fc.constant({ payload: tooLarge });

/** The document's example of an operation, on one of the rows with these keys, with one change. */
export const oneOff = (rows: readonly string[], change: fc.Arbitrary<Change> = anyChange): fc.Arbitrary<RandomRequest> =>
  fc
    .record({ operation: pick(...operations), key: pick(...rows), caller: fc.nat(2), change })
    .map(({ operation, key, caller, change }) => wildFrom(operation, key, caller, change));

function wildFrom(operation: Operation, key: string, caller: number, change: Change): RandomRequest {
  const required = new URLSearchParams(requiredParameters(operation, 'query')).toString();
  const { headers = {}, query = required && `?${required}`, values = {} } = change;
  const example = bodyOf(operation);
  const takesKey = operation.security.some((way) => 'apiKey' in way);
  return {
    method: methodOf(operation),
    url: pathOf(operation, { ...(operation.path.includes('{key}') && { key }), ...values }) + query,
    headers: ({ cookies, keys }) => ({
      ...(takesKey ? { 'x-api-key': keys[caller] ?? '' } : { cookie: cookies[caller] ?? '' }),
      ...(example && { 'content-type': example.type }),
      ...headers,
    }),
    payload: 'payload' in change ? change.payload : example?.text,
  };
}
