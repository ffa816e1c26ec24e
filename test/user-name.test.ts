import { describe, expect, test } from 'vitest';
import { assert, property, string } from 'fast-check';
import { normaliseUserName } from '../src/user-name.ts';

const zeroWidthSpace = '\u{200b}';

describe('a user name', () => {
  test('is the same name in any case, width and composition (rule 35: no second user with the same name)', () => {
    for (const typed of ['ada', 'ADA', 'Ada', 'Ａｄａ']) expect(normaliseUserName(typed)).toBe('ada');
    expect(normaliseUserName('zoe\u{308}')).toBe(normaliseUserName('ZOË'));
    for (const typed of ['straße', 'STRASSE', 'STRAẞE']) expect(normaliseUserName(typed)).toBe('strasse');
    expect(normaliseUserName('Οδυσσεύς')).toBe(normaliseUserName('ΟΔΥΣΣΕΎΣ'));
    expect(normaliseUserName('ﬁnn')).toBe('finn');
  });

  test('has 1 to 128 code points in its canonical form (rule 35)', () => {
    expect(normaliseUserName('')).toBeUndefined();
    expect(normaliseUserName('a')).toBe('a');
    expect(normaliseUserName('𝒳'.repeat(128))).toBe('x'.repeat(128));
    expect(normaliseUserName('😀'.repeat(128))).toBe('😀'.repeat(128));
    expect(normaliseUserName('a'.repeat(129))).toBeUndefined();
    // One character that folds to two counts as two.
    expect(normaliseUserName('ß'.repeat(64))).toBe('s'.repeat(128));
    expect(normaliseUserName('ß'.repeat(65))).toBeUndefined();
  });

  test('has no control, invisible or lone surrogate character (rule 35: no look-alike of another name)', () => {
    expect(normaliseUserName('ada lovelace')).toBe('ada lovelace');
    const hidden = ['\u{0}', '\n', '\u{7f}', '\u{ad}', zeroWidthSpace, '\u{202e}', '\u{feff}', '\u{2028}', '\u{3164}', '\u{e000}'];
    for (const character of hidden) expect(normaliseUserName(`ad${character}a`), escape(character)).toBeUndefined();
    expect(normaliseUserName('ad\u{d800}a')).toBeUndefined();
  });

  test('neither begins nor ends with white space, and the service does not trim it (rule 35)', () => {
    for (const typed of [' ada', 'ada ', '\u{a0}ada', 'ada\u{3000}', ' ']) expect(normaliseUserName(typed)).toBeUndefined();
  });

  test('keeps its canonical form when normalised again (rule 35: the stored name is the one in queries)', () => {
    for (let code = 0; code < 0x110000; code += 1) {
      const once = normaliseUserName(String.fromCodePoint(code));
      if (once !== undefined && normaliseUserName(once) !== once) expect.unreachable(`U+${code.toString(16)}`);
    }
    assert(
      property(string({ unit: 'binary', minLength: 1, maxLength: 20 }), (typed) => {
        const once = normaliseUserName(typed);
        if (once !== undefined) expect(normaliseUserName(once)).toBe(once);
      }),
    );
  });
});
