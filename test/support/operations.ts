/**
 * The operations of openapi.yaml for contract tests, each with a request that would be accepted, made from the document's own examples. A
 * new operation is tested without further code. This file does not depend on what an operation does.
 */
import { operationsOf, readContract, resolveReference, type Operation } from '../../src/contract/contract.ts';
import type { Call } from './service.ts';

export const { text: contractText, document } = readContract();
export const operations = operationsOf(document);

/** Operations that require authentication. */
export const guarded = operations.filter(({ security }) => security.length > 0 && security.every((way) => Object.keys(way).length > 0));
/** Operations that read a body; all others ignore it. */
export const withBody = operations.filter(({ requestBody }) => requestBody !== undefined);
/** Operations that another site could abuse with a browser's cookie (security rule 27): those that take it, and the sign-in. */
export const abusable = operations.filter(
  ({ operationId, security }) => security.some((way) => 'sessionCookie' in way) || operationId === 'createSession',
);

/** The operation's title in a test: `getEntity` with its method and path. */
export const titled = (list: readonly Operation[]): [string, Operation][] =>
  list.map((operation) => [`${operation.operationId} (${operation.method.toUpperCase()} ${operation.path})`, operation]);

/** Every body that an operation reads: the operation in each of its media types, with a title for tests. */
export const titledBodies: [string, { operation: Operation; type: string }][] = titled(withBody).flatMap(([title, operation]) =>
  Object.keys(operation.requestBody?.content ?? {}).map((type, _index, types): [string, { operation: Operation; type: string }] => [
    types.length > 1 ? `${title} as ${type}` : title,
    { operation, type },
  ]),
);

/** The operation's method in capital letters, as in HTTP. */
export const methodOf = ({ method }: Operation): string => method.toUpperCase();

/** The path with the examples of its parameters, or with `values` in their place, inserted without encoding. */
export function pathOf({ operationId, path, parameters }: Operation, values: Record<string, string> = {}): string {
  return path.replace(/{(\w+)}/g, (_match, name: string) => {
    const parameter = parameters.find((candidate) => candidate.in === 'path' && candidate.name === name);
    const value = values[name] ?? parameter?.example ?? parameter?.schema['example'];
    if (typeof value !== 'string') throw new Error(`openapi.yaml: give the path parameter ${name} of ${operationId} an example`);
    return value;
  });
}

/** The path likewise, with the examples of the query parameters that the operation requires. */
export function urlOf(operation: Operation, values: Record<string, string> = {}): string {
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(({ name, example }): [string, string] => [name, String(example)]);
  const search = new URLSearchParams(query).toString();
  return pathOf(operation, values) + (search && `?${search}`);
}

/** The media type of the operation's body, and its first example; undefined when the operation takes no body. */
export function bodyOf(operation: Operation): { type: string; text: string } | undefined {
  return operation.requestBody && exampleBody(operation);
}

/**
 * The body of an operation that takes one, in the media type `wanted` or else in the first: its type and schema, and the first example as a
 * value and as text.
 */
export function exampleBody(
  { operationId, requestBody: { content = {} } = { content: {} } }: Operation,
  wanted?: string,
): { type: string; schema: object; value: object; text: string } {
  const type = wanted ?? Object.keys(content)[0] ?? '';
  const { schema = {}, examples } = content[type] ?? {};
  const [example] = Object.values(examples ?? {});
  const value = example && resolveReference(document, example).value;
  if (typeof value === 'string') return { type, schema, value: {}, text: value };
  if (typeof value !== 'object' || value === null) throw new Error(`openapi.yaml: give the request body of ${operationId} an example`);
  return { type, schema, value, text: encodeBody(type, value) };
}

/** A value as a body of that media type. */
export function encodeBody(type: string, value: object): string {
  return type === 'application/json' ? JSON.stringify(value) : new URLSearchParams(value as Record<string, string>).toString();
}

/** The body of {@link bodyOf} ready to send; empty for an operation that takes none. */
export function exampleCall(operation: Operation, call: Call = {}): Call {
  const body = bodyOf(operation);
  return body ? { ...call, headers: { 'content-type': body.type, ...call.headers }, raw: body.text } : call;
}
