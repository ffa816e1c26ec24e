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
  const ranges = header
    .slice(0, headerLength)
    .split(',', rangeCount)
    .map(readRange)
    .filter((range) => range !== undefined);
  const refused = new Set(ranges.filter(({ quality }) => quality === 0).map(({ tag }) => tag));
  const wanted = ranges
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || Number(a.tag === '*') - Number(b.tag === '*'));
  for (const { tag } of wanted) {
    const found = tag === '*' ? unnamed(ranges) : lookUp(tag);
    if (found !== undefined && !refused.has(found)) return found;
  }
  return undefined;
}

/** `*` stands for every language that no other range of the header names. */
function unnamed(ranges: readonly { tag: string }[]): Locale | undefined {
  const named = new Set(ranges.map(({ tag }) => lookUp(tag)));
  return locales.find((locale) => !named.has(locale));
}

/** One element of Accept-Language, or undefined when it is malformed. */
function readRange(element: string): { tag: string; quality: number } | undefined {
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
