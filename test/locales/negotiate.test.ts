import { describe as group, expect, it } from 'vitest';
import { canonicalLocale, locales, negotiateLocale } from '../../src/locales/negotiate.ts';

group('canonicalLocale', () => {
  it.each([
    ['en', 'en'],
    ['EN-us', 'en-US'],
    ['de-at', 'de-AT'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['deu', 'de'],
    ['iw', 'he'],
    ['de-DE-u-co-phonebk', 'de-DE-u-co-phonebk'],
    ['de-1996', 'de-1996'],
  ])('%s becomes %s (rule 69)', (tag, canonical) => {
    expect(canonicalLocale(tag)).toBe(canonical);
  });

  it.each([
    ['nothing', ''],
    ['an underscore', 'de_AT'],
    ['an underscore after a valid tag', 'en-US_POSIX'],
    ['a lone letter', 'd'],
    ['a private-use tag alone', 'x-private'],
    ['a subtag of nine letters', 'de-abcdefghi'],
    ['an empty subtag', 'de--AT'],
    ['a trailing hyphen', 'de-'],
    ['a wildcard', '*'],
    ['a space', 'de AT'],
    ['surrounding space', ' de'],
    ['a line break', 'de\n'],
    ['a NUL', 'de\u0000'],
    ['a path', '../de'],
    ['a letter outside ASCII which folds to ASCII', '\u212Ao'],
    ['full-width letters', '\uFF44\uFF45'],
  ])('refuses %s (rule 69)', (_, tag) => {
    expect(canonicalLocale(tag)).toBeUndefined();
  });

  it('accepts a tag of 35 characters and refuses one of 36 (rule 69)', () => {
    const longest = 'de-DE-x-aaaaaaaa-bbbbbbbb-ccccccc-d';
    expect(longest).toHaveLength(35);
    expect(canonicalLocale(longest)).toBe(longest);
    expect(canonicalLocale(`${longest}d`)).toBeUndefined();
  });

  it('refuses a tag whose canonical form exceeds 35 characters (rule 69)', () => {
    const tag = 'sh-x-aaaaaaaa-bbbbbbbb-cccccccc-ddd';
    expect(Intl.getCanonicalLocales(tag)[0]?.length).toBeGreaterThan(35);
    expect(canonicalLocale(tag)).toBeUndefined();
  });
});

group('negotiateLocale', () => {
  it('defaults to English', () => {
    expect(negotiateLocale({})).toBe('en');
    expect(negotiateLocale({ session: undefined, acceptLanguage: undefined })).toBe('en');
    expect(negotiateLocale({ session: '', acceptLanguage: '' })).toBe('en');
  });

  it.each(locales)('is %s by the session or by the header', (locale) => {
    expect(negotiateLocale({ session: locale })).toBe(locale);
    expect(negotiateLocale({ acceptLanguage: locale })).toBe(locale);
  });

  it.each([
    ['de-AT', 'fr', 'de'],
    ['DE-at', 'fr', 'de'],
    ['zh-TW', 'fr', 'fr'],
    ['zh-TW', 'ko', 'en'],
    ['de_AT', 'fr', 'fr'],
    ['*', 'fr', 'fr'],
    ['en', 'fr', 'en'],
  ])('a session in %s with the header %s is answered in %s', (session, acceptLanguage, locale) => {
    expect(negotiateLocale({ session, acceptLanguage })).toBe(locale);
  });

  it.each([
    ['fr-CA', 'fr', 'a region is dropped'],
    ['ja-Jpan-JP', 'ja', 'script and region are dropped'],
    ['de-a-value', 'de', 'a single letter is dropped with what follows it'],
    ['deu', 'de', 'a three-letter code is a synonym'],
    ['FR', 'fr', 'case is ignored'],
    ['es;q=0.5,fr;q=0.7', 'fr', 'the higher quality wins'],
    ['es,fr', 'es', 'equal qualities are in the order of the header'],
    ['fr;q=0.8, de', 'de', 'no quality means 1'],
    ['fr;Q=0.5,de;q=0.4', 'fr', 'q is not case-sensitive'],
    ['fr;q=0.501,de;q=0.502', 'de', 'three digits of a quality are compared'],
    [' fr ; q=0.5 , de ; q=0.9 ', 'de', 'spaces are ignored'],
    ['zh, ko;q=0.9, es;q=0.1', 'es', 'unsupported languages are skipped'],
    ['zh', 'en', 'the first locale is used when no language is supported'],
    ['fr;q=0', 'en', 'a refused language is not chosen'],
    ['fr;q=0.000, es;q=0.001', 'es', 'zero with digits is zero'],
    ['fr-CA, fr;q=0', 'en', 'a refused language is not chosen through its region'],
    ['fr-CA;q=0, fr', 'fr', 'a refused region does not refuse the language'],
    ['en;q=0, *', 'de', 'a wildcard does not include refused languages'],
    ['*', 'en', 'a wildcard alone means the first locale'],
    ['fr;q=0.3, *;q=0.8', 'en', 'a wildcard of higher quality wins'],
    ['en;q=0.2, *;q=0.8', 'de', 'a wildcard only includes languages that are not named'],
    ['*, fr', 'fr', 'at equal quality a named language beats the wildcard'],
    ['zh-TW, *;q=0.5', 'en', 'a wildcard is used after unsupported languages'],
    ['*;q=0', 'en', 'an answer has a language even when all are refused'],
    ['en;q=0, de;q=0, fr;q=0, es;q=0, ja;q=0', 'en', 'an answer has a language even when each is refused'],
    ['en;q=0, de;q=0, fr;q=0, es;q=0, ja;q=0, *', 'en', 'a wildcard without remaining languages gives the first locale'],
  ])('the header %j is answered in %s: %s', (acceptLanguage, locale) => {
    expect(negotiateLocale({ acceptLanguage })).toBe(locale);
  });

  it.each(['de;q=1.1', 'de;q=-1', 'de;q=', 'de;q=1e0', 'de;q=0.1234', 'de;level=1', 'de;q=1;q=1', 'de_DE', 'de-', '**', ';q=1', 'dé'])(
    'the malformed range %j is skipped',
    (range) => {
      expect(negotiateLocale({ acceptLanguage: range })).toBe('en');
      expect(negotiateLocale({ acceptLanguage: `${range}, ja;q=0.1` })).toBe('ja');
    },
  );

  it('reads only the first 32 ranges and 2,048 characters, so a hostile header costs little', () => {
    expect(negotiateLocale({ acceptLanguage: `${'zh,'.repeat(31)}fr` })).toBe('fr');
    expect(negotiateLocale({ acceptLanguage: `${'zh,'.repeat(32)}fr` })).toBe('en');
    expect(negotiateLocale({ acceptLanguage: `${' '.repeat(2000)}fr` })).toBe('fr');
    expect(negotiateLocale({ acceptLanguage: `${' '.repeat(2048)}fr` })).toBe('en');
  });

  it.each([
    ['commas', ','.repeat(100_000)],
    ['semicolons', ';'.repeat(100_000)],
    ['hyphens', 'de' + '-a'.repeat(50_000)],
    ['spaces', `de${' '.repeat(100_000)};`],
  ])('accepts 100,000 characters of %s', (_, acceptLanguage) => {
    expect(negotiateLocale({ session: acceptLanguage, acceptLanguage })).toMatch(/^(en|de)$/);
  });
});
