/** Reads the sort of a list: names of fields, `-` in front for descending, dots into objects. */
import { isDeepStrictEqual } from 'node:util';
import type { Unplaced } from './parse.ts';
import {
  envelopeTypes,
  isEnvelopeName,
  isKey,
  isLabelName,
  labelField,
  type Field,
  type FieldType,
  type FieldTypes,
  type ScalarType,
} from './fields.ts';
import { conjuncts, type Filter } from './syntax.ts';
import { looksLikeName } from '../problems/pointer.ts';

/** The most fields of a sort. */
const maximumSortFields = 4;
/** The most steps of a dotted name. */
const maximumDepth = 5;

export interface SortTerm {
  field: Field;
  type: ScalarType | 'any';
  descending: boolean;
  /** The language whose order texts have (BCP 47); undefined for that of code points. */
  collation?: string | undefined;
}

/** A fault, with the index of the name that has it. */
export type NameFault = Unplaced & { index: number };

/**
 * The terms of a sort; terms after `$key` decide nothing and are left out. Otherwise the faults, each with the index of its name; -1 stands for
 * the list.
 */
export function parseSort(names: readonly string[], types: FieldTypes): { sort: SortTerm[] } | { faults: NameFault[] } {
  if (names.length > maximumSortFields) return { faults: [{ index: -1, code: 'invalid-value', values: { maximum: maximumSortFields } }] };
  const faults: NameFault[] = [];
  const sort: SortTerm[] = [];
  const seen = new Set<string>();
  names.forEach((name, index) => {
    const descending = name.startsWith('-');
    const bare = descending ? name.slice(1) : name;
    const found = isEnvelopeName(bare)
      ? { field: [bare], type: envelopeTypes[bare] }
      : isLabelName(bare, types)
        ? { field: labelField, type: 'string' as const }
        : readField(bare, types);
    if ('code' in found) return void faults.push({ index, ...found });
    const { field, type } = found;
    if (typeof type !== 'string' || type === 'object') return void faults.push({ index, code: 'not-filterable' });
    if (seen.has(bare)) return void faults.push({ index, code: 'repeated' });
    seen.add(bare);
    sort.push({ field, type, descending, collation: types.collationOf?.(field) });
  });
  if (faults.length > 0) return { faults };
  const key = sort.findIndex(({ field }) => isKey(field));
  return { sort: key === -1 ? sort : sort.slice(0, key + 1) };
}

/** The field of a dotted name, with its type; the fault of a name that no field has. */
export function readField(name: string, types: FieldTypes): { field: Field; type: FieldType } | Unplaced {
  if (name === '') return { code: 'invalid-value' };
  if (name.startsWith('$')) return { code: 'not-addressable' };
  const field = name.split('.');
  if (field.length > maximumDepth) return { code: 'invalid-value', values: { maximum: maximumDepth } };
  const type = types.typeOf(field);
  return type === undefined ? unknownField(name) : { field, type };
}

/** The fault of a name that no field has. It repeats what looks like a name (rule 75). */
export function unknownField(name: string): Unplaced {
  return { code: 'unknown-field', ...(looksLikeName(name) && { values: { name } }) };
}

/** The terms that decide about the order of what the filter finds: not those of which it leaves one value, and not the key. */
export function decidingTerms(sort: readonly SortTerm[], filter: Filter): SortTerm[] {
  // Texts that are the same folded may differ.
  const equal = conjuncts(filter).flatMap((test) =>
    test.kind === 'compare' && test.operator === '=' && test.type !== 'folded' && test.operand.kind !== 'field' ? [test.field] : [],
  );
  return sort.filter(({ field }) => !isKey(field) && !equal.some((one) => isDeepStrictEqual(one, field)));
}
