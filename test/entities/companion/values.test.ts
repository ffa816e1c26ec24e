/** The values of companion rows, and what PostgreSQL stores of them. */
import { sql } from 'kysely';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { boundsOf } from '../../../src/entities/companion/bounds.ts';
import { columnType, inputType, storedValue } from '../../../src/entities/companion/columns.ts';
import { bindToColumns } from '../../../src/entities/companion/fields.ts';
import type { Companion, CompanionColumn } from '../../../src/entities/companion/layout.ts';
import { wordsOf } from '../../../src/entities/companion/search-words.ts';
import { companionValues, foldText } from '../../../src/entities/companion/values.ts';
import type { Problem } from '../../../src/problems/errors.ts';
import type { FieldTypes, ScalarType } from '../../../src/filter/fields.ts';
import { boundedFold, foldedText } from '../../../src/filter/fold.ts';
import { bodyLimits } from '../../../src/filter/limits.ts';
import { parseFilter } from '../../../src/filter/parse.ts';
import { constantOperand } from '../../../src/filter/syntax.ts';
import { isLongerThan } from '../../../src/filter/values.ts';
import { useService } from '../../support/service.ts';

const service = useService();
const column = (type: ScalarType, more: Partial<CompanionColumn> = {}): CompanionColumn => ({
  name: 'c1',
  field: ['a'],
  type,
  fold: false,
  ...more,
});
const companion = (columns: CompanionColumn[], search?: Companion['search']): Companion => ({
  table: 'x1',
  columns,
  indexes: [],
  uniques: [],
  substrings: [],
  references: [],
  search,
  next: 2,
  state: 'ready',
});
const valueOf = (type: ScalarType, a: unknown) => companionValues(companion([column(type)]), { a })['c1'];

const values: [type: ScalarType, accepted: unknown, others: unknown[]][] = [
  ['string', 'a', [1, true, null, ['a'], { a: 'a' }, undefined]],
  ['enum', 'a', [1, null]],
  ['number', 1.5, ['1.5', null, true]],
  ['boolean', false, ['false', 0, null]],
  ['int64', '-9223372036854775808', [1, '1.0', '01', '9223372036854775808', '', null]],
  ['decimal', '10.50', [10.5, '1e1', '-0', '.5', null]],
  ['date', '2026-11-22', [20261122, null]],
  ['date-time', '2026-11-22T10:00:00Z', [0, null]],
];
test.each(values)('a column of the type %s has %o, and null for what is no such value', (type, accepted, others) => {
  expect(valueOf(type, accepted)).toBe(accepted);
  expect(others.map((other) => valueOf(type, other))).toEqual(others.map(() => null));
});

test('a field is found below objects only, and not in their prototypes', () => {
  const at = (field: string[], fields: unknown) => companionValues(companion([column('string', { field })]), fields)['c1'];
  expect(at(['address', 'city'], { address: { city: 'Paris' } })).toBe('Paris');
  expect(at(['address', '0'], { address: ['Paris'] })).toBeNull();
  expect(at(['constructor', 'name'], {})).toBeNull();
});

test('a folded text is compared in NFKC and in lower case', () => {
  const fold = (a: string) => companionValues(companion([column('string', { fold: true })]), { a })['c1'];
  expect(fold('ADA@Example.com')).toBe('ada@example.com');
  expect(fold('ﬁn')).toBe(fold('FIN'));
  for (const text of ['Zoë', 'J\u030Ca', 'Ι\u0308\u0301', 'が', '각', 'ｶﾞ'])
    for (const other of [text.normalize('NFD'), text.normalize('NFC').toLowerCase(), text.toLowerCase().normalize('NFC')])
      expect(fold(other)).toBe(fold(text));
});

test('a text of marks costs time in proportion to its length (rule 70)', () => {
  // In quadratic time this would take minutes.
  const text = `a${'\u0345'.repeat(300_000)}${'\u0334'.repeat(300_000)}b`;
  expect(foldText(text)).toHaveLength(32);
  expect(wordsOf(text, text.length)).toHaveLength(32);
  const voiced = `\u{FF76}${'\uFF9E\u0300'.repeat(300_000)}b`;
  expect(foldText(voiced)).toHaveLength(31);
  expect(wordsOf(voiced, voiced.length)).toHaveLength(31);
});

/** The code units that are brought into a normal form while `work` runs. */
function normalisedBy(work: () => unknown): number {
  const normalize = vi.spyOn(String.prototype, 'normalize');
  try {
    work();
    return normalize.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
  } finally {
    normalize.mockRestore();
  }
}

// One character that is 18 in NFKC.
const ligature = '\uFDFA';

test.for([
  ['without case and accents', column('folded', { maximumLength: 600 })],
  ['of a unique rule without case', column('string', { fold: true, maximumLength: 600 })],
] as const)('a text that is too long %s is refused after its beginning was folded (rule 70)', ([, one]) => {
  const check = (a: string) => companionValues(companion([one]), { a })['c1'];
  expect(check(ligature.repeat(33))).toHaveLength(594);
  for (const a of [
    ligature.repeat(34),
    ligature.repeat(340_000),
    `a${'\u0300'.repeat(340_000)}${ligature.repeat(340_000)}`,
    'aΣ'.repeat(500_000),
  ]) {
    const refused = () =>
      expect(() => check(a)).toThrow(
        expect.objectContaining<Partial<Problem>>({ faults: [{ pointer: '/a', code: 'too-long', values: { maximum: 600 } }] }),
      );
    expect(normalisedBy(refused)).toBeLessThan(20_000);
  }
});

test('values of a filter are folded as far as the column has room (rule 70)', () => {
  const types: FieldTypes = { typeOf: () => 'string', foldingOf: () => 600 };
  const folded = normalisedBy(() =>
    parseFilter({ a: { $fold: { $contains: ligature.repeat(1_000), $prefix: ligature.repeat(1_000) } } }, types, bodyLimits),
  );
  expect(folded).toBeLessThan(20_000);
  const rule = companion([column('string', { fold: true, maximumLength: 600 })]);
  const value = ligature.repeat(1_000);
  const bounds = normalisedBy(() =>
    boundsOf([{ kind: 'compare', field: ['a'], type: 'string', operator: '=', operand: constantOperand(value) }], bindToColumns(rule)),
  );
  expect(bounds).toBeLessThan(20_000);
});

test('a text that letters and marks are composed in is refused by its folded length', () => {
  const fits = (text: string, fold: (text: string) => string, maximum: number) =>
    Array.from(boundedFold(text, maximum, fold)).length <= maximum;
  const composed: [text: string, folded: number][] = [
    ['e\u0301'.repeat(600), 600],
    ['각'.normalize('NFD').repeat(600), 600],
    ['\u{16D63}\u{16D67}\u{16D67}'.repeat(600), 600],
    [`e${'\u0323\u0302'.repeat(2_000)}`, 29],
    ['Σ'.repeat(600), 600],
  ];
  for (const [text, length] of composed) {
    expect([boundedFold(text, length, foldText), fits(text, foldText, length - 1)]).toEqual([foldText(text), false]);
    expect(fits(text, foldedText, 600)).toBe(true);
  }
});

test('any text is folded whole, or as too long as it is', () => {
  const letter = fc.constantFrom(
    ...Array.from(
      'aIİΣß\u0301\u0323\u0344\u0345\u1112\u1161\u11ABㅎㅏㄴﾡￇｶ\uFF9Eか\u3099\u0E33\u09C7\u09BE\u{16D63}\u{16D67}\u{16D68}\u{1D15E}\u2126😀\uFDFA',
    ),
  );
  const text = fc.array(
    fc.tuple(letter, fc.integer({ min: 1, max: 40 })).map(([one, count]) => one.repeat(count)),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 600 }), fc.constantFrom(foldText, foldedText), (parts, maximum, fold) => {
      const whole = fold(parts.join(''));
      const bounded = boundedFold(parts.join(''), maximum, fold);
      if (isLongerThan(whole, maximum)) expect(isLongerThan(bounded, maximum)).toBe(true);
      else expect(bounded).toBe(whole);
    }),
    { numRuns: 300 },
  );
});

test('a text that is longer than its index has room for is refused, by characters', () => {
  const check = (a: string) => companionValues(companion([column('string', { maximumLength: 3 })]), { a });
  expect(check('😀😀😀')['c1']).toBe('😀😀😀');
  expect(() => check('abcd')).toThrow(
    expect.objectContaining<Partial<Problem>>({
      code: 'validation-failed',
      faults: [{ pointer: '/a', code: 'too-long', values: { maximum: 3 } }],
    }),
  );
});

test('searched texts are words alone, and 100,000 characters together', () => {
  const search = { language: 'simple', texts: [{ name: 't1', field: ['a'] }] };
  const searched = (a: unknown) => companionValues(companion([], search), { a })['t1'];
  expect(searched('word')).toBe('word');
  expect(searched(1)).toBeNull();
  expect(searched('ada_l@x.example, well-known: 😀')).toBe('ada l x example well known ');
  expect(searched('é'.repeat(100_001))).toBe('é'.repeat(100_000));
  expect(searched('Zoe\u0308')).toBe('Zo\u00EB');
  // One character that is 18 in NFKC; the last of them is cut where a surrogate pair would be.
  expect(searched(`${'\uFDFA'.repeat(5_556)}😀`)).toHaveLength(100_000);
  const texts = ['t1', 't2'].map((name) => ({ name, field: [name] }));
  const both = companionValues(companion([], { language: 'simple', texts }), { t1: 'a'.repeat(99_998), t2: 'four' });
  expect(both['t2']).toBe('fo');
});

const stored: [type: ScalarType, value: string | number | boolean, text: string | null][] = [
  ['string', 'a', 'a'],
  ['decimal', '10.50', '10.50'],
  ['int64', '9223372036854775807', '9223372036854775807'],
  ['number', 1e300, `1${'0'.repeat(300)}`],
  ['boolean', true, 'true'],
  ['date', '2026-11-22', '2026-11-22'],
  ['date-time', '2026-11-22T12:00:00+02:00', '2026-11-22 10:00:00+00'],
  ['date-time', 'yesterday', null],
];
test.each(stored)('PostgreSQL stores the %s %s as %s', async (type, value, text) => {
  const one = column(type);
  await service()
    .db.connection()
    .execute(async (db) => {
      await sql`set time zone 'UTC'`.execute(db);
      await sql`create temporary table stored (c1 ${columnType(one)})`.execute(db);
      await sql`insert into stored select ${storedValue(one, sql.ref('c1'))}
      from jsonb_to_record(${JSON.stringify({ c1: value })}::jsonb) as (c1 ${inputType(one)})`.execute(db);
      const { rows } = await sql<{ text: string | null }>`select c1::text as text from stored`.execute(db);
      await sql`drop table stored`.execute(db);
      expect(rows).toEqual([{ text }]);
    });
});
