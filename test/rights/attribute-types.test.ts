/** The types of attributes: what a declaration may say, and which values are of a type. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultsOfValue, fittingValues, readAttributeType, type AttributeType } from '../../src/rights/attribute-types.ts';

const faultsIn = (schema: unknown) => {
  const read = readAttributeType(schema);
  return 'scalar' in read ? [] : read.map(({ code, pointer }) => `${code} ${pointer}`);
};

function typeOf(schema: unknown): AttributeType {
  const type = readAttributeType(schema);
  return 'scalar' in type ? type : expect.unreachable();
}

describe('a declaration', () => {
  test.each([
    [{ type: 'string' }, { scalar: 'string' }],
    [{ type: 'number' }, { scalar: 'number' }],
    [{ type: 'boolean' }, { scalar: 'boolean' }],
    [
      { type: 'string', enum: ['a', 'b'] },
      { scalar: 'enum', texts: ['a', 'b'] },
    ],
    [
      { type: 'string', format: 'int64', to: 'customer' },
      { scalar: 'int64', to: 'customer' },
    ],
    [{ type: 'string', format: 'decimal' }, { scalar: 'decimal' }],
    [{ type: 'string', format: 'date' }, { scalar: 'date' }],
    [
      { type: 'array', items: { type: 'string', format: 'date-time' } },
      { scalar: 'date-time', isList: true },
    ],
  ])('%j is accepted', (schema, expected) => {
    expect(readAttributeType(schema)).toEqual({ isList: false, texts: undefined, to: undefined, ...expected });
  });

  test.each([
    [[], ['invalid-type ']],
    [{}, ['required /type']],
    [{ type: 'object' }, ['invalid-value /type']],
    [{ type: 'integer' }, ['invalid-value /type']],
    [{ type: 'array' }, ['required /items']],
    [{ type: 'array', items: { type: 'array', items: { type: 'string' } } }, ['invalid-value /items/type']],
    [{ type: 'array', items: { type: 'string' }, maxItems: 3 }, ['unknown /maxItems']],
    [{ type: 'string', pattern: 'a', format: 'uuid' }, ['unknown /pattern', 'invalid-value /format']],
    [{ type: 'number', format: 'int64' }, ['unknown /format']],
    [{ type: 'string', enum: [] }, ['invalid-value /enum']],
    [{ type: 'string', enum: ['a', 'a'] }, ['invalid-value /enum']],
    [{ type: 'string', enum: Array.from({ length: 101 }, String) }, ['invalid-value /enum']],
    [{ type: 'string', enum: ['a'], format: 'date' }, ['conflicting /enum']],
    [{ type: 'string', to: 'customer' }, ['conflicting /to']],
    [{ type: 'string', format: 'int64', to: 'a b' }, ['invalid-value /to']],
  ])('%j is refused at its place', (schema, faults) => {
    expect(faultsIn(schema)).toEqual(faults);
  });
});

const of = (scalar: object, value: unknown) => faultsOfValue(typeOf(scalar), value).map(({ code, pointer }) => `${code} ${pointer}`);

test.each([
  [{ type: 'string' }, 'x'.repeat(1_000), 'x'.repeat(1_001), 'too-long '],
  [{ type: 'string' }, '', 1, 'invalid-type '],
  [{ type: 'number' }, 1.5, '1.5', 'invalid-type '],
  [{ type: 'boolean' }, false, 'false', 'invalid-type '],
  [{ type: 'string', enum: ['a'] }, 'a', 'b', 'invalid-value '],
  [{ type: 'string', format: 'int64' }, '9223372036854775807', '9223372036854775808', 'invalid-value '],
  [{ type: 'string', format: 'decimal' }, '0.10', '0,10', 'invalid-value '],
  [{ type: 'string', format: 'date' }, '2028-02-29', '2026-02-29', 'invalid-value '],
  [{ type: 'string', format: 'date-time' }, '2026-11-27T08:00:00Z', '2026-11-27', 'invalid-value '],
  [{ type: 'array', items: { type: 'string' } }, [], 'north', 'invalid-type '],
  [{ type: 'array', items: { type: 'string' } }, ['north'], ['north', null], 'invalid-type /1'],
  [
    { type: 'array', items: { type: 'number' } },
    Array.from({ length: 100 }, () => 1),
    Array.from({ length: 101 }, () => 1),
    'too-many-values ',
  ],
])('of the type %j a value at the bound is one, and the next one is not', (schema, value, other, fault) => {
  expect(of(schema, value)).toEqual([]);
  expect(of(schema, other)).toEqual([fault]);
});

test('values of a caller are those that are declared, set and of their types; others are left out, and unfit ones are reported', () => {
  const declared = new Map([
    ['level', typeOf({ type: 'number' })],
    ['regions', typeOf({ type: 'array', items: { type: 'string' } })],
  ]);
  const value = fc.oneof(
    fc.constant(undefined),
    fc.constant(null),
    fc.integer(),
    fc.string(),
    fc.array(fc.oneof(fc.string(), fc.integer())),
  );
  const isText = (each: unknown) => typeof each === 'string';
  const fits = {
    level: (each: unknown) => typeof each === 'number',
    regions: (each: unknown) => Array.isArray(each) && each.every(isText),
  };
  fc.assert(
    fc.property(fc.record({ level: value, regions: value, other: value }), (stored) => {
      const unfit: string[] = [];
      const values = fittingValues(declared, stored, (name) => unfit.push(name));
      const names = (['level', 'regions'] as const).filter((name) => stored[name] !== undefined && stored[name] !== null);
      const fitting = names.filter((name) => fits[name](stored[name]));
      expect(values).toEqual(Object.fromEntries(fitting.map((name) => [name, stored[name]])));
      expect(unfit).toEqual(names.filter((name) => !fitting.includes(name)));
    }),
  );
  expect(fittingValues(new Map([['toString', typeOf({ type: 'string' })]]), {})).toEqual({});
});
