/** The values of the companion row of an entity, computed from its fields. */
import { Problem } from '../errors.ts';
import type { Fault } from '../faults.ts';
import { isOfEnvelope, type Field } from '../filter/fields.ts';
import { isDecimal } from '../http/decimal.ts';
import { isInt64 } from '../http/int64.ts';
import { isLongerThan } from '../filter/values.ts';
import { pointerTo } from '../http/pointer.ts';
import type { Companion, CompanionColumn, CompanionValues } from './layout.ts';

/** The most characters of all texts of an entity that are searched. PostgreSQL holds 1 MiB of different words. */
const searchedLength = 100_000;

/**
 * The values of a row for `fields`, which the type has accepted. A value that the column cannot compare is null, as it is missing for filters. Throws 422
 * `validation-failed` with `too-long` for texts that no index can hold.
 */
export function companionValues(companion: Companion, fields: unknown): CompanionValues {
  const faults: Fault[] = [];
  const values: CompanionValues = {};
  for (const column of companion.columns.filter(({ field }) => !isOfEnvelope(field))) {
    const value = valueOf(column, memberAt(fields, column.field));
    const { maximumLength } = column;
    if (typeof value === 'string' && maximumLength !== undefined && isLongerThan(value, maximumLength))
      faults.push({ pointer: pointerTo(column.field), code: 'too-long', values: { maximum: maximumLength } });
    values[column.name] = value;
  }
  if (faults.length > 0) throw new Problem('validation-failed', { faults });
  let left = searchedLength;
  for (const { name, field } of companion.search?.texts ?? []) {
    const text = memberAt(fields, field);
    const searched = typeof text === 'string' ? wordsOf(text.slice(0, left)) : null;
    left -= searched?.length ?? 0;
    values[name] = searched;
  }
  return values;
}

/** The text as a column compares it whose texts are equal without regard to case and form. */
export function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/**
 * The words of a text, with a space in place of all that is no letter or digit. PostgreSQL takes quadratic time for addresses and hyphenated words: a second for
 * 8,000 characters of `a_a_a`.
 */
export function wordsOf(text: string): string {
  return text.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ');
}

function memberAt(fields: unknown, field: Field): unknown {
  return field.reduce(
    (value, name) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    fields,
  );
}

function valueOf({ type, fold }: CompanionColumn, value: unknown): string | number | boolean | null {
  switch (type) {
    case 'string':
    case 'enum':
    case 'date':
    case 'date-time':
      if (typeof value !== 'string') return null;
      return fold ? folded(value) : value;
    case 'int64':
      return typeof value === 'string' && isInt64(value) ? value : null;
    case 'decimal':
      return typeof value === 'string' && isDecimal(value) ? value : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
  }
}
