/**
 * What a filter means, without a trace of how it was written: `$ne` is a `not` around an equality. Each test is true or false for each entity.
 * A field that is missing or null, or has a value of another type, fulfils no test but `exists` and `null`.
 */
import type { RawBuilder } from 'kysely';
import type { Field, ScalarType } from './fields.ts';
import type { Source } from './source.ts';
import type { TypedValue } from './values.ts';

export type Filter = { kind: 'all' | 'any'; of: readonly Filter[] } | { kind: 'not'; of: Filter } | Test;

/** The value with which a test compares its field. A field and a variable have types of their own, which fit that of the test. */
export type Operand = Constant | Variable | ClockOperand | { kind: 'field'; field: Field; type: ScalarType };

export interface Constant {
  kind: 'value';
  value: TypedValue['value'];
}

/** A value that the caller has or lacks. {@link withVariables} puts the value in its place, or a statement brings it (variables.ts). */
export interface Variable {
  kind: 'variable';
  name: string;
  type: ScalarType;
}

/** The time of the statement: as an instant, or of a test of a day as the day in the time zone of the caller. */
export interface ClockOperand {
  kind: 'clock';
  /** Subtracted from the time; undefined for the time itself. */
  ago: Duration | undefined;
  /** The caller's time zone; undefined as long as the caller is unknown. */
  zone: string | undefined;
}

export interface Duration {
  /** Whether the time is later by it instead of earlier. */
  isAhead: boolean;
  /** As ISO 8601 writes it, without a sign. */
  length: string;
}

export type Test =
  | { kind: 'compare'; field: Field; type: ScalarType; operator: '=' | '<' | '<=' | '>' | '>='; operand: Operand }
  /** Equal to one of the values, which have one type. */
  | { kind: 'in'; field: Field; type: ScalarType; values: readonly TypedValue['value'][] }
  /** Equal to one of the items of a variable that is a list. */
  | { kind: 'in-list'; field: Field; type: ScalarType; operand: Variable }
  /** A text that begins with the operand. */
  | { kind: 'prefix'; field: Field; type: 'string' | 'folded'; operand: Constant | Variable }
  /** A text that contains the operand. */
  | { kind: 'substring'; field: Field; type: 'string' | 'folded'; operand: Constant | Variable }
  /** An array that has the operand as an item. */
  | { kind: 'member'; field: Field; operand: { kind: 'value'; value: TypedValue['value'] | null } | Variable }
  /** JSON null. */
  | { kind: 'null'; field: Field }
  /** Any value, null included. */
  | { kind: 'exists'; field: Field }
  /** The texts that the type searches match the words. It is a test of no single field. */
  | { kind: 'search'; field: Field; words: string }
  /** The entity that the reference leads to fulfils the filter; it is called `to`. `entities/querying/match.ts` turns it into a test of the key. */
  | { kind: 'match'; field: Field; to: string; of: Filter }
  /** One of the entities called `name` that lead to this one by their field `by` fulfils the filter. `field` is the key of this one. */
  | { kind: 'some'; field: Field; name: string; by: Field; of: Filter }
  | Lookup;

/** The key in the field is that of an entity elsewhere which fulfils `of`. */
export interface Lookup {
  kind: 'lookup';
  field: Field;
  type: 'int64';
  /** The name of these entities. */
  name: string;
  /** The field of these entities that has the key; undefined if it is their own key. */
  by?: Field;
  of: Filter;
  source: Source;
  /** SQL: whether there is such an entity. `condition` is `of` over the source. */
  exists: (key: RawBuilder<unknown>, condition: RawBuilder<boolean>) => RawBuilder<boolean>;
  /** The number of tests that cost as much. */
  tests: number;
}

/** The filter that every entity fulfils. */
export const everyEntity: Filter = { kind: 'all', of: [] };

/** The filter that no entity fulfils. */
export const noEntity: Filter = { kind: 'any', of: [] };

export const constantOperand = <T extends Constant['value'] | null>(value: T) => ({ kind: 'value', value }) as const;

export const not = (of: Filter): Filter => ({ kind: 'not', of });
export const all = (of: readonly Filter[]): Filter => (of.length === 1 && of[0] ? of[0] : { kind: 'all', of });
export const any = (of: readonly Filter[]): Filter => (of.length === 1 && of[0] ? of[0] : { kind: 'any', of });

/** Whether the filter is {@link everyEntity}. */
export const isEveryEntity = (filter: Filter): boolean => filter.kind === 'all' && filter.of.length === 0;

/** The conditions that all have to hold: those of a nested `all` count as its own. */
export function conjuncts(filter: Filter): Filter[] {
  return filter.kind === 'all' ? filter.of.flatMap(conjuncts) : [filter];
}

/** Whether all entities fulfil the filter, or none do, whatever they have; undefined if that depends on them. */
export function constantOf(filter: Filter): boolean | undefined {
  switch (filter.kind) {
    case 'not': {
      const of = constantOf(filter.of);
      return of === undefined ? undefined : !of;
    }
    case 'all':
    case 'any': {
      const decisive = filter.kind === 'any';
      const each = filter.of.map(constantOf);
      if (each.includes(decisive)) return decisive;
      return each.includes(undefined) ? undefined : !decisive;
    }
    default:
      return undefined;
  }
}

/** Every test of the filter. */
export function testsOf(filter: Filter): Test[] {
  switch (filter.kind) {
    case 'not':
      return testsOf(filter.of);
    case 'all':
    case 'any':
      return filter.of.flatMap(testsOf);
    default:
      return [filter];
  }
}

/** The tests of the filter, and those of the entities at the other ends of its references. */
export function allTestsOf(filter: Filter): Test[] {
  const tests = testsOf(filter);
  return tests.concat(tests.flatMap((test) => ('of' in test ? allTestsOf(test.of) : [])));
}

/** Whether other entities decide, which a statement looks up. */
export const hasLookup = (filter: Filter): boolean => testsOf(filter).some(({ kind }) => kind === 'lookup');

/** The fields that the test compares: its own, and that of its operand. */
export function comparedFields(test: Test): { field: Field; type: ScalarType | undefined }[] {
  const own = { field: test.field, type: 'type' in test ? test.type : undefined };
  return test.kind === 'compare' && test.operand.kind === 'field' ? [own, test.operand] : [own];
}
