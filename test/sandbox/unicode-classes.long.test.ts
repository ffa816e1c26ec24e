/**
 * Each class of Unicode that ECMA 262 names has the same characters in a pattern of a caller as in V8, or the pattern is refused (decision 269). A class is compared
 * on all characters.
 */
import { expect, test } from 'vitest';
import { linearPattern, linearPatternSize } from '../../src/sandbox/linear-pattern.ts';
import { PatternMeter } from '../../src/sandbox/pattern-meter.ts';

const wordsOf = (text: string) => text.trim().split(/\s+/);

const categories = wordsOf('L Lu Ll Lt LC Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Cs Co Cn');
const longCategories = wordsOf(`
  Letter Uppercase_Letter Lowercase_Letter Titlecase_Letter Cased_Letter Modifier_Letter Other_Letter Mark Nonspacing_Mark Combining_Mark
  Spacing_Mark Enclosing_Mark Number Decimal_Number digit Letter_Number Other_Number Punctuation punct Connector_Punctuation Dash_Punctuation
  Open_Punctuation Close_Punctuation Initial_Punctuation Final_Punctuation Other_Punctuation Symbol Math_Symbol Currency_Symbol Modifier_Symbol
  Other_Symbol Separator Space_Separator Line_Separator Paragraph_Separator Other Control cntrl Format Surrogate Private_Use Unassigned`);
const scripts = wordsOf(`
  Adlam Arabic Armenian Bengali Bopomofo Cherokee Common Coptic Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul
  Hebrew Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Oriya Runic Sinhala Syriac Tamil Telugu Thaana Thai
  Tibetan Yi Latn Grek Cyrl Hani Zyyy Zinh`);
const binary = wordsOf(`
  ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C Bidi_Mirrored Bidi_M Case_Ignorable CI Cased
  Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL Changes_When_NFKC_Casefolded CWKCF
  Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component
  EComp Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base
  Grapheme_Extend Gr_Ext Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS Ideographic Ideo
  Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn
  Pattern_White_Space Pat_WS Quotation_Mark QMark Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Term
  Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS White_Space space XID_Continue XIDC XID_Start XIDS`);

const named = [...categories, ...longCategories];
const names = [
  ...named,
  ...named.flatMap((name) => [`General_Category=${name}`, `gc=${name}`]),
  ...scripts.flatMap((name) => [`Script=${name}`, `sc=${name}`, `Script_Extensions=${name}`, `scx=${name}`]),
  ...binary,
];
const points = Array.from({ length: 0x11_0000 }, (_, point) => point).filter((point) => point < 0xd800 || point > 0xdfff);
const letters = points.map((point) => String.fromCodePoint(point));

/** The letters that the pattern of one letter does not match, of `some`. */
function unmatched(letter: string, some: readonly string[]): string[] {
  if (some.length <= 4_096 && linearPattern(`^${letter}*$`, new PatternMeter()).test(some.join(''))) return [];
  const half = some.length >> 1;
  return some.length <= 1 ? [...some] : [...unmatched(letter, some.slice(0, half)), ...unmatched(letter, some.slice(half))];
}

const isAccepted = (name: string) => linearPatternSize(`\\p{${name}}`) !== undefined;
const accepted = names.filter(isAccepted);

test('the categories by their short names are accepted, and other classes that RE2 names alike', () => {
  expect(categories.filter((name) => !isAccepted(name))).toEqual([]);
  expect(accepted.filter((name) => !categories.includes(name))).toContain('White_Space');
  // They are refused: RE2 has no names with `=`, and no long names of categories.
  expect(accepted.filter((name) => name.includes('=') || longCategories.includes(name))).toEqual([]);
});

test.each(accepted)('\\p{%s} and \\P{%s} have the characters of ECMA 262', { timeout: 120_000 }, (name) => {
  const judge = new RegExp(`^\\p{${name}}$`, 'u');
  const { inside = [], outside = [] } = Object.groupBy(letters, (letter) => (judge.test(letter) ? 'inside' : 'outside'));
  for (const [letter, some] of [
    [`\\p{${name}}`, inside],
    [`[^\\P{${name}}]`, inside],
    [`\\P{${name}}`, outside],
    [`[^\\p{${name}}]`, outside],
  ] as const)
    expect(unmatched(letter, some), letter).toEqual([]);
});
