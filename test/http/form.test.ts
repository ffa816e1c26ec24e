/** The reader of form bodies and query strings: it decodes as the URL standard does, and refuses ambiguous input. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPairs } from '../../src/http/form.ts';

const fields = (text: string): Record<string, string> => {
  const { values, faults } = readPairs(text, 'field');
  expect(faults).toEqual([]);
  return { ...values };
};

describe('decoding', () => {
  test.each([
    ['', {}],
    ['&&', {}],
    ['user=ada&password=a+b%2Bc', { user: 'ada', password: 'a b+c' }],
    ['a=1&&b=2&', { a: '1', b: '2' }],
    ['logout', { logout: '' }],
    ['logout=', { logout: '' }],
    ['=x', { '': 'x' }],
    ['=', { '': '' }],
    ['a=b=c', { a: 'b=c' }],
    ['current%2Dpassword=%C3%A9', { 'current-password': 'é' }],
    ['a=é😀', { a: 'é😀' }],
    ['a=%F0%9F%98%80', { a: '😀' }],
    ['a=%EF%BF%BD', { a: '\uFFFD' }],
    ['a=%EF%BB%BFb', { a: '\uFEFFb' }],
    ['a=%26%3D%25', { a: '&=%' }],
    ['a=x;b=y', { a: 'x;b=y' }],
    ['a=1&A=2', { a: '1', A: '2' }],
  ])('%j is read', (text, values) => {
    expect(fields(text)).toEqual(values);
  });

  test('a field called __proto__ or constructor is an ordinary field', () => {
    const { values, faults } = readPairs('__proto__=x&constructor=y', 'field');
    expect(faults).toEqual([]);
    expect(Object.entries(values)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
    expect(Object.getPrototypeOf(values)).toBeNull();
    expect(values['toString']).toBeUndefined();
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('refusals', () => {
  test('at most twenty are reported, and the text after the twentieth is not read (rule 75)', () => {
    const text = Array.from({ length: 2_000 }, (_, n) => `a${n}=%`).join('&');
    const { values, faults } = readPairs(`${text}&late=1`, 'field');
    expect(faults).toEqual(Array.from({ length: 20 }, (_, n) => ({ code: 'invalid-encoding', pointer: `/a${n}` })));
    expect(values).toEqual({});
    // The last pair has two faults.
    const repeated = Array.from({ length: 19 }, (_, n) => `a${n}=%`).join('&');
    expect(readPairs(`b=1&${repeated}&b=%`, 'field').faults).toHaveLength(20);
  });

  test.each([
    ['a broken escape', 'a=%'],
    ['a truncated escape', 'a=%4'],
    ['an escape with other letters', 'a=%zz'],
    ['a byte that begins no character', 'a=%FF'],
    ['an overlong slash', 'a=%C0%AF'],
    ['an encoded surrogate', 'a=%ED%A0%80'],
    ['a truncated sequence', 'a=%E2%82'],
    ['a byte that was not UTF-8 in the raw text', 'a=\uFFFD'],
    ['a lone surrogate', 'a=\uD800'],
    ['an escaped U+0000', 'a=b%00c'],
    ['a raw U+0000', 'a=\0'],
  ])('%s in a value is refused, not stored raw (rule 71)', (_, text) => {
    const { values, faults } = readPairs(`b=1&${text}`, 'field');
    expect(values).toMatchObject({ b: '1' });
    expect(faults).toEqual([{ code: 'invalid-encoding', pointer: '/a' }]);
    expect(readPairs(text, 'parameter').faults).toEqual([{ code: 'invalid-encoding', parameter: 'a' }]);
  });

  test('a name that cannot be decoded is reported by its position (rule 71)', () => {
    expect(readPairs('%zz/=1', 'field').faults).toEqual([{ code: 'invalid-encoding', pointer: '', position: 1 }]);
    expect(readPairs('b=1&b=2&%00=1&a%=2', 'parameter').faults).toEqual([
      { code: 'repeated', parameter: 'b' },
      { code: 'invalid-encoding', parameter: '', position: 2 },
      { code: 'invalid-encoding', parameter: '', position: 3 },
    ]);
    expect(readPairs('\uD800=1', 'parameter').faults).toEqual([{ code: 'invalid-encoding', parameter: '', position: 1 }]);
  });

  test('a name is repeated only if it has 1 to 64 letters, digits, `_`, `.` and `-` (rule 75)', () => {
    for (const name of ['a', 'größe', '名前', 'A_b.c-9', 'x'.repeat(64)]) {
      expect(readPairs(`${name}=%`, 'field').faults, name).toEqual([{ code: 'invalid-encoding', pointer: `/${name}` }]);
    }
    for (const name of ['', 'a b', 'a/b', '"a"', '{"password":"x"}', 'a~', '\u202ea', 'x'.repeat(65)]) {
      expect(readPairs(`a=1&${name}=%`, 'parameter').faults, name).toEqual([{ code: 'invalid-encoding', parameter: '', position: 2 }]);
    }
  });

  test('a repeated name is refused once, in any number and encoding (rule 69)', () => {
    expect(readPairs('a=1&b=2&a=1', 'parameter').faults).toEqual([{ code: 'repeated', parameter: 'a' }]);
    expect(readPairs('a=1&%61=2&a&a=%61', 'field').faults).toEqual([{ code: 'repeated', pointer: '/a' }]);
    expect(readPairs('__proto__=1&__proto__=2', 'field').faults).toEqual([{ code: 'repeated', pointer: '/__proto__' }]);
    expect(readPairs('x&a~b/c=1&a~b/c=2', 'field').faults).toEqual([{ code: 'repeated', pointer: '', position: 2 }]);
  });

  test('all faults are reported together', () => {
    expect(readPairs('a=%&a=1&b=%00', 'parameter').faults).toEqual([
      { code: 'invalid-encoding', parameter: 'a' },
      { code: 'repeated', parameter: 'a' },
      { code: 'invalid-encoding', parameter: 'b' },
    ]);
  });
});

describe('agreement with URLSearchParams', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => text.isWellFormed() && !text.includes('\0'));

  test('all texts that it writes are read back', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(texts, texts), { selector: ([name]) => name }), (pairs) => {
        const { values, faults } = readPairs(new URLSearchParams(pairs).toString(), 'field');
        expect(faults).toEqual([]);
        expect(new Map(Object.entries(values))).toEqual(new Map(pairs));
      }),
      { numRuns: 500 },
    );
  });

  test('any text is read with the same result or refused, and nothing throws', () => {
    const pieces = fc.constantFrom(
      'a',
      'b',
      '=',
      '&',
      '+',
      '%',
      '%2',
      '%41',
      '%C3',
      '%A9',
      '%00',
      'é',
      '\uFFFD',
      '\uD83D',
      '\uDE00',
      ';',
      '__proto__',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const { values, faults } = readPairs(text, 'parameter');
        if (faults.length === 0) expect(new Map(Object.entries(values))).toEqual(new Map(new URLSearchParams(text)));
      }),
      { numRuns: 5_000 },
    );
  });
});
