/** The variables of rules in statements: each is a parameter, or a column of the input, of its own SQL type. */
import { sql, type RawBuilder } from 'kysely';
import { sqlTypes } from '../filter/source.ts';
import { testsOf, type Filter, type Variable } from '../filter/syntax.ts';
import { withVariables, type Variables, type VariableSource } from '../filter/variables.ts';

/** The name of a variable in a statement: `user.regions` is `user$regions`. */
export type VariableName = `${string}$${string}`;

/** A variable that a statement names. */
export interface VariableUse {
  name: string;
  column: VariableName;
  /** With `[]` for a list. */
  sqlType: string;
}

const columnOf = (name: string): VariableName => name.replace('.', '$') as VariableName;

const timeZone: VariableUse = { name: 'time zone', column: 'time$zone', sqlType: 'text' };

/** The variables of the filter in the order of their names, and the time zone if the filter needs the day. */
export function variablesUsed(...filters: readonly Filter[]): VariableUse[] {
  const used = filters.flatMap((filter) => testsOf(filter).flatMap(usesOf));
  return [...new Map(used.map((use) => [use.column, use]))]
    .map(([, use]) => use)
    .toSorted((one, other) => (one.column < other.column ? -1 : 1));
}

function usesOf(test: ReturnType<typeof testsOf>[number]): VariableUse[] {
  if ('of' in test) return variablesUsed(test.of);
  if (!('operand' in test)) return [];
  if (test.operand.kind === 'clock') return [timeZone];
  return test.operand.kind === 'variable' ? [useOf(test.operand, test.kind === 'in-list')] : [];
}

function useOf({ name, type }: Variable, isList: boolean): VariableUse {
  return { name, column: columnOf(name), sqlType: sqlTypes[type] + (isList ? '[]' : '') };
}

/** The variables of one caller. */
export interface CallerVariables {
  userName: string;
  /** The values by the names of their columns; null for those that the caller lacks. */
  valuesOf(variables: readonly VariableUse[]): Record<VariableName, unknown>;
  /** The value of the variable as JSON has it; undefined if the caller lacks it. */
  valueOf(name: string): unknown;
  /** The filter with the values in place of variables. */
  filled(filter: Filter): Filter;
}

/** The variables of a caller with these values. */
export function callerVariables(userName: string, variables: Variables): CallerVariables {
  const valueOf = ({ name, column }: VariableUse) => (column === timeZone.column ? variables.timeZone : (variables.valueOf(name) ?? null));
  return {
    userName,
    valueOf: (name) => variables.valueOf(name),
    filled: (filter) => withVariables(filter, variables),
    valuesOf: (used) => Object.fromEntries(used.map((use) => [use.column, valueOf(use)])),
  };
}

/** SQL: the variables in a statement that has the values of its caller at `source`. */
export function variablesAt(
  { value }: { value: (name: VariableName) => RawBuilder<unknown> },
  used: readonly VariableUse[],
): VariableSource {
  const types = new Map(used.map(({ column, sqlType }) => [column, sqlType]));
  const typed = (column: VariableName) => sql`${value(column)}::${sql.raw(types.get(column) ?? 'text')}`;
  return { value: (name) => typed(columnOf(name)), timeZone: typed(timeZone.column) };
}
