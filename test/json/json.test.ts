/**
 * The reader of JSON bodies: the documents it refuses, the pointers of the faults, and its agreement with JSON.parse on all other
 * documents.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson } from '../../src/json/json.ts';
import type { FaultCode } from '../../src/problems/faults.ts';

const read = (text: string): ReturnType<typeof readJson> => readJson(Buffer.from(text));
const accepts = (text: string): boolean => !('code' in read(text));
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** With a position, `pointer` is that of the object around the name. */
function expectFault(text: string, code: FaultCode, pointer: string, values?: Record<string, number>, position?: number): void {
  expect(read(text)).toEqual({ code, pointer, ...(values && { values }), ...(position !== undefined && { position }) });
}

describe('accepted documents', () => {
  test('a document is returned as its unchanged text and as its value', () => {
    const text = ' {"a":[1.0, 1e2 ,"\\u00e9 \\ud83d\\ude00 😀"],"":{},"b":null, "c":[true,false,[]]}\r\n\t';
    expect(read(text)).toEqual({ text, value: { a: [1, 100, 'é 😀 😀'], '': {}, b: null, c: [true, false, []] } });
  });

  test.each(['0', '"x"', 'null', '[]', '{}'])('a document may be any value: %s', (text) => {
    expect(read(text)).toEqual({ text, value: JSON.parse(text) });
  });

  test('different names are no duplicates, nor are equal names in different objects', () => {
    expect(accepts('{"a":1,"A":2,"b":{"a":3},"c":[{"a":4},{"a":5}]}')).toBe(true);
  });

  test('a reserved name is an ordinary text as a value (rule 70)', () => {
    expect(accepts('["__proto__","constructor",{"constructors":"prototype","__proto":1}]')).toBe(true);
    expectFault('{"constructor":1}', 'member-name-reserved', '/constructor');
  });
});

describe('encoding', () => {
  test.each([
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
    ['a byte that begins no character', [0x22, 0xff, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a truncated sequence', [0x22, 0xe2, 0x82, 0x22]],
    ['UTF-16', [0x7b, 0x00, 0x7d, 0x00, 0xff]],
  ])('%s is refused: the reader guesses no text (rule 70)', (_, bytes) => {
    expect(readJson(Buffer.from('"é"'))).toMatchObject({ value: 'é' });
    expect(readJson(Buffer.from(bytes))).toEqual({ code: 'invalid-encoding', pointer: '' });
  });
});

describe('grammar', () => {
  test.each([
    ['', 0],
    ['  ', 2],
    ['{', 1],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['{"a"}', 4],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{"a":1]', 6],
    ['{,}', 1],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['[1}', 2],
    ['[', 1],
    ['1 2', 2],
    ['{}{}', 2],
    ['01', 1],
    ['+1', 0],
    ['.5', 0],
    ['1.', 2],
    ['-', 1],
    ['1e', 2],
    ['1e+', 3],
    ['0x10', 1],
    ['NaN', 0],
    ['True', 0],
    ['nul', 0],
    ['"a', 2],
    ['"\\', 2],
    ['"\\x"', 2],
    ['"\\u00g0"', 2],
    ['"\\u00', 2],
    ['"a\nb"', 2],
    ['"\0"', 1],
    ['\u00a01', 0],
    ['1//x', 1],
  ])('%j is refused at position %i', (text, position) => {
    expectFault(text, 'invalid-json', '', { position });
  });

  test('the position counts characters, not UTF-16 units or bytes', () => {
    expectFault('["😀é" x]', 'invalid-json', '', { position: 6 });
  });
});

describe('members', () => {
  test.each([
    ['{"a":1,"a":1}', '/a'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"x":[0,{"a/b":1,"~":2,"a\\/b":3}]}', '/x/1', 3],
    ['{"":1,"":2}', '', 2],
  ])('%s has a member twice, and the reader chooses neither (rule 70)', (text, pointer, position?: number) => {
    expectFault(text, 'duplicate-member', pointer, undefined, position);
  });

  test('a fault below a name that is not repeated has the place of that name (rule 75)', () => {
    expectFault('{"a":1,"b c":{"d":[1e400]}}', 'number-not-exact', '', undefined, 2);
    expectFault('{"a":{"1":0,"b c":{"d e":{"f":1,"f":2}}}}', 'duplicate-member', '/a', undefined, 2);
    expectFault('{"b c":1,"a":1e400}', 'number-not-exact', '/a');
  });

  test.each([
    ['{"__proto__":{}}', '/__proto__'],
    ['{"a":[{"\\u005f_proto__":1}]}', '/a/0/__proto__'],
    ['{"a":{"constructor":{"prototype":1}}}', '/a/constructor'],
    ['{"proto\\u0074ype":1}', '/prototype'],
  ])('%s is refused: no name reaches the prototype of other objects (rule 70)', (text, pointer) => {
    expectFault(text, 'member-name-reserved', pointer);
  });

  test('a name has at most 128 characters in any encoding, and a longer one is not repeated in the answer (rule 70)', () => {
    expect(accepts(JSON.stringify({ ['😀'.repeat(128)]: 1 }))).toBe(true);
    expect(accepts(`{"${'\\u0061'.repeat(128)}":1}`)).toBe(true);
    expectFault(JSON.stringify({ in: [{ ['a'.repeat(129)]: 1 }] }), 'member-name-too-long', '/in/0', { limit: 128 }, 1);
    expectFault(`{"${'\\ud83d\\ude00'.repeat(129)}":1}`, 'member-name-too-long', '', { limit: 128 }, 1);
  });
});

describe('characters that PostgreSQL or UTF-8 cannot store', () => {
  test.each([
    ['["a\\u0000"]', '/0', 'nul-character'],
    ['{"a":"\\ud800"}', '/a', 'lone-surrogate'],
    ['["\\udc00"]', '/0', 'lone-surrogate'],
    ['["\\udc00\\ud800"]', '/0', 'lone-surrogate'],
    ['["\\udc00\\udc00"]', '/0', 'lone-surrogate'],
    ['["\\ud800\\ud800\\udc00"]', '/0', 'lone-surrogate'],
    ['["\\ud83d😀"]', '/0', 'lone-surrogate'],
    ['["😀\\ude00"]', '/0', 'lone-surrogate'],
    ['["\\uD83Dx"]', '/0', 'lone-surrogate'],
  ] as const)('%s is refused (rule 70)', (text, pointer, code) => {
    expectFault(text, code, pointer);
  });

  test('a position counts in the order of the text, also where names are whole numbers', () => {
    expectFault('{"a b":1e400,"1":"x"}', 'number-not-exact', '', undefined, 1);
    expectFault('{"1":"x","a b":1e400}', 'number-not-exact', '', undefined, 2);
  });

  test('a name with one of them is refused, with its position (rule 70)', () => {
    expectFault('{"a":{"\\u0000":1}}', 'nul-character', '/a', undefined, 1);
    expectFault('{"a":1,"\\ud800":1}', 'lone-surrogate', '', undefined, 2);
  });

  test('an escaped backslash before u0000 is no escape', () => {
    expect(read('"\\\\u0000"')).toMatchObject({ value: '\\u0000' });
  });
});

describe('size', () => {
  test('32 levels are read and the 33rd is refused (rule 70)', () => {
    expect(accepts(nested(32))).toBe(true);
    expectFault(nested(33), 'too-deep', '/0'.repeat(32), { limit: 32 });
    expect(accepts(`${'{"a":'.repeat(32)}1${'}'.repeat(32)}`)).toBe(true);
    expectFault(`${'{"a":'.repeat(32)}{}`, 'too-deep', '/a'.repeat(32), { limit: 32 });
  });

  test('a body of nothing but opening brackets is refused at the 33rd (rule 70)', () => {
    expectFault('['.repeat(100_000), 'too-deep', '/0'.repeat(32), { limit: 32 });
  });

  test('10,000 values are read, including the array itself, and the next one is refused (rule 70)', () => {
    expect(accepts(JSON.stringify(Array(9_999).fill(0)))).toBe(true);
    expectFault(JSON.stringify(Array(10_000).fill(0)), 'too-many-values', '/9999', { limit: 10_000 });
  });

  test('a caller can set other limits', () => {
    const limits = { depth: 1, values: 2, nameLength: 1 };
    expect(readJson(Buffer.from('{"a":1}'), limits)).toMatchObject({ value: { a: 1 } });
    expect(readJson(Buffer.from('{"a":[]}'), limits)).toMatchObject({ code: 'too-deep' });
    expect(readJson(Buffer.from('[1,2]'), limits)).toMatchObject({ code: 'too-many-values' });
    expect(readJson(Buffer.from('{"ab":1}'), limits)).toMatchObject({ code: 'member-name-too-long' });
  });
});

describe('agreement with JSON.parse', () => {
  test('all documents of JSON.stringify are read, except those that break a rule of the reader', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), fc.constantFrom(undefined, ' ', '\t'), (value, space) => {
        fc.pre(!breaksRules(value));
        const text = JSON.stringify(value, null, space);
        const result = read(text);
        expect(result).toEqual({ text, value: JSON.parse(text) });
        expect(JSON.stringify(result)).toBe(JSON.stringify({ text, value }));
      }),
      { numRuns: 1_000 },
    );
  });

  test('a damaged document is refused as invalid-json exactly if JSON.parse refuses it, unless another fault comes first', () => {
    const seen = { refused: 0, accepted: 0 };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.array(damage, { minLength: 1, maxLength: 3 }), (value, damages) => {
        let text = JSON.stringify(value, null, damages.length % 2 === 0 ? 1 : undefined);
        for (const { where, remove, insert } of damages) {
          const at = Math.floor(where * (text.length + 1));
          text = text.slice(0, at) + insert + text.slice(at + remove);
        }
        fc.pre(text.isWellFormed());
        const result = read(text);
        if (parses(text)) {
          seen.accepted++;
          if ('code' in result) expect(result.code, text).not.toBe('invalid-json');
        } else {
          seen.refused++;
          expect(result, text).toHaveProperty('code');
        }
      }),
      { numRuns: 10_000 },
    );
    expect(seen.accepted).toBeGreaterThan(100);
    expect(seen.refused).toBeGreaterThan(100);
  });

  test('never throws, with any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const result = readJson(Buffer.from(bytes));
        if (!('code' in result)) expect(result.value).toEqual(JSON.parse(result.text));
      }),
      { numRuns: 5_000 },
    );
  });
});

const damage = fc.record({
  where: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  remove: fc.nat({ max: 2 }),
  insert: fc.oneof(
    fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '\\', '\\u', '\\n', '-', '+', '.', 'e', 'E', '0', '7', ' ', '\t', '\n', '\0'),
    fc.constantFrom('\u00a0', '\ufeff', '\u2028', 'true', 'null', 'NaN', '/', '/*', "'", '""', '[]', '{}', '"a":', '\\u0061', '😀'),
  ),
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether rule 70 refuses this value of fc.jsonValue. */
function breaksRules(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed();
  if (typeof value === 'number') return Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) => breaksRules(name) || ['__proto__', 'constructor', 'prototype'].includes(name) || breaksRules(member),
  );
}
