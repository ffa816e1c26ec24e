/**
 * Compiles a filter to an SQL condition. Every value and every name of a field is a parameter. A test that must hold stays bare, so that an
 * index can serve it. `not` moves to the single tests, where `is not true` makes a test of a missing value true (docs/filters.md).
 */
import { sql, type RawBuilder } from 'kysely';
import type { ScalarType } from './fields.ts';
import { sqlTypes, type Source } from './source.ts';
import type { Filter, Test } from './syntax.ts';

type FilterCondition = RawBuilder<boolean>;

/** SQL: true for the entities of `source` that fulfil the filter; false or null for all others. */
export function filterCondition(filter: Filter, source: Source): FilterCondition {
  return conditionOf(filter, source, true);
}

function conditionOf(filter: Filter, source: Source, holds: boolean): FilterCondition {
  switch (filter.kind) {
    case 'not':
      return conditionOf(filter.of, source, !holds);
    case 'all':
    case 'any':
      return joined(
        filter.of.map((one) => conditionOf(one, source, holds)),
        (filter.kind === 'all') === holds,
      );
    default: {
      const test = testCondition(filter, source);
      return holds ? test : sql<boolean>`(${test}) is not true`;
    }
  }
}

function joined(conditions: FilterCondition[], isAnd: boolean): FilterCondition {
  if (conditions.length === 0) return isAnd ? sql<boolean>`true` : sql<boolean>`false`;
  return sql<boolean>`(${sql.join(conditions, isAnd ? sql` and ` : sql` or `)})`;
}

const comparisons = { '=': sql`=`, '<': sql`<`, '<=': sql`<=`, '>': sql`>`, '>=': sql`>=` } as const;

function testCondition(test: Test, source: Source): FilterCondition {
  const { field } = test;
  switch (test.kind) {
    case 'compare':
      return sql<boolean>`${source.typed(field, test.type)} ${comparisons[test.operator]} ${parameter(String(test.value), test.type)}`;
    case 'in':
      return sql<boolean>`${source.typed(field, test.type)} = any(${parameter(test.values.map(String), test.type, '[]')})`;
    case 'prefix':
      return sql<boolean>`starts_with(${source.typed(field, test.type)}, ${test.value}::text)`;
    case 'substring':
      return sql<boolean>`strpos(${source.typed(field, test.type)}, ${test.value}::text) > 0`;
    case 'member': {
      const array = source.json(field);
      return sql<boolean>`(jsonb_typeof(${array}) = 'array' and ${array} @> ${JSON.stringify([test.value])}::jsonb)`;
    }
    case 'null':
      return sql<boolean>`${source.json(field)} = 'null'::jsonb`;
    case 'exists':
      return sql<boolean>`${source.json(field)} is not null`;
    case 'search':
      return source.matches(test.words);
    case 'lookup':
      return test.holds(source.typed(field, test.type));
    case 'match':
      throw new Error('a reference has to be followed before its test is compiled');
  }
}

/** A parameter with its type. The collation of the other side decides how texts compare. */
function parameter(value: string | string[], type: ScalarType, array = ''): RawBuilder<unknown> {
  return sql`${value}::${sql.raw(sqlTypes[type] + array)}`;
}
