/**
 * Chooses the language of an answer: the supported locales, the check of a well-formed locale, and the RFC 4647 lookup of the caller's
 * preferences. It knows neither the texts nor sessions.
 */

/** The supported locales; the first one is the default. */
export const locales = ['en', 'de', 'fr', 'es', 'ja'] as const;

export type Locale = (typeof locales)[number];

const tagLength = 35;
/** More ranges than any browser sends; the rest of a longer header is ignored. */
const rangeCount = 32;
const headerLength = 2048;

/**
 * The canonical form of a BCP 47 language tag (`EN-us` gives `en-US`, `deu` gives `de`), or undefined when the text is none: only ASCII
 * letters, digits and hyphens, at most 35 characters before and after (rule 69).
 */
export function canonicalLocale(tag: string): string | undefined {
  if (tag.length > tagLength || !/^[A-Za-z0-9-]+$/.test(tag)) return undefined;
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    return canonical !== undefined && canonical.length <= tagLength ? canonical : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The locale of the answer. It is the session's if that leads to a supported one (`de-AT` leads to `de`). Else it is the best of the
 * Accept-Language header (RFC 9110, 12.5.4), else the first of `locales`. Never throws: malformed parts are ignored.
 */
export function negotiateLocale(candidates: { session?: string | undefined; acceptLanguage?: string | undefined }): Locale {
  const fromSession = candidates.session === undefined ? undefined : lookUp(canonicalLocale(candidates.session));
  return fromSession ?? fromHeader(candidates.acceptLanguage ?? '') ?? locales[0];
}

function fromHeader(header: string): Locale | undefined {
  const ranges = readRanges(header);
  const refused = new Set(ranges.filter(({ quality }) => quality === 0).map(({ tag }) => tag));
  const wanted = sortedRanges(ranges.filter(({ quality }) => quality > 0));
  for (const { tag } of wanted) {
    const found = tag === '*' ? unnamed(ranges) : lookUp(tag);
    if (found !== undefined && !refused.has(found)) return found;
  }
  return undefined;
}

interface LanguageRange {
  tag: string;
  quality: number;
}

function readRanges(header: string): LanguageRange[] {
  return header
    .slice(0, headerLength)
    .split(',', rangeCount)
    .map(readRange)
    .filter((range) => range !== undefined);
}

/** The best range first. */
const sortedRanges = (ranges: readonly LanguageRange[]): LanguageRange[] =>
  ranges.toSorted((a, b) => b.quality - a.quality || Number(a.tag === '*') - Number(b.tag === '*'));

/** `*` stands for every language that no other range of the header names. */
function unnamed(ranges: readonly LanguageRange[]): Locale | undefined {
  const named = new Set(ranges.map(({ tag }) => lookUp(tag)));
  return locales.find((locale) => !named.has(locale));
}

/** The most languages that a caller wants, the best one first. Further ones count no more. */
const maximumWanted = 6;

/** The languages that a caller wants. */
export interface Languages {
  /** The same for all callers who get the same texts. */
  id: string;
  /**
   * The best of the canonical tags that an author has used, or undefined if the caller wants none of them. A wanted `de-AT` leads to `de`. `hasDefault`: the author has a
   * text without a tag too, which counts as one in the first of {@link locales}.
   */
  choose(tags: readonly string[], hasDefault: boolean): string | undefined;
}

/**
 * The languages by the preferences that {@link negotiateLocale} takes, for texts of authors, who may write in any language. A session that nobody has given a language has
 * the first of {@link locales}, so that one does not come before Accept-Language.
 */
export function wantedLanguages(candidates: { session?: string | undefined; acceptLanguage?: string | undefined }): Languages {
  const session = candidates.session === undefined ? undefined : canonicalLocale(candidates.session);
  const ranges = readRanges(candidates.acceptLanguage ?? '');
  const named = sortedRanges(ranges.filter(({ quality, tag }) => quality > 0 && tag !== '*')).map(({ tag }) => tag);
  const chosen = session === undefined || session === locales[0] ? [] : [session];
  const wanted = [...new Set([...chosen, ...named])].slice(0, maximumWanted);
  return {
    id: wanted.join(),
    choose(tags, hasDefault) {
      for (const tag of wanted) {
        for (const subtags = tag.split('-'); subtags.length > 0; subtags.pop()) {
          const range = subtags.join('-');
          if (tags.includes(range)) return range;
          if (hasDefault && range === locales[0]) return undefined;
        }
      }
      return undefined;
    },
  };
}

/** One element of Accept-Language, or undefined when it is malformed. */
function readRange(element: string): LanguageRange | undefined {
  const [range = '', weight, ...rest] = element.split(';').map((part) => part.trim());
  const tag = range === '*' ? range : canonicalLocale(range);
  if (tag === undefined || rest.length > 0) return undefined;
  if (weight === undefined) return { tag, quality: 1 };
  const quality = /^[Qq]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(weight)?.[1];
  return quality === undefined ? undefined : { tag, quality: Number(quality) };
}

/**
 * Lookup by RFC 4647, 3.4: the tag loses its last subtag until the rest is a supported locale. (The RFC's rule for single letters would only skip
 * steps that find nothing.)
 */
function lookUp(tag: string | undefined): Locale | undefined {
  for (const subtags = tag?.split('-') ?? []; subtags.length > 0; subtags.pop()) {
    const range = subtags.join('-');
    const found = locales.find((locale) => locale === range);
    if (found !== undefined) return found;
  }
  return undefined;
}
