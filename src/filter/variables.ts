/** The variables of filters: values of the caller that a filter names, and of which a caller may lack one. */
import type { RawBuilder } from 'kysely';
import { comparisonWith, equalsOneOf } from './comparisons.ts';
import type { ScalarType } from './fields.ts';
import { all, any, constantOperand, everyEntity, noEntity, not, type Filter, type Variable } from './syntax.ts';
import { readValue, type TypedValue } from './values.ts';

/** The type of a variable, or of the items of its list. */
export type VariableType = ScalarType | { items: ScalarType };

/** The declared variables. `now` and `today` are declared beside them for every filter. */
export interface VariableTypes {
  /** In the order in which a fault lists them. */
  names: readonly string[];
  typeOf(name: string): VariableType | undefined;
}

/** The variables of one caller. */
export interface Variables extends VariableTypes {
  /** As JSON has the value of the type; undefined if the caller lacks it. A value that is not of the type counts as lacking. */
  valueOf(name: string): TypedValue['value'] | readonly TypedValue['value'][] | undefined;
  /** A time zone of the IANA database, which decides about `today`. */
  timeZone: string;
}

/** The values of a caller in a statement that callers share: its parameters, or columns of its input. */
export interface VariableSource {
  /** SQL: the value, of the SQL type that `sqlTypes` has for its type, or an array of it; SQL null if the caller lacks it. */
  value(name: string): RawBuilder<unknown>;
  /** SQL: the name of the caller's time zone; SQL null stands for UTC. */
  timeZone: RawBuilder<unknown>;
}

/**
 * The filter with the values of the caller in place of variables. A test of a variable that the caller lacks counts as false where it must hold, and as true
 * where it must not: under an odd number of `not`, also of those around a reference. So neither the test nor its opposite finds an entity.
 */
export function withVariables(filter: Filter, variables: Variables, mustHold = true): Filter {
  switch (filter.kind) {
    case 'not':
      return not(withVariables(filter.of, variables, !mustHold));
    case 'all':
      return all(filter.of.map((each) => withVariables(each, variables, mustHold)));
    case 'any':
      return any(filter.of.map((each) => withVariables(each, variables, mustHold)));
    case 'match':
    case 'some':
    case 'lookup':
      return { ...filter, of: withVariables(filter.of, variables, mustHold) };
    case 'compare':
      if (filter.operand.kind === 'clock') return { ...filter, operand: { ...filter.operand, zone: variables.timeZone } };
      break;
  }
  if (!('operand' in filter) || filter.operand.kind !== 'variable') return filter;
  return withValue(filter as VariableTest, variables) ?? (mustHold ? noEntity : everyEntity);
}

type VariableTest = Extract<Filter, { operand: unknown }> & { operand: Variable };

/** The test with the value of its variable; undefined if the caller lacks it. */
function withValue(test: VariableTest, variables: Variables): Filter | undefined {
  const value = variables.valueOf(test.operand.name);
  const type = test.kind === 'member' ? test.operand.type : test.type;
  const values = (test.kind === 'in-list' ? (Array.isArray(value) ? value : [undefined]) : [value]).map((each) => readValue(type, each));
  const read = values.flatMap((each) => ('code' in each ? [] : [each]));
  if (read.length < values.length) return undefined;
  if (test.kind === 'in-list') return any(equalsOneOf(test.field, read));
  const [only] = read;
  if (!only) return undefined;
  switch (test.kind) {
    case 'compare':
      return comparisonWith(test.field, test.operator, only);
    case 'prefix':
    case 'substring':
      return { ...test, operand: constantOperand(only.value) };
    case 'member':
      return { ...test, operand: constantOperand(only.value) };
  }
}
