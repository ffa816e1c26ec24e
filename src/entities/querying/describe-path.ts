/** One line about an access path. It has names of declared fields and numbers, and no value of a filter. */
import { isOfEnvelope } from '../../filter/fields.ts';
import { looksLikeName } from '../../problems/pointer.ts';
import type { Permit } from '../../rights/permit.ts';
import type { Action } from '../../rights/vocabulary.ts';
import { keyColumn } from '../companion/fields.ts';
import type { IndexRange } from '../companion/index-ranges.ts';
import type { Companion } from '../companion/layout.ts';
import { listLimits, type AccessPath, type IndexScan } from './access-path.ts';

/**
 * The description in the texts for its caller; nothing for a caller of own rows. How the service reads a list depends on how many entities others
 * have (rule 161).
 */
export function shownPath({ ownOnly }: Permit<Action>, description: string): { path?: string } {
  return ownOnly ? {} : { path: description };
}

/** The line, as `index scan of (city), filter, at most 5000 rows`. */
export function describePath(path: AccessPath): string {
  switch (path.kind) {
    case 'primary key':
      return path.kind + budgetText(path.budget);
    case 'index-only scan':
      return `${path.kind} of ${indexText(path)}`;
    case 'index scan':
      return `${path.kind} of ${indexText(path)}${budgetText(path.budget)}`;
    case 'relevance':
    case 'sort': {
      const { companion } = path.query.fields;
      const rows = path.ranges && companion ? path.ranges.map((range) => rangeText(range, companion)).join(' or ') : 'the primary key';
      return `${path.kind} of at most ${listLimits.candidates} rows of ${rows}`;
    }
  }
}

const budgetText = (budget: number | undefined) => (budget === undefined ? '' : `, filter, at most ${budget} rows`);

/** All columns of the index of a scan, and which of them are its prefix. */
function indexText({ query, range }: IndexScan): string {
  const prefix = range.prefix.map(({ column }) => nameOf(column, query.fields.companion));
  const order = range.columns.map((column) => (column.descending ? '-' : '') + nameOf(column, query.fields.companion));
  const columns = [...prefix, ...order];
  return `(${columns.length === 0 ? '$key' : columns.join(', ')})${prefix.length === 0 ? '' : `, prefix (${prefix.join(', ')})`}`;
}

/** The columns that narrow a range. */
function rangeText({ prefix, limits, words, substring }: IndexRange, companion: Companion): string {
  if (words !== undefined) return 'the words';
  if (substring) return `the trigrams of (${nameOf(substring.column, companion)})`;
  const names = new Set([...prefix, ...limits].map(({ column }) => nameOf(column, companion)));
  return names.size === 0 ? 'the primary key' : `(${[...names].join(', ')})`;
}

/** The field of a column; the name of the column if the field must not be repeated (rule 75). */
function nameOf({ name }: { name: string }, { columns }: Companion): string {
  const field = columns.find((column) => column.name === name)?.field ?? [];
  if (name === keyColumn.name) return '$key';
  return isOfEnvelope(field) || field.every(looksLikeName) ? field.join('.') : name;
}
