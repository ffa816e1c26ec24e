/** Texts of a type's author in several languages: a string, or an object from language tags to strings. */
import { canonicalLocale, type Languages } from '../../locales/negotiate.ts';
import { isLongerThan } from '../../filter/values.ts';
import type { Fault } from '../../problems/faults.ts';
import { isSchemaObject, type Schema } from '../subschemas.ts';

export const titleKeyword = 'x-title';
export const descriptionKeyword = 'x-description';

/** The most languages of a text, and the most characters of a title and of a description. */
const maximumLanguages = 20;
export const maximumTitle = 200;
const maximumDescription = 2_000;

/** The faults of `x-title` or `x-description`, which stand beside any schema. */
export function faultsOfTexts(keyword: string, value: unknown, pointer: string): Fault[] | undefined {
  if (keyword === titleKeyword) return faultsOfText(value, pointer, maximumTitle);
  return keyword === descriptionKeyword ? faultsOfText(value, pointer, maximumDescription) : undefined;
}

/** The faults of one text of at most `maximum` characters in each language. */
export function faultsOfText(value: unknown, pointer: string, maximum: number): Fault[] {
  if (typeof value === 'string') return faultsOfLength(value, pointer, maximum);
  if (!isSchemaObject(value)) return [{ pointer, code: 'invalid-type', values: { allowed: 'string, object' } }];
  const languages = Object.entries(value);
  if (languages.length === 0) return [{ pointer, code: 'invalid-value', values: { minimum: 1 } }];
  if (languages.length > maximumLanguages) return [{ pointer, code: 'too-many-values', values: { limit: maximumLanguages } }];
  return languages.flatMap(([language, text]): Fault[] => {
    const place = `${pointer}/${language.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (canonicalLocale(language) !== language) return [{ pointer: place, code: 'unknown', values: { instead: 'en, de-AT' } }];
    return typeof text === 'string'
      ? faultsOfLength(text, place, maximum)
      : [{ pointer: place, code: 'invalid-type', values: { allowed: 'string' } }];
  });
}

function faultsOfLength(text: string, pointer: string, maximum: number): Fault[] {
  if (text.trim() === '') return [{ pointer, code: 'too-short', values: { minimum: 1 } }];
  return isLongerThan(text, maximum) ? [{ pointer, code: 'too-long', values: { maximum } }] : [];
}

/**
 * The text in the language of the caller. `plain` is the text of the keyword of JSON Schema, which counts where the author has no text in a wanted language.
 * Undefined without any.
 */
export function textFor(languages: Languages, value: unknown, plain: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const other = typeof plain === 'string' ? plain : undefined;
  const texts = isSchemaObject(value)
    ? new Map(Object.entries(value).filter((each): each is [string, string] => typeof each[1] === 'string'))
    : undefined;
  if (!texts || texts.size === 0) return other;
  const found = languages.choose([...texts.keys()], other !== undefined);
  return (found === undefined ? undefined : texts.get(found)) ?? other ?? texts.get('en');
}

/** The title and the description of a schema in the language of the caller; undefined where the author has none. */
export const titleOf = (languages: Languages, schema: Schema): string | undefined =>
  textFor(languages, schema[titleKeyword], schema['title']);
export const descriptionOf = (languages: Languages, schema: Schema): string | undefined =>
  textFor(languages, schema[descriptionKeyword], schema['description']);
