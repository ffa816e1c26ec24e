/** The references that `$some` and `$none` name, and the indexes without which they cost too much (decision 317). */
import { isDeepStrictEqual } from 'node:util';
import { readableCompanion, type Companion, type CompanionColumn } from './layout.ts';
import type { Field, ScalarType } from '../../filter/fields.ts';
import { conjuncts, isEveryEntity, type Filter } from '../../filter/syntax.ts';
import { looksLikeName } from '../../problems/pointer.ts';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The texts `name.field` in the filter of a caller, wherever `$some` or `$none` has them. */
export function namedReferences(filter: unknown): Set<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (!isObject(value)) return;
    for (const [name, member] of Object.entries(value)) {
      if ((name === '$some' || name === '$none') && isObject(member)) for (const reference of Object.keys(member)) found.add(reference);
      visit(member);
    }
  };
  visit(filter);
  return found;
}

/** Each way to read `name.field`, the shortest name first: names of entities and of fields can have dots. */
export function readingsOf(reference: string): { name: string; by: Field }[] {
  const parts = reference.split('.');
  return parts.slice(1).map((_, index) => ({ name: parts.slice(0, index + 1).join('.'), by: parts.slice(index + 1) }));
}

interface ComparedField {
  field: Field;
  type: ScalarType;
}

/**
 * The entry of `x-index` that the test of referring entities lacks. An index serves it that begins with a field which the filter compares for equality; or with
 * the reference and a field that it compares for equality or in order. All entities that refer to one by the reference alone may be many.
 */
export function lackedIndex(stored: Companion | null, by: Field, filter: Filter): string[] | undefined {
  const companion = stored && readableCompanion(stored);
  const conditions = conjuncts(filter);
  const equal = conditions.flatMap(equalField);
  const limited = conditions.flatMap(limitedField);
  const reference: ComparedField = { field: by, type: 'int64' };
  const isServed = (companion ? columnsOfIndexes(companion) : []).some(([first, second]) => {
    if (!first) return false;
    if (isOneOf(first, equal)) return true;
    return isOneOf(first, [reference]) && (isEveryEntity(filter) || (second !== undefined && isOneOf(second, [...equal, ...limited])));
  });
  if (isServed) return undefined;
  const fields = equal.length > 0 ? equal : limited.slice(0, 1);
  if (fields.length === 0 || !fields.every(({ field }) => field.every(looksLikeName))) return [];
  return [...new Set([reference, ...fields].map(({ field }) => field.join('.')))];
}

function columnsOfIndexes({ columns, indexes, uniques }: Companion): (CompanionColumn | undefined)[][] {
  const named = (name: string) => columns.find((column) => column.name === name);
  return [
    ...indexes.map((index) => index.columns.map(({ name }) => named(name))),
    ...uniques.map((unique) => unique.columns.map((name) => named(name))),
  ];
}

const isOneOf = ({ fold, field, type }: CompanionColumn, fields: readonly ComparedField[]): boolean =>
  !fold && fields.some((one) => one.type === type && isDeepStrictEqual(one.field, field));

/** The field of which the condition leaves certain values. */
function equalField(condition: Filter): ComparedField[] {
  switch (condition.kind) {
    case 'compare':
      return condition.operator === '=' && condition.operand.kind !== 'field' ? [condition] : [];
    case 'in':
    case 'in-list':
      return [condition];
    case 'match':
      return [{ field: condition.field, type: 'int64' }];
    case 'any': {
      const [first, ...others] = condition.of.map((each) => equalField(each)[0]);
      return first && others.every((other) => isDeepStrictEqual([other?.field, other?.type], [first.field, first.type])) ? [first] : [];
    }
    default:
      return [];
  }
}

/** The field of which the condition leaves values on one side of another. */
function limitedField(condition: Filter): ComparedField[] {
  const isLimit = condition.kind === 'compare' && condition.operator !== '=' && condition.operand.kind !== 'field';
  return isLimit || condition.kind === 'prefix' ? [condition] : [];
}
