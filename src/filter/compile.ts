/**
 * Compiles a filter to an SQL condition. Every value and every name of a field is a parameter. A test that must hold stays bare, so that an
 * index can serve it. `not` moves to the single tests, where `is not true` makes a test of a missing value true (docs/filters.md).
 */
import { sql, type RawBuilder } from 'kysely';
import type { ScalarType } from './fields.ts';
import { clockValue } from './clock.ts';
import { asInstant, sqlTypes, type Source } from './source.ts';
import type { Filter, Test } from './syntax.ts';
import type { VariableSource } from './variables.ts';

type FilterCondition = RawBuilder<boolean>;

/** The common facts of the conditions of a filter. */
interface Frame {
  source: Source;
  /** Undefined for a filter that {@link withVariables} has given its values. */
  variables: VariableSource | undefined;
  /** Whether the entities that fulfil this filter count for the caller: not if an odd number of `not` is around the reference that leads to them. */
  isWanted: boolean;
}

/**
 * SQL: true for the entities of `source` that fulfil the filter; false or null for all others. `variables` has the values of variables that the filter still names.
 * A test of a variable that is null there counts as {@link withVariables} says.
 */
export function filterCondition(filter: Filter, source: Source, variables?: VariableSource): FilterCondition {
  return conditionOf(filter, { source, variables, isWanted: true }, true);
}

function conditionOf(filter: Filter, frame: Frame, holds: boolean): FilterCondition {
  switch (filter.kind) {
    case 'not':
      return conditionOf(filter.of, frame, !holds);
    case 'all':
    case 'any':
      return joined(
        filter.of.map((one) => conditionOf(one, frame, holds)),
        (filter.kind === 'all') === holds,
      );
    default:
      return withPolarity(filter, frame, holds);
  }
}

/**
 * The condition of a single test. If its variable is missing, no entity that counts fulfils it, and each that does not count. A bare test is null then, which
 * is false; its opposite is true.
 */
function withPolarity(test: Test, frame: Frame, holds: boolean): FilterCondition {
  const condition = holds ? testCondition(test, frame, holds) : sql<boolean>`(${testCondition(test, frame, holds)}) is not true`;
  if (holds === frame.isWanted || !('operand' in test) || test.operand.kind !== 'variable') return condition;
  const value = variablesOf(frame).value(test.operand.name);
  return frame.isWanted ? sql<boolean>`(${condition} and ${value} is not null)` : sql<boolean>`(${condition} or ${value} is null)`;
}

function joined(conditions: FilterCondition[], isAnd: boolean): FilterCondition {
  if (conditions.length === 0) return isAnd ? sql<boolean>`true` : sql<boolean>`false`;
  return sql<boolean>`(${sql.join(conditions, isAnd ? sql` and ` : sql` or `)})`;
}

const comparisons = { '=': sql`=`, '<': sql`<`, '<=': sql`<=`, '>': sql`>`, '>=': sql`>=` } as const;

function testCondition(test: Test, frame: Frame, holds: boolean): FilterCondition {
  const { source } = frame;
  const { field } = test;
  switch (test.kind) {
    case 'compare': {
      const [left, right] = compared(test, frame);
      return sql<boolean>`${left} ${comparisons[test.operator]} ${right}`;
    }
    case 'in':
      return sql<boolean>`${source.typed(field, test.type)} = any(${parameter(test.values.map(String), test.type, '[]')})`;
    case 'in-list': {
      const { name, type } = test.operand;
      const list = variablesOf(frame).value(name);
      const isInstant = type !== test.type && (type === 'instant' || test.type === 'instant');
      if (!isInstant) return sql<boolean>`${source.typed(field, test.type)} = any(${list})`;
      const items = sql`(select ${asInstant(sql`item`, type)} from unnest(${list}) as item)`;
      return sql<boolean>`${asInstant(source.typed(field, test.type), test.type)} = any(array${items})`;
    }
    case 'prefix':
      return sql<boolean>`starts_with(${source.typed(field, test.type)}, ${text(test.operand, frame)})`;
    case 'substring':
      return sql<boolean>`strpos(${source.typed(field, test.type)}, ${text(test.operand, frame)}) > 0`;
    case 'member': {
      const array = source.json(field);
      if (test.operand.kind === 'value')
        return sql<boolean>`(jsonb_typeof(${array}) = 'array' and ${array} @> ${JSON.stringify([test.operand.value])}::jsonb)`;
      const value = variablesOf(frame).value(test.operand.name);
      const item = test.operand.type === 'int64' ? sql`${value}::text` : value;
      return sql<boolean>`(jsonb_typeof(${array}) = 'array' and ${value} is not null and ${array} @> jsonb_build_array(${item}))`;
    }
    case 'null':
      return sql<boolean>`${source.json(field)} = 'null'::jsonb`;
    case 'exists':
      return sql<boolean>`${source.json(field)} is not null`;
    case 'search':
      return source.matches(test.words);
    case 'lookup': {
      const inside = { ...frame, source: test.source, isWanted: frame.isWanted === holds };
      return test.exists(source.typed(field, test.type), conditionOf(test.of, inside, true));
    }
    case 'match':
    case 'some':
      throw new Error('a reference has to be followed before its test is compiled');
  }
}

/** The two sides of a comparison. Instants of two types are compared with all their digits. */
function compared({ field, type, operand }: Extract<Test, { kind: 'compare' }>, frame: Frame): [RawBuilder<unknown>, RawBuilder<unknown>] {
  const left = frame.source.typed(field, type);
  switch (operand.kind) {
    case 'value':
      return [left, parameter(String(operand.value), type)];
    case 'clock':
      return [left, clockValue(operand, type, frame.variables?.timeZone)];
    default: {
      const right = operand.kind === 'field' ? frame.source.typed(operand.field, operand.type) : variablesOf(frame).value(operand.name);
      const isMixed = operand.type !== type && (operand.type === 'instant' || type === 'instant');
      return isMixed ? [asInstant(left, type), asInstant(right, operand.type)] : [left, right];
    }
  }
}

function text(operand: Extract<Test, { kind: 'prefix' }>['operand'], frame: Frame): RawBuilder<unknown> {
  return operand.kind === 'value' ? sql`${operand.value}::text` : variablesOf(frame).value(operand.name);
}

function variablesOf({ variables }: Frame): VariableSource {
  if (!variables) throw new Error('a variable has to have a value before its test is compiled');
  return variables;
}

/** A parameter with its type. The collation of the other side decides how texts compare. */
function parameter(value: string | string[], type: ScalarType, array = ''): RawBuilder<unknown> {
  return sql`${value}::${sql.raw(sqlTypes[type] + array)}`;
}
