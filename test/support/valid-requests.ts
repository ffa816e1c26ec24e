/** Random requests of which every value fits openapi.yaml. What has to be there for them to succeed is the business of `world.ts`. */
import * as fc from 'fast-check';
import type { Operation, ParameterObject } from '../../src/contract/contract.ts';
import { objectText } from './exact-json.ts';
import { exampleBody, operations } from './operations.ts';
import { isOpenObject, readSchema, valuesOf } from './schema-values.ts';

/** The four ways in: by a session after a password, by one after signing in at an OpenID provider, by API key, by OAuth 2.0 access token. */
export type Way = 'session' | 'openid' | 'api-key' | 'bearer';

export interface Draft {
  operation: Operation;
  way: Way;
  path: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  /** JSON text, or a value to be written as the operation takes it; undefined for none. */
  body: unknown;
  locale: string;
  /** Decides what the document leaves open. */
  lot: number;
}

const waysBy: Record<string, Way[]> = { sessionCookie: ['session', 'openid'], apiKey: ['api-key'], oauth2: ['bearer'], openId: ['bearer'] };

/** The ways that a draft of the operation may come by; for one that takes no credential, by whom else it is about. */
export function waysOf({ security }: Operation): Way[] {
  const ways = security.flatMap((alternative) => Object.keys(alternative).flatMap((scheme) => waysBy[scheme] ?? []));
  return ways.length > 0 ? [...new Set(ways)] : ['session', 'openid', 'bearer'];
}

const tags = fc.constantFrom('*', '"1"', '"1", "7"', ' "1" ', 'W/"7", "1"');
/** Where a schema says less than the words beside it. */
const special: Record<string, fc.Arbitrary<string>> = {
  'If-Match': tags,
  'If-None-Match': fc.oneof(tags, fc.constantFrom('"7"', 'W/"1"')),
  // Short ones would be met again, with another body.
  'Idempotency-Key': fc.oneof(
    fc.uuid(),
    fc.uuid().map((uuid) => `"${uuid} \\"\\\\ é"`.replace('é', '~')),
  ),
};

function parametersOf({ parameters }: Operation, place: ParameterObject['in']): fc.Arbitrary<Record<string, string>> {
  const declared = parameters.filter((parameter) => parameter.in === place);
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

/** Checking and hashing a password costs more than all else together, and a session has to be there first. */
function weightOf({ operationId, security }: Operation): number {
  if (operationId === 'changePassword') return 1;
  if (security.length === 0) return 2;
  return security.some((way) => 'apiKey' in way) ? 16 : 8;
}

/** A right request of the operation by one of the ways. */
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

/** Any operation by any way that it takes. */
export const drafts: fc.Arbitrary<Draft> = fc.oneof(
  ...operations.map((operation) => ({ weight: weightOf(operation), arbitrary: draftsOf(operation, waysOf(operation)) })),
);
