/**
 * The operations of openapi.yaml as contract tests go through them, each with a request that would be accepted, made from the document's own
 * examples: so a new operation is tested without a new line. It does not know what any operation is for.
 */
import { operationsOf, readContract, resolve, type Operation } from '../../src/contract/contract.ts';
import type { Call } from './service.ts';

export const { text: contractText, document } = readContract();
export const operations = operationsOf(document);

/** Operations that only an authenticated caller gets past the door of. */
export const guarded = operations.filter(({ security }) => security.length > 0 && security.every((way) => Object.keys(way).length > 0));
/** Operations that read a body; all others ignore it. */
export const withBody = operations.filter(({ requestBody }) => requestBody !== undefined);
/** Operations by which the cookie of a browser could be abused from another site (security rule 27): not those that no credential is for. */
export const changing = operations.filter(
  ({ method, operationId, security }) => method !== 'get' && method !== 'head' && (security.length > 0 || operationId === 'createSession'),
);

/** The operation's title in a test: `getEntity`, with where it is. */
export const titled = (list: readonly Operation[]): [string, Operation][] =>
  list.map((operation) => [`${operation.operationId} (${operation.method.toUpperCase()} ${operation.path})`, operation]);

/** The operation's method as HTTP writes it. */
export const methodOf = ({ method }: Operation): string => method.toUpperCase();

/** The path with the examples of its parameters, or with `values` in their place, which are inserted as they are. */
export function pathOf({ operationId, path, parameters }: Operation, values: Record<string, string> = {}): string {
  return path.replace(/{(\w+)}/g, (_match, name: string) => {
    const parameter = parameters.find((candidate) => candidate.in === 'path' && candidate.name === name);
    const value = values[name] ?? parameter?.example ?? parameter?.schema['example'];
    if (typeof value !== 'string') throw new Error(`openapi.yaml: give the path parameter ${name} of ${operationId} an example`);
    return value;
  });
}

/** The media type the operation's body is sent as, and the first example of one; undefined when it takes none. */
export function bodyOf(operation: Operation): { type: string; text: string } | undefined {
  return operation.requestBody && exampleBody(operation);
}

/** The body of an operation that takes one: its media type and schema, and the first example as a value and as it is sent. */
export function exampleBody({ operationId, requestBody }: Operation): { type: string; schema: object; value: object; text: string } {
  const [[type, { schema = {}, examples }] = ['', {}]] = Object.entries(requestBody?.content ?? {});
  const [example] = Object.values(examples ?? {});
  const value = example && resolve(document, example).value;
  if (typeof value !== 'object' || value === null) throw new Error(`openapi.yaml: give the request body of ${operationId} an example`);
  return { type, schema, value, text: encodeBody(type, value) };
}

/** A value as a body of that media type. */
export function encodeBody(type: string, value: object): string {
  return type === 'application/json' ? JSON.stringify(value) : new URLSearchParams(value as Record<string, string>).toString();
}

/** The body of {@link bodyOf} ready to send; nothing for an operation that takes none. */
export function exampleCall(operation: Operation, call: Call = {}): Call {
  const body = bodyOf(operation);
  return body ? { ...call, headers: { 'content-type': body.type, ...call.headers }, raw: body.text } : call;
}
