/**
 * The service enforces every keyword of every request schema in openapi.yaml. For each keyword a request breaks it, and the answer names
 * the place. The requests are derived from the document, so a new operation or keyword needs no new test.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Operation } from '../../src/contract/contract.ts';
import { bodyOf, exampleBody, methodOf, operations, pathOf, titled, titledBodies } from '../support/operations.ts';
import { readSchema, requiredParameters, sampleOf } from '../support/schema-values.ts';
import { useService, type ProblemBody } from '../support/service.ts';
import { violationsOf, type Violation } from '../support/violations.ts';

const service = useService();
let ada: string;
let cookie: string;

beforeAll(async () => {
  ada = (await service().createUser('ada')).id;
});
beforeEach(async () => {
  cookie = await service().openSession(ada);
});

/** The code in `errors` for a violation of the keyword. */
const codeOf = (keyword: string): string =>
  ({ required: 'required', additionalProperties: 'unknown', type: 'invalid-type', minLength: 'too-short', maxLength: 'too-long' })[
    keyword
  ] ?? 'invalid-value';

interface Sent {
  path?: string;
  headers?: Record<string, string>;
  payload?: string;
}

async function send(operation: Operation, { path = pathOf(operation), headers = {}, payload }: Sent) {
  const answer = await service().inject({
    method: methodOf(operation),
    url: path,
    headers: { cookie, ...headers },
    ...(payload !== undefined && { payload }),
  });
  return { status: answer.statusCode, text: answer.body, code: answer.headers['problem-code'] };
}

/** A body that is read as a stream has no value to compare with a schema; each of its rows is checked. */
const wholeBodies = titledBodies.filter(([, { operation }]) => !operation.streamsBody);

describe.for(wholeBodies)('the body of %s', ([, { operation, type }]) => {
  const { schema, value: example } = exampleBody(operation, type);
  const isJson = type === 'application/json';
  const takesForm = 'application/x-www-form-urlencoded' in (operation.requestBody?.content ?? {});
  const encode = (value: unknown) => (isJson ? JSON.stringify(value) : new URLSearchParams(value as Record<string, string>).toString());
  const violations = violationsOf(schema, example, isJson).filter(({ value }) => isJson || isForm(value));

  test.for(violations.map((violation) => [label(violation), violation] as const))('%s', async ([, { keyword, pointer, value }]) => {
    const payload = encode(value);
    const answer = await send(operation, { headers: { 'content-type': type }, payload });
    // A body of this size is refused before it is parsed.
    if (takesForm && payload.length > 8_192) return expect(answer.status).toBe(413);
    expect(answer.status, answer.text).toBe(isJson ? 422 : 400);
    const problem = JSON.parse(answer.text) as ProblemBody;
    // An empty form is no body at all.
    const errors = [{ pointer: payload === '' ? '' : pointer }];
    expect(problem).toMatchObject({ code: isJson ? 'validation-failed' : 'malformed-request', errors });
    // A value that has the type of no alternative.
    const others = keyword === 'anyOf' ? ['invalid-value', 'invalid-type'] : ['invalid-value'];
    expect([codeOf(keyword), ...others]).toContain(problem.errors?.[0]?.code);
    if (isJson) for (const fault of problem.errors ?? []) expect(fault.expected, JSON.stringify(fault)).toMatch(/\S/);
  });
});

const withParameters = operations.filter(({ parameters }) => parameters.length > 0);
const places = ['path', 'query', 'header'] as const;
type Place = (typeof places)[number];

/** The violations of all parameters that an operation has in one place, each as all the values of that place. */
function violationsIn(operation: Operation, place: Place): Violation[] {
  const parameters = operation.parameters.filter((parameter) => parameter.in === place);
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return violationsOf({ type: 'object', properties, required }, requiredParameters(operation, place), false).filter(({ pointer, value }) =>
    fitsPlace(place, (value as Record<string, string>)[pointer.slice(1)]),
  );
}

describe.for(titled(withParameters))('a parameter of %s', ([, operation]) => {
  const violations = places.flatMap((place) => violationsIn(operation, place).map((violation) => ({ place, violation })));

  test.for(violations.map((sent) => [label(sent.violation), sent] as const))('%s', async ([, { place, violation }]) => {
    const { keyword, pointer, value } = violation;
    const sent = value as Record<string, string>;
    const encoded = Object.entries(place === 'path' ? sent : {}).map(([name, text]) => [name, encodeURIComponent(text)]);
    const query = new URLSearchParams(place === 'query' ? sent : requiredParameters(operation, 'query')).toString();
    const body = bodyOf(operation);
    const answer = await send(operation, {
      path: pathOf(operation, Object.fromEntries(encoded) as Record<string, string>) + (query && `?${query}`),
      headers: { ...(body && { 'content-type': body.type }), ...(place === 'header' && sent) },
      ...(body && { payload: body.text }),
    });
    expect(answer.status, answer.text).toBe(400);
    if (operation.method === 'head') return expect(answer.code).toBe('malformed-request');
    const problem = JSON.parse(answer.text) as ProblemBody;
    expect(problem.errors, answer.text).toMatchObject([
      { parameter: pointer.slice(1), ...(keyword === 'required' && { code: codeOf(keyword) }) },
    ]);
  });
});

test('some of these omit a required query parameter', () => {
  const leftOut = withParameters.flatMap((operation) => violationsIn(operation, 'query').filter(({ keyword }) => keyword === 'required'));
  expect(leftOut).not.toEqual([]);
});

test('no request schema is left out: each parameter and each body that is read as a whole has a violation', () => {
  for (const { operationId, parameters } of operations) {
    for (const { name, schema } of parameters) {
      const found = violationsOf(readSchema(schema), sampleOf(schema), false);
      expect(found.length, `${operationId} ${name} accepts any text: give it a pattern, an enum or a maxLength`).toBeGreaterThan(0);
    }
  }
  for (const [, { operation, type }] of wholeBodies) {
    const { schema, value } = exampleBody(operation, type);
    expect(violationsOf(schema, value, type === 'application/json').length, operation.operationId).toBeGreaterThan(0);
  }
});

/** Whether a form can represent the value. */
function isForm(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether the value can be sent in that place. An empty path segment, or none, makes another path. HTTP headers are ASCII without outer
 * spaces.
 */
function fitsPlace(place: Place, text: string | undefined): boolean {
  if (place === 'path') return Boolean(text);
  return place !== 'header' || text === undefined || /^[!-~]([ -~]*[!-~])?$/.test(text);
}

const label = ({ keyword, pointer, value }: Violation): string =>
  `${keyword}${pointer && ` at ${pointer}`}: ${short(JSON.stringify(value))}`;
const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}...` : text);
