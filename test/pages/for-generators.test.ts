/** How an operation of openapi.yaml is written, so that generators and importers of others understand all of it. CONTRIBUTING.md says so. */
import { describe, expect, test } from 'vitest';
import { methods, resolveReference, type ComponentReference } from '../../src/contract/contract.ts';
import { misfits } from '../support/contract.ts';
import { document, operations, titled } from '../support/operations.ts';

interface Media {
  schema?: object;
  examples?: Record<string, { value: unknown } | ComponentReference>;
}

const isReference = (value: object | undefined) => value !== undefined && '$ref' in value;
/** The operations before references are resolved. */
const written = Object.values(document.paths).flatMap((path) => methods.flatMap((method) => path[method] ?? []));

test.for(written.map((operation) => [operation.operationId, operation] as const))(
  '%s has its body and its answers below 400 in place: generators lose the media type behind a $ref',
  ([, { requestBody, responses }]) => {
    expect(isReference(requestBody), 'requestBody').toBe(false);
    const answers = Object.entries(responses).filter(([status]) => Number(status) < 400);
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.filter(([, answer]) => isReference(answer)).map(([status]) => status)).toEqual([]);
  },
);

test('parameters stand in the operations: openapi-client-axios-typegen loses those of a path', () => {
  expect(Object.keys(document.paths).filter((path) => document.paths[path]?.parameters !== undefined)).toEqual([]);
});

test('an operation that takes an API key or a cookie names the key first: converters make requests with the first scheme', () => {
  const orders = written.map(({ security = [] }) => security.flatMap((alternative) => Object.keys(alternative)));
  const both = orders.filter((schemes) => schemes.includes('apiKey') && schemes.includes('sessionCookie'));
  expect(both.length).toBeGreaterThan(10);
  expect(both.filter(([first]) => first !== 'apiKey')).toEqual([]);
});

describe.for(titled(operations))('%s', ([, { requestBody, responses, parameters }]) => {
  const contents = [requestBody, ...Object.values(responses)].flatMap((part) =>
    Object.entries((part?.content ?? {}) as Record<string, Media>).map(([type, media]) => ({ part, type, media })),
  );

  test('has an example of each body, of the request and of each answer, in each media type', () => {
    const without = contents.filter(({ media: { examples = {} } }) => Object.keys(examples).length === 0);
    expect(without.map(({ type }) => type)).toEqual([]);
  });

  test('has an example of each parameter: its own, or one of its schema', () => {
    const without = parameters.filter(({ example, schema }) => {
      const { examples, enum: values } = resolveReference<Record<string, unknown>>(document, schema);
      return example === undefined && examples === undefined && values === undefined;
    });
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  test('has an example in the schema of a form, which fits it: importers do not read the other one', () => {
    const form = requestBody?.content['application/x-www-form-urlencoded']?.schema as ComponentReference | undefined;
    if (!form) return;
    const { examples = [] } = resolveReference<{ examples?: object[] }>(document, form);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(misfits(form.$ref, example)).toEqual([]);
  });
});
