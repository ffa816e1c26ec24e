import { describe as group, expect, it } from 'vitest';
import { problemFacts, problemValues } from '../../src/problems/errors.ts';
import { expectedValues, faultValues } from '../../src/problems/faults.ts';
import { catalogues } from '../../src/locales/describe.ts';
import { locales } from '../../src/locales/negotiate.ts';
import type { Locale } from '../../src/locales/negotiate.ts';

/** All texts of a locale under names such as `busy detail`. */
function textsOf(locale: Locale): Map<string, string> {
  const { problems, faults, expected } = catalogues[locale];
  return new Map([
    ...Object.entries(problems).flatMap(([code, { title, detail }]): [string, string][] => [
      [`${code} title`, title],
      [`${code} detail`, detail],
    ]),
    ...Object.entries(faults).map(([code, text]): [string, string] => [`${code} fault`, text]),
    ...Object.entries(expected).map(([kind, text]): [string, string] => [`${kind} phrase`, text]),
  ]);
}

const placeholdersOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).sort();

const expected = new Map<string, string[]>([
  ...Object.entries(problemValues).map(([code, values]): [string, string[]] => [`${code} detail`, Object.keys(values).sort()]),
  ...Object.entries(faultValues).map(([code, values]): [string, string[]] => [`${code} fault`, Object.keys(values).sort()]),
  ...Object.entries(expectedValues)
    .filter(([kind, values]) => kind !== 'value' && Object.keys(values).length > 0)
    .map(([kind, values]): [string, string[]] => [`${kind} phrase`, Object.keys(values).sort()]),
]);

group.each(locales)('the texts in %s', (locale) => {
  it('cover the same codes as the English ones, and all problems', () => {
    expect([...textsOf(locale).keys()].sort()).toEqual([...textsOf('en').keys()].sort());
    expect(Object.keys(catalogues[locale].problems).sort()).toEqual(Object.keys(problemFacts).sort());
  });

  it('use exactly the values declared for their code, each once', () => {
    const found = [...textsOf(locale)].map(([name, text]): [string, string[]] => [name, placeholdersOf(text)]);
    expect(new Map(found.filter(([, names]) => names.length > 0))).toEqual(expected);
  });

  it('have placeholders only inside optional parts, and a placeholder in each optional part', () => {
    for (const [name, text] of textsOf(locale)) {
      expect(placeholdersOf(text.replaceAll(/\[[^[\]]*\]/g, '')), name).toEqual([]);
      for (const [part] of text.matchAll(/\[[^[\]]*\]/g)) expect(placeholdersOf(part), `${name}: ${part}`).not.toEqual([]);
      expect(text.replaceAll(/\[[^[\]{}]*(\{\w+\}[^[\]{}]*)+\]/g, ''), name).not.toMatch(/[[\]{}]/);
    }
  });

  it('are trimmed sentences, with titles and phrases that do not end in a full stop', () => {
    for (const [name, text] of textsOf(locale)) {
      expect(text, name).toBe(text.trim());
      expect(text, name).not.toMatch(/ {2}/);
      if (/ (title|phrase)$/.test(name)) expect(text, name).not.toMatch(/[.。]$/);
      else expect(text, name).toMatch(/[.。]\]?$/);
    }
  });

  it('have a different title for every problem', () => {
    const titles = Object.values(catalogues[locale].problems).map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});

it.each(locales.filter((locale) => locale !== 'en'))('no text in %s is identical to the text of another locale', (locale) => {
  for (const other of locales.filter((other) => other !== locale))
    for (const [name, text] of textsOf(locale)) expect(text, `${name} in ${locale} and ${other}`).not.toBe(textsOf(other).get(name));
});

it('the Japanese texts contain no full sentence in Latin letters, and the others no Japanese', () => {
  for (const [name, text] of textsOf('ja')) expect(text, name).toMatch(/[\u3040-\u30ff]/);
  for (const locale of locales.filter((locale) => locale !== 'ja'))
    for (const [name, text] of textsOf(locale)) expect(text, name).not.toMatch(/[\u3000-\u30ff\u4e00-\u9fff]/);
});

it('the French texts never break a line before a colon, a semicolon or a closing quotation mark', () => {
  for (const [name, text] of textsOf('fr')) expect(text, name).not.toMatch(/ [:;!?»]|« |[^\u00a0:][:;]/);
});
