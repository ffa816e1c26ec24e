/** Content negotiation by `Accept` (RFC 9110 section 12.5.1). */
import { Problem } from '../problems/errors.ts';

/**
 * The one of `types` with the highest quality in `accept`, the first of several. Of the ranges that match a type the most specific decides. Throws 406 if `accept` excludes
 * all of them.
 */
export function acceptedType<T extends string>(accept: string | undefined, types: readonly [T, ...T[]]): T {
  const [first] = types;
  if (accept === undefined || accept === '*/*' || accept === first) return first;
  const ranges = new Map<string, number>();
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    ranges.set(type, quality === undefined ? 1 : Number(quality.slice(2)));
  }
  const qualityOf = (type: string) => ranges.get(type) ?? ranges.get(`${type.split('/')[0]}/*`) ?? ranges.get('*/*') ?? 0;
  const best = types.toSorted((one, other) => qualityOf(other) - qualityOf(one))[0] ?? first;
  if (qualityOf(best) > 0) return best;
  throw new Problem('not-acceptable', { values: { allowed: types.join(', ') } });
}

/** Whether the client asks for HTML by its name, as every browser does that opens a page. */
export function namesHtml(accept: string | undefined): boolean {
  return accept?.split(',').some((range) => /^\s*text\/html\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(range)) ?? false;
}
