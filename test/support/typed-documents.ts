/** Types for tests of the document with types, and validators of that document. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ContractDocument } from '../../src/contract/contract.ts';
import { createAjv } from './ajv.ts';
import { declareType } from './entities.ts';
import { useService, type Answer, type ProblemBody, type TestService } from './service.ts';

/** Types with everything that the document with types has to put into other words. */
export const hostileTypes: Readonly<Record<string, Record<string, unknown>>> = {
  customer: {
    title: 'Customer',
    description: 'Buys things.',
    type: 'object',
    additionalProperties: false,
    required: ['company'],
    properties: {
      company: { type: 'string', minLength: 1, maxLength: 200 },
      city: { type: ['string', 'null'] },
      credit: { type: 'string', format: 'decimal' },
      account: { type: 'string', format: 'int64' },
      since: { type: 'string', format: 'date-time' },
      birthday: { type: 'string', format: 'date' },
      vip: { type: 'boolean' },
      score: { type: 'number' },
      state: { enum: ['open', 'closed'] },
      tags: { type: 'array', items: { type: 'string' } },
      labels: { type: 'array', items: { enum: ['new', 'vip', null] } },
      lines: { type: 'array', items: { $ref: '#/$defs/line' } },
      address: { $ref: '#/$defs/address' },
      billing: { $ref: '#/$defs/address' },
      anything: true,
      'first name': { type: 'string' },
    },
    $defs: {
      address: {
        type: 'object',
        additionalProperties: false,
        required: ['zip'],
        properties: { zip: { type: 'string' }, geo: { type: 'object', properties: { lat: { type: 'number' } } } },
      },
      line: { type: 'object', required: ['count'], properties: { count: { type: 'integer', minimum: 1 } } },
    },
  },
  'customer-page': { type: 'object', properties: { page: { type: 'integer' } } },
  'customer-line': { type: 'object', additionalProperties: { type: 'number' } },
  'order-line': {
    type: 'object',
    required: ['count'],
    properties: { count: { type: 'integer' }, code: { type: 'string', pattern: '(?i)^a' } },
  },
  order_line: { type: 'object', properties: { fixed: { const: 'a' }, either: { anyOf: [{ type: 'string' }, { type: 'number' }] } } },
  Session: { type: 'object', properties: { old: { type: 'string', nullable: true }, never: false } },
  sessions: { type: 'object' },
  Problem: { type: 'object', patternProperties: { '^x-': { type: 'string' } } },
  file: { type: 'object', properties: { name: { type: 'string' } } },
  sale: {
    type: 'object',
    additionalProperties: false,
    properties: {
      buyer: { type: 'string', format: 'int64' },
      number: { type: 'string', format: 'int64' },
      ship: { type: 'object', properties: { to: { type: 'string', format: 'int64' } } },
    },
    'x-references': { buyer: { to: 'customer' }, 'ship.to': { to: 'customer' } },
  },
  tree: {
    type: 'object',
    properties: { name: { type: 'string' }, left: { $ref: '#/$defs/node' }, self: { $ref: '#' } },
    $defs: { node: { type: 'object', properties: { value: { type: 'number' }, below: { $ref: '#/$defs/node' } } } },
  },
};

/** The document with these types, for the caller with the credential. */
export function typedContract(
  service: TestService,
  credential: { cookie: string } | { headers: Record<string, string> },
  ...types: string[]
): Promise<Answer<ContractDocument & ProblemBody>> {
  const query = new URLSearchParams(types.map((type): [string, string] => ['type', type])).toString();
  return service.call('GET', `/openapi.json?${query}`, credential);
}

/** Makes a function that gives the faults of a value by the schema at the path of names into the document. */
export function validatorsOf(document: ContractDocument): (path: readonly string[], value: unknown) => string[] {
  const ajv = createAjv({ allErrors: true });
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema({ $id: 'typed.json', ...document });
  return (path, value) => {
    const pointer = path.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = ajv.getSchema(`typed.json#/${pointer}`);
    if (!validate) throw new Error(`no schema at ${pointer}`);
    return validate(value) === true ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };
}

/** Writes the document with {@link hostileTypes} for the tests of a file. The returned function gives the directory of its `openapi.json`. */
export function useTypedDocument(): () => string {
  const service = useService({ PUBLIC_URL: 'https://entities.example.org' });
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'entity-service-typed-'));
    for (const [name, document] of Object.entries(hostileTypes)) await declareType(service(), name, document);
    const cookie = await service().openSession((await service().createUser('ada')).id);
    const { status, text } = await typedContract(service(), { cookie }, '*');
    expect(status).toBe(200);
    await writeFile(join(directory, 'openapi.json'), text);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return () => directory;
}
