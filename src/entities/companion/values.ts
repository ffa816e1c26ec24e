/** The values of the companion row of an entity, computed from its fields. */
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import { isOfEnvelope, type EnvelopeName, type Field } from '../../filter/fields.ts';
import { boundedFold, foldedText, foldWords, normalText } from '../../filter/fold.ts';
import { isDecimal } from '../../json/decimal.ts';
import { isInt64 } from '../../json/int64.ts';
import { isLongerThan } from '../../filter/values.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { foldedName, searchColumn, type Companion, type CompanionColumn, type CompanionValues } from './layout.ts';
import { wordsOf } from './search-words.ts';

/** The members of the envelope that each change changes. */
const changedMembers: ReadonlySet<string | undefined> = new Set<EnvelopeName>(['$version', '$updatedAt', '$updatedBy']);
/** The most characters of all texts of an entity that are searched. PostgreSQL holds 1 MiB of different words. */
const searchedLength = 100_000;

/**
 * The values of a row for `fields`, which the type has accepted. A value that the column cannot compare is null, as it is missing for filters. Throws 422
 * `validation-failed` with `too-long` for texts that no index can hold.
 */
export function companionValues(companion: Companion, fields: unknown): CompanionValues {
  const found = valuesOf(
    companion.columns.filter(({ field }) => !isOfEnvelope(field)),
    fields,
  );
  if ('faults' in found) throw new Problem('validation-failed', { faults: found.faults });
  const { values } = found;
  let left = searchedLength;
  for (const { name, field } of companion.search?.texts ?? []) {
    const text = memberAt(fields, field);
    const searched = typeof text === 'string' ? wordsOf(text, left) : null;
    left -= searched?.length ?? 0;
    if (companion.search?.isFolded) values[foldedName(name)] = searched === null ? null : foldWords(searched);
    if (!companion.search?.isFolded || companion.search.language !== 'simple') values[name] = searched;
  }
  return values;
}

/** What a patch changes of a row: the values of some columns, and the names of the others, which stay as they are. */
export interface RowChange {
  values: CompanionValues;
  kept: string[];
}

/**
 * What the patch changes of the row, whatever else the entity has; null for nothing. Undefined if that depends on the entity: all texts that are searched stand in
 * one column, and a table that is being built may lack the row. No member of the patch may be an object.
 */
export function rowChangeOf(companion: Companion, patch: Readonly<Record<string, unknown>>): RowChange | null | undefined {
  const { columns, search, state } = companion;
  const isGiven = ({ field: [member = ''] }: { field: Field }) => Object.hasOwn(patch, member);
  const isOfLabel = columns.some(({ label = [] }) => label.some((field) => isGiven({ field })));
  if (state === 'building' || isOfLabel || search?.texts.some(isGiven)) return undefined;
  const [ofFields, ofEnvelope] = [columns.filter(({ field }) => !isOfEnvelope(field)), columns.filter(({ field }) => isOfEnvelope(field))];
  const given = ofFields.filter(isGiven);
  if (given.length === 0 && !ofEnvelope.some(({ field }) => changedMembers.has(field[0]))) return null;
  const values = valuesOf(given, patch);
  if ('faults' in values) return undefined;
  const kept = ofFields.filter((column) => !given.includes(column)).map(({ name }) => name);
  return { values: values.values, kept: search ? [...kept, searchColumn] : kept };
}

/**
 * The text as a column compares it whose texts are equal without regard to case and form. Lower case leaves that form: that of J with a caron is two characters,
 * which are one in NFKC.
 */
export function foldText(text: string): string {
  return normalText(text).toLowerCase().normalize('NFKC');
}

function valuesOf(columns: readonly CompanionColumn[], fields: unknown): { values: CompanionValues } | { faults: Fault[] } {
  const faults: Fault[] = [];
  const values: CompanionValues = {};
  for (const column of columns) {
    const { maximumLength, label } = column;
    const value = label ? labelOf(label, fields, maximumLength) : valueOf(column, memberAt(fields, column.field));
    if (typeof value === 'string' && maximumLength !== undefined && isLongerThan(value, maximumLength))
      faults.push({ pointer: pointerTo(column.field), code: 'too-long', values: { maximum: maximumLength } });
    values[column.name] = value;
  }
  return faults.length > 0 ? { faults } : { values };
}

/** The name of an entity: the values of its parts, at most `maximum` characters of them. Null for an entity that has none of them. */
export function labelOf(parts: readonly Field[], fields: unknown, maximum = Infinity): string | null {
  const values = parts.flatMap((field) => {
    const value = memberAt(fields, field);
    return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
  });
  const label = values.filter((value) => value.trim() !== '').join(', ');
  if (label === '') return null;
  return isLongerThan(label, maximum)
    ? Array.from(label.slice(0, 2 * maximum))
        .slice(0, maximum)
        .join('')
    : label;
}

/** The member at the field, which is below objects only; undefined if there is none. */
export function memberAt(fields: unknown, field: Field): unknown {
  return field.reduce(
    (value, name) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    fields,
  );
}

function valueOf({ type, fold, maximumLength = Infinity }: CompanionColumn, value: unknown): string | number | boolean | null {
  switch (type) {
    case 'string':
    case 'enum':
    case 'date':
    case 'date-time':
    case 'instant':
      if (typeof value !== 'string') return null;
      return fold ? boundedFold(value, maximumLength, foldText) : value;
    case 'folded':
      return typeof value === 'string' ? boundedFold(value, maximumLength, foldedText) : null;
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
