/** Random requests whose values all fit openapi.yaml. `valid-caller.ts` creates the rows that they need to succeed. */
import * as fc from 'fast-check';
import type { Operation, ParameterObject } from '../../src/contract/contract.ts';
import { objectText } from './exact-json.ts';
import { exampleBody, operations } from './operations.ts';
import { isOpenObject, readSchema, valuesOf } from './schema-values.ts';

/**
 * The four credentials: a session after a password, a session after signing in at an OpenID provider, an API key, an OAuth 2.0 access
 * token.
 */
export type Way = 'session' | 'openid' | 'api-key' | 'bearer';

export interface Draft {
  operation: Operation;
  way: Way;
  path: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  /** JSON text, or a value to encode in the operation's media type; undefined for none. */
  body: unknown;
  locale: string;
  /** Decides what the document leaves open. */
  lot: number;
}

const waysBy: Record<string, Way[]> = { sessionCookie: ['session', 'openid'], apiKey: ['api-key'], oauth2: ['bearer'], openId: ['bearer'] };

/**
 * The credentials that a draft of the operation may use. For an operation without authentication, the credential of the user that it
 * concerns.
 */
export function waysOf({ security }: Operation): Way[] {
  const ways = security.flatMap((alternative) => Object.keys(alternative).flatMap((scheme) => waysBy[scheme] ?? []));
  return ways.length > 0 ? [...new Set(ways)] : ['session', 'openid', 'bearer'];
}

const tags = fc.constantFrom('*', '"1"', '"1", "7"', ' "1" ', 'W/"7", "1"');
const listTexts = {
  filter: fc.constantFrom('{}', '{"a":1}', '{"b":{"c":{"$contains":1}},"$not":{"a":{"$lt":5}}}', '{"$or":[{"$key":"1"},{"a":null}]}'),
  sort: fc.constantFrom('a', '-$key', '-b.c,a', '$createdAt,-$version'),
  fields: fc.constantFrom('a', 'b.c,a', 'missing'),
};
/** Parameters whose schema allows more than their description. */
const special: Record<string, fc.Arbitrary<string>> = {
  ...listTexts,
  'If-Match': tags,
  'If-None-Match': fc.oneof(tags, fc.constantFrom('"7"', 'W/"1"')),
  // A short key would be drawn again with another body, which is a conflict.
  'Idempotency-Key': fc.oneof(
    fc.uuid(),
    fc.uuid().map((uuid) => `"${uuid} \\"\\\\ é"`.replace('é', '~')),
  ),
};

function parametersOf({ parameters }: Operation, place: ParameterObject['in']): fc.Arbitrary<Record<string, string>> {
  // Only the service makes cursors, a sign-in has one right issuer, and a name without a declared type has no references and no texts to search.
  const declared = parameters.filter(
    (parameter) => parameter.in === place && !['cursor', 'include', 'search', 'iss'].includes(parameter.name),
  );
  const values = declared.map(({ name, schema }) => [name, special[name] ?? valuesOf(schema).map(String)] as const);
  const requiredKeys = declared.filter(({ required }) => required).map(({ name }) => name);
  return fc.record(Object.fromEntries(values), { requiredKeys, noNullPrototype: true });
}

function bodies(operation: Operation): fc.Arbitrary<unknown> {
  if (!operation.requestBody) return fc.constant(undefined);
  const { schema } = exampleBody(operation);
  const body = isOpenObject(readSchema(schema)) ? objectText : valuesOf(schema);
  return operation.requestBody.required ? body : fc.option(body, { nil: undefined });
}

/** Changing a password costs more than all other operations together, and operations with a session need one first. */
function weightOf({ operationId, security }: Operation): number {
  if (operationId === 'changePassword') return 1;
  if (security.length === 0) return 2;
  return security.some((way) => 'apiKey' in way) ? 16 : 8;
}

/** Valid requests of the operation with one of the credentials. */
export function draftsOf(operation: Operation, ways: Way[]): fc.Arbitrary<Draft> {
  return fc.record({
    operation: fc.constant(operation),
    way: fc.constantFrom(...ways),
    path: parametersOf(operation, 'path'),
    query: parametersOf(operation, 'query'),
    headers: parametersOf(operation, 'header'),
    body: bodies(operation),
    locale: fc.constantFrom('en', 'de-AT', 'ja', 'fr-CA', 'zh-Hant-TW'),
    lot: fc.nat(999),
  });
}

/** Any operation with any credential that it accepts. */
export const drafts: fc.Arbitrary<Draft> = fc.oneof(
  ...operations.map((operation) => ({ weight: weightOf(operation), arbitrary: draftsOf(operation, waysOf(operation)) })),
);
