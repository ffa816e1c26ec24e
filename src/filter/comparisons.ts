/** The tests that compare a field with values which are known. */
import type { Field } from './fields.ts';
import { constantOperand, noEntity, type Filter, type Test } from './syntax.ts';
import { wholeMicroseconds, type TypedValue } from './values.ts';

export type ComparisonOperator = Extract<Test, { kind: 'compare' }>['operator'];

/** The meaning of an operator for the whole microsecond before a value that is between two. */
const afterCut = { '<': '<=', '<=': '<=', '>': '>', '>=': '>' } as const;

/** The comparison with the value. An instant between two whole microseconds equals none of an envelope or a field of rules. */
export function comparisonWith(field: Field, operator: ComparisonOperator, { type, value }: TypedValue): Filter {
  if (type !== 'date-time') return { kind: 'compare', field, operator, type, operand: constantOperand(value) };
  const { text, isCut } = wholeMicroseconds(String(value));
  if (operator === '=') return isCut ? noEntity : { kind: 'compare', field, operator, type, operand: constantOperand(value) };
  return { kind: 'compare', field, operator: isCut ? afterCut[operator] : operator, type, operand: constantOperand(text) };
}

/** Whether the field equals one of the values: a test for the values of each type. */
export function equalsOneOf(field: Field, values: readonly TypedValue[]): Test[] {
  const compared = values.filter((value) => comparisonWith(field, '=', value).kind === 'compare');
  return [...Map.groupBy(compared, ({ type }) => type)].map(([type, of]) => ({
    kind: 'in',
    field,
    type,
    values: of.map(({ value }) => value),
  }));
}
