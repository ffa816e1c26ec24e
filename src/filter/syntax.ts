/**
 * What a filter means, without a trace of how it was written: `$ne` is a `not` around an equality. Each test is true or false for each entity.
 * A field that is missing or null, or has a value of another type, fulfils no test but `exists` and `null`.
 */
import type { RawBuilder } from 'kysely';
import type { Field } from './fields.ts';
import type { TypedValue } from './values.ts';

export type Filter = { kind: 'all' | 'any'; of: readonly Filter[] } | { kind: 'not'; of: Filter } | Test;

export type Test =
  | ({ kind: 'compare'; field: Field; operator: '=' | '<' | '<=' | '>' | '>=' } & TypedValue)
  /** Equal to one of the values, which have one type. */
  | { kind: 'in'; field: Field; type: TypedValue['type']; values: readonly TypedValue['value'][] }
  /** A text that begins with the value. */
  | { kind: 'prefix'; field: Field; type: 'string' | 'folded'; value: string }
  /** A text that contains the value. */
  | { kind: 'substring'; field: Field; type: 'string' | 'folded'; value: string }
  /** An array that has the value as an item. */
  | { kind: 'member'; field: Field; value: string | number | boolean | null }
  /** JSON null. */
  | { kind: 'null'; field: Field }
  /** Any value, null included. */
  | { kind: 'exists'; field: Field }
  /** The texts that the type searches match the words. It is a test of no single field. */
  | { kind: 'search'; field: Field; words: string }
  /** The entity that the reference leads to fulfils the filter; it is called `to`. `entities/querying/match.ts` turns it into a test of the key. */
  | { kind: 'match'; field: Field; to: string; of: Filter }
  /** The key in the field fulfils an SQL condition, which costs as much as this number of tests. */
  | { kind: 'lookup'; field: Field; type: 'int64'; holds: (key: RawBuilder<unknown>) => RawBuilder<boolean>; tests: number };

/** The filter that every entity fulfils. */
export const everyEntity: Filter = { kind: 'all', of: [] };

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
