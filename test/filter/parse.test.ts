import { describe, expect, test } from 'vitest';
import { fieldTypesOf } from '../../src/entity-types/field-types.ts';
import { undeclaredFields, type FieldTypes } from '../../src/filter/fields.ts';
import { bodyLimits, urlLimits } from '../../src/filter/limits.ts';
import { parseFilter } from '../../src/filter/parse.ts';
import { declaredSchema } from '../support/random-filters.ts';

const declared = fieldTypesOf(declaredSchema);

/** The faults as `pointer code`, with the position of a name that is not repeated; empty for a filter that is accepted. */
function faultsOf(filter: unknown, types = undeclaredFields, limits = bodyLimits): string[] {
  const parsed = parseFilter(filter, types, limits);
  return 'faults' in parsed
    ? parsed.faults.map(({ pointer = '', position = '', code }) => `${pointer} ${position} ${code}`.replace('  ', ' '))
    : [];
}

/** `filter` inside `count` times `$not`. */
const nested = (count: number, filter: object): object => (count === 0 ? filter : { $not: nested(count - 1, filter) });

describe('the grammar', () => {
  test.for<[object]>([
    [{}],
    [{ city: 'London' }],
    [{ city: null, credit: 5, active: true }],
    [{ $and: [{ a: 1 }, { $or: [{ b: 2 }, { $not: { c: 3 } }] }] }],
    [{ address: { city: 'London', zip: { $prefix: 'W1' } } }],
    [{ a: { $gt: 1, $lte: 5 } }],
    [{ a: { $in: [1, 'a', null, true] } }],
    [{ $key: '42', $version: { $gt: 1 }, $createdAt: { $lt: '2026-01-01T00:00:00Z' }, $createdBy: 'ada' }],
    [{ $and: [], $or: [], a: { $in: [], $nin: [] } }],
    [{ a: { $or: [1, null, { $gt: 5, $not: { $lt: 7 } }], $not: 8, $and: [] } }],
    [{ a: { b: 'z', $not: { c: 1 }, $or: [{ c: 2 }, { d: { $exists: true } }] } }],
    [{ toString: 1, hasOwnProperty: { $exists: true }, '': 1, 'a.b': 1, 'a~b/c': { $eq: 2 } }],
  ])('accepts %j', ([filter]) => {
    expect(faultsOf(filter)).toEqual([]);
  });

  test.for<[string, FieldTypes, string]>([
    ['any field', undeclaredFields, '$eq, $ne, $in, $nin, $lt, $lte, $gt, $gte, $prefix, $contains, $exists, $empty, $and, $or, $not'],
    ['a boolean', { typeOf: () => 'boolean' }, '$eq, $ne, $in, $nin, $exists, $empty, $and, $or, $not'],
    [
      'a reference',
      { typeOf: () => 'boolean', targetOf: () => ({ name: 'b', fields: undeclaredFields }) },
      '$eq, $ne, $in, $nin, $exists, $empty, $match, $and, $or, $not',
    ],
  ])('says which operators %s takes when there is no such operator', ([, types, values]) => {
    const parsed = parseFilter({ a: { $equals: 1 } }, types, bodyLimits);
    expect(parsed).toMatchObject({ faults: [{ code: 'unknown-operator', expected: { kind: 'one-of', values: { values } } }] });
  });

  test.for<[unknown, string]>([
    [[], ' invalid-type'],
    ['x', ' invalid-type'],
    [null, ' invalid-type'],
    [{ $or: {} }, '/$or invalid-type'],
    [{ $and: {} }, '/$and invalid-type'],
    [{ $and: [1] }, '/$and/0 invalid-type'],
    [{ $not: [] }, '/$not invalid-type'],
    [{ a: {} }, '/a invalid-value'],
    [{ a: { b: {} } }, '/a/b invalid-value'],
    [{ $gt: 5 }, '/$gt not-addressable'],
    [{ $where: 'true' }, '/$where not-addressable'],
    [{ $match: {} }, '/$match not-addressable'],
    [{ a: { $foo: 1 } }, '/a/$foo unknown-operator'],
    [{ a: { $key: '1' } }, '/a/$key unknown-operator'],
    [{ a: { $gt: 1, b: 2 } }, '/a/b unknown-operator'],
    [{ a: { toString: 1, $gt: 1 } }, '/a/toString unknown-operator'],
    [{ a: [1] }, '/a invalid-type'],
    [{ a: { $eq: { $var: 'user.name' } } }, '/a/$eq invalid-type'],
    [{ a: { $or: {} } }, '/a/$or invalid-type'],
    [{ a: { $not: {} } }, '/a/$not invalid-value'],
    [{ a: { b: { $and: [{ $gt: 1 }, { $foo: 1 }] } } }, '/a/b/$and/1/$foo unknown-operator'],
    [{ a: { $or: [1], b: 2, $gt: 3 } }, '/a/b unknown-operator'],
    [{ $some: { 'member.project': {} } }, '/$some/member.project not-a-reference'],
    [{ $none: {} }, '/$none invalid-value'],
    [{ $some: { a: {}, b: {} } }, '/$some invalid-value'],
    [{ $some: 'a' }, '/$some invalid-type'],
    [{ a: { $some: {} } }, '/a/$some unknown-operator'],
    [{ a: { $in: 'x' } }, '/a/$in invalid-type'],
    [{ a: { $in: [1, [2]] } }, '/a/$in/1 invalid-type'],
    [{ a: { $nin: [{}] } }, '/a/$nin/0 invalid-type'],
    [{ a: { $lt: null } }, '/a/$lt invalid-type'],
    [{ a: { $lt: true } }, '/a/$lt invalid-type'],
    [{ a: { $prefix: 5 } }, '/a/$prefix invalid-type'],
    [{ a: { $contains: [] } }, '/a/$contains invalid-type'],
    [{ a: { $exists: 'true' } }, '/a/$exists invalid-type'],
    [{ a: { $empty: null } }, '/a/$empty invalid-type'],
    [{ a: 1, b: { c: 1, 'a~b/c': { $lt: null } } }, '/b 2 invalid-type'],
    [{ a: 'x'.repeat(1_001) }, '/a too-long'],
    [{ $key: 5 }, '/$key invalid-type'],
    [{ $key: '5.0' }, '/$key invalid-value'],
    [{ $key: { $prefix: '5' } }, '/$key/$prefix not-filterable'],
    [{ $version: '5' }, '/$version invalid-type'],
    [{ $createdAt: '2026-01-01' }, '/$createdAt invalid-value'],
    [{ $createdBy: 5 }, '/$createdBy invalid-type'],
  ])('refuses %j: %s', ([filter, fault]) => {
    expect(faultsOf(filter)).toEqual([fault]);
  });

  test('reports all faults, at most 20', () => {
    expect(faultsOf({ $x: 1, $or: [{ a: { $lt: null } }, { b: { $in: [[]] } }] })).toEqual([
      '/$x not-addressable',
      '/$or/0/a/$lt invalid-type',
      '/$or/1/b/$in/0 invalid-type',
    ]);
    expect(faultsOf(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`$${index}`, 1])))).toHaveLength(20);
  });
});

describe('the limits', () => {
  test('50 tests, at the place of the 51st', () => {
    const tests = (count: number) => ({ $and: Array.from({ length: count }, (_, index) => ({ [`a${index}`]: 1 })) });
    expect(faultsOf(tests(50))).toEqual([]);
    expect(faultsOf(tests(60))).toEqual(['/$and/50/a50 too-many-tests']);
  });

  test('5 objects inside each other, of $and, $or, $not and of fields', () => {
    expect(faultsOf(nested(4, { a: { $gt: 1 } }))).toEqual([]);
    expect(faultsOf(nested(5, { a: 1 }))).toEqual(['/$not/$not/$not/$not/$not invalid-value']);
    expect(faultsOf({ a: { $not: { $or: [{ $and: [{ $not: 1 }] }] } } })).toEqual([]);
    expect(faultsOf({ a: { $not: { $or: [{ $and: [{ $not: { $not: 1 } }] }] } } })).toEqual([
      '/a/$not/$or/0/$and/0/$not/$not invalid-value',
    ]);
    expect(faultsOf({ a: { b: { c: { d: { e: { $gt: 1 } } } } } })).toEqual([]);
    expect(faultsOf({ a: { b: { c: { d: { e: { f: 1 } } } } } })).toEqual(['/a/b/c/d/e invalid-value']);
  });

  test('200 values of $in in a URL, 1,000 in a body', () => {
    const filter = (count: number) => ({ a: { $in: Array.from({ length: count }, (_, index) => index) } });
    expect(faultsOf(filter(200), undeclaredFields, urlLimits)).toEqual([]);
    expect(faultsOf(filter(201), undeclaredFields, urlLimits)).toEqual(['/a/$in invalid-value']);
    expect(faultsOf(filter(1_000))).toEqual([]);
    expect(faultsOf(filter(1_001))).toEqual(['/a/$in invalid-value']);
  });

  test('1,000 characters, counted as code points', () => {
    expect(faultsOf({ a: { $prefix: '\u{1F600}'.repeat(1_000) } })).toEqual([]);
    expect(faultsOf({ a: { $prefix: '\u{1F600}'.repeat(1_001) } })).toEqual(['/a/$prefix too-long']);
  });
});

describe('a declared type', () => {
  test.for(['decimal', 'date-time'])('refuses $contains of an array of %s, whose equal items can be written differently', (format) => {
    const types = fieldTypesOf({ properties: { l: { type: 'array', items: { type: 'string', format } } } });
    expect(faultsOf({ l: { $contains: '2026-01-01T00:00:00Z' } }, types)).toEqual(['/l/$contains not-filterable']);
    expect(faultsOf({ l: { $exists: true } }, types)).toEqual([]);
  });

  const valid: Record<string, unknown> = {
    s: 'x',
    n: 1.5,
    i: '9007199254740993',
    d: '1.50',
    t: '2026-01-01T12:00:00+02:00',
    day: '2026-02-28',
    b: true,
    e: 'red',
  };
  const operands: unknown[] = ['x', 5, true, [], {}, 'red', '5', '2026-01-01', '2026-01-01T00:00:00Z'];
  const ordered = ['s', 'n', 'i', 'd', 't', 'day'];

  test.for(Object.entries(valid))('accepts a value of its type, null and the presence of %s', ([name, value]) => {
    const tests = [
      value,
      null,
      { $ne: value },
      { $ne: null },
      { $in: [value, null] },
      { $nin: [value] },
      { $exists: true },
      { $empty: false },
    ];
    for (const one of tests) expect(faultsOf({ [name]: one }, declared)).toEqual([]);
  });

  test.for(Object.keys(valid))('never converts a value: %s refuses those of other types', (name) => {
    const fits: Record<string, unknown[]> = {
      s: ['x', 'red', '5', '2026-01-01', '2026-01-01T00:00:00Z'],
      n: [5],
      i: ['5'],
      d: ['5'],
      t: ['2026-01-01T00:00:00Z'],
      day: ['2026-01-01'],
      b: [true],
      e: ['red'],
    };
    for (const operand of operands.filter((one) => typeof one !== 'object')) {
      const faults = faultsOf({ [name]: operand }, declared);
      if (fits[name]?.includes(operand)) expect(faults).toEqual([]);
      else expect(faults[0], JSON.stringify(operand)).toMatch(/ invalid-(type|value)$/);
    }
    expect(faultsOf({ [name]: { $eq: [] } }, declared)).toEqual([`/${name}/$eq invalid-type`]);
    expect(faultsOf({ [name]: { $eq: {} } }, declared)).toEqual([`/${name}/$eq invalid-type`]);
  });

  test.for(Object.entries(valid))('compares %s by order only where its type has one', ([name, value]) => {
    for (const operator of ['$lt', '$lte', '$gt', '$gte']) {
      const expected = ordered.includes(name) ? [] : [`/${name}/${operator} not-filterable`];
      expect(faultsOf({ [name]: { [operator]: value } }, declared)).toEqual(expected);
    }
    for (const operator of ['$prefix', '$contains'])
      expect(faultsOf({ [name]: { [operator]: 'x' } }, declared)).toEqual(name === 's' ? [] : [`/${name}/${operator} not-filterable`]);
  });

  test.for<[unknown, string]>([
    [{ x: 1 }, '/x unknown-field'],
    [{ constructor: 1 }, '/constructor unknown-field'],
    [{ toString: 1 }, '/toString unknown-field'],
    [{ o: { x: 1 } }, '/o/x unknown-field'],
    [{ s: { x: 1 } }, '/s invalid-type'],
    [{ o: 'x' }, '/o not-filterable'],
    [{ o: { $in: ['x'] } }, '/o/$in/0 not-filterable'],
    [{ o: { $gt: 1 } }, '/o/$gt not-filterable'],
    [{ o: { $contains: 1 } }, '/o/$contains not-filterable'],
    [{ l: 'x' }, '/l not-filterable'],
    [{ l: { $gt: 'x' } }, '/l/$gt not-filterable'],
    [{ l: { $contains: 5 } }, '/l/$contains invalid-type'],
    [{ s: { $contains: null } }, '/s/$contains invalid-type'],
    [{ i: 5 }, '/i invalid-type'],
    [{ i: '05' }, '/i invalid-value'],
    [{ i: '9223372036854775808' }, '/i invalid-value'],
    [{ d: 1.5 }, '/d invalid-type'],
    [{ d: '1e1' }, '/d invalid-value'],
    [{ d: '-0.' }, '/d invalid-value'],
    [{ t: '2026-02-30T00:00:00Z' }, '/t invalid-value'],
    [{ t: '2026-01-01T00:00:00' }, '/t invalid-value'],
    [{ t: '2026-01-01T24:00:00Z' }, '/t invalid-value'],
    [{ t: '2026-01-01T00:00:00+16:00' }, '/t invalid-value'],
    [{ t: '0000-01-01T00:00:00Z' }, '/t invalid-value'],
    [{ t: 'now' }, '/t invalid-value'],
    [{ day: '2025-02-29' }, '/day invalid-value'],
    [{ day: 'infinity' }, '/day invalid-value'],
  ])('refuses %j: %s', ([filter, fault]) => {
    expect(faultsOf(filter, declared)).toEqual([fault]);
  });

  test('accepts nested fields and items of arrays', () => {
    expect(faultsOf({ o: { s: 'x', n: { $gt: 1 } }, l: { $contains: 'x' } }, declared)).toEqual([]);
    expect(faultsOf({ o: null, l: { $exists: false } }, declared)).toEqual([]);
  });
});
