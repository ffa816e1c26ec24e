/** The names of the schemas of types in the document with types. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { roles, schemaNames } from '../../src/entity-types/typed-contract/names.ts';
import { document, operations } from '../support/operations.ts';

const namesOf = (...names: string[]) => Object.fromEntries(schemaNames(names, document));
const schemas = Object.keys(document.components['schemas'] ?? {}).map((name) => name.toLowerCase());
const operationIds = operations.map(({ operationId }) => operationId.toLowerCase());

test.for<[string, string]>([
  ['customer', 'Customer'],
  ['order-line', 'OrderLine'],
  ['order_line', 'OrderLine'],
  ['orderLine', 'OrderLine'],
  ['Order.Line', 'OrderLine'],
  ['a', 'A'],
  ['invoice-2', 'Invoice2'],
  ['Session', 'SessionType'],
  ['sessions', 'SessionsType'],
  ['Problem', 'ProblemType'],
  ['filter', 'FilterType'],
  ['text-test', 'TextTestType'],
  ['promise', 'PromiseType'],
  ['constructor', 'Constructor'],
])('%s alone is called %s', ([name, expected]) => {
  expect(namesOf(name)).toEqual({ [name]: expected });
});

test('types whose names would be equal, in whatever case, each get a digest', () => {
  const names = namesOf('order-line', 'order_line', 'orderline', 'customer');
  expect(names).toEqual({
    'order-line': expect.stringMatching(/^OrderLine__[0-9a-f]{8}$/),
    order_line: expect.stringMatching(/^OrderLine__[0-9a-f]{8}$/),
    orderline: expect.stringMatching(/^Orderline__[0-9a-f]{8}$/),
    customer: 'Customer',
  });
  expect(new Set(Object.values(names)).size).toBe(4);
});

test('a type that is called like a schema of another one gets a digest, and the other one none', () => {
  expect(namesOf('customer', 'customer-page')).toEqual({
    customer: 'Customer',
    'customer-page': expect.stringMatching(/^CustomerPage__[0-9a-f]{8}$/),
  });
});

test('a type whose operation would be called like one of another type gets a digest', () => {
  const names = namesOf('customer', 'many-customer');
  expect(names).toEqual({ customer: 'Customer', 'many-customer': expect.stringMatching(/^ManyCustomer__[0-9a-f]{8}$/) });
});

test('no name of any types is one of the contract or of another type, whatever the case', () => {
  const word = fc.constantFrom('customer', 'Customer', 'page', 'Page', 'entity', 'type', 'Problem', 'patch', 'list', 'many', '2', 'map');
  const name = fc.tuple(word, fc.array(fc.tuple(fc.constantFrom('', '-', '_', '.'), word), { maxLength: 2 }));
  const texts = name.map(([first, rest]) => (/^[A-Za-z]/.test(first) ? '' : 'x') + first + rest.flat().join(''));
  fc.assert(
    fc.property(fc.uniqueArray(texts, { maxLength: 30 }), (names) => {
      const bases = [...schemaNames(names, document).values()];
      const all = bases.flatMap((base) => ['', ...roles].map((role) => (base + role).toLowerCase()));
      expect(new Set(all).size).toBe(all.length);
      expect(all.filter((each) => schemas.includes(each))).toEqual([]);
      const ids = bases.flatMap((base) =>
        ['list', 'query', 'create', 'get', 'update', 'delete'].map((verb) => (verb + base).toLowerCase()),
      );
      expect(ids.filter((id) => operationIds.includes(id))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
