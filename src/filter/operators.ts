/** The operators of filters: what each accepts for which type of field, and what it means. */
import type { ArrayType, Field, FieldType, ScalarType } from './fields.ts';
import type { Unplaced } from './parse.ts';
import { any, not, type Filter, type Test } from './syntax.ts';
import { isOrdered, readValue, wholeMicroseconds, type ComparedTexts, type TypedValue } from './values.ts';

/** A field with the value that an operator compares it with. */
export interface Operand extends ComparedTexts {
  field: Field;
  type: FieldType;
  value: unknown;
}

interface OperatorContext {
  /** Records a fault, at the operator's value or at `at` inside of it. The filter that it returns is not used. */
  refuse: (fault: Unplaced, at?: readonly number[]) => Filter;
  /** The most values of a list. */
  inValues: number;
}

export type Operator = (operand: Operand, context: OperatorContext) => Filter;

/** The filter that no entity fulfils. */
const noEntity: Filter = any([]);

const isScalarType = (type: FieldType): type is ScalarType | 'any' => typeof type === 'string' && type !== 'object';

const negation =
  (operator: Operator): Operator =>
  (operand, context) =>
    not(operator(operand, context));

/** Objects and arrays are compared with null alone. */
function equality({ field, type, value, ...texts }: Operand, at: readonly number[], { refuse }: OperatorContext): Filter {
  if (value === null) return { kind: 'null', field };
  if (!isScalarType(type)) return refuse(notFilterable(type), at);
  const read = readValue(type, value, texts);
  if ('code' in read) return refuse(read, at);
  if (read.type === 'date-time' && wholeMicroseconds(String(read.value)).isCut) return noEntity;
  return { kind: 'compare', field, operator: '=', ...read };
}

const equal: Operator = (operand, context) => equality(operand, [], context);

const isOneOf: Operator = (operand, context) => {
  const { field, value: values } = operand;
  const { refuse, inValues } = context;
  if (!Array.isArray(values)) return refuse({ code: 'invalid-type', values: { allowed: 'array' } });
  if (values.length > inValues) return refuse({ code: 'invalid-value', values: { maximum: inValues } });
  const tests = values.map((value: unknown, index) => equality({ ...operand, value }, [index], context));
  const compared = tests.filter((test) => test.kind === 'compare');
  const lists = [...Map.groupBy(compared, (test) => test.type)].map(([type, of]): Test => ({
    kind: 'in',
    field,
    type,
    values: of.map(({ value }: TypedValue) => value),
  }));
  return any(tests.some((test) => test.kind === 'null') ? [...lists, { kind: 'null', field }] : lists);
};

/** What an operator means for the whole microsecond before a value that is between two. */
const afterCut = { '<': '<=', '<=': '<=', '>': '>', '>=': '>' } as const;

const ordered =
  (operator: '<' | '<=' | '>' | '>='): Operator =>
  ({ field, type, value }, { refuse }) => {
    if (!isScalarType(type) || !isOrdered(type)) return refuse(notFilterable(type));
    if (type === 'any' && typeof value === 'boolean') return refuse({ code: 'invalid-type', values: { allowed: 'string, number' } });
    const read = readValue(type, value);
    if ('code' in read) return refuse(read);
    if (read.type !== 'date-time') return { kind: 'compare', field, operator, ...read };
    const { text, isCut } = wholeMicroseconds(String(read.value));
    return { kind: 'compare', field, operator: isCut ? afterCut[operator] : operator, type: read.type, value: text };
  };

/** The type by which parts of the texts of a field are compared; undefined for one without texts. */
const textTypeOf = (type: FieldType): 'string' | 'folded' | undefined =>
  type === 'any' ? 'string' : type === 'string' || type === 'folded' ? type : undefined;

const prefix: Operator = ({ field, type, value, ...texts }, { refuse }) => {
  const textType = textTypeOf(type);
  if (!textType) return refuse(notFilterable(type));
  const read = readValue(textType, value, texts);
  return 'code' in read ? refuse(read) : { kind: 'prefix', field, type: textType, value: String(read.value) };
};

/** A part of a text or an item of an array; of a field without a declared type either of the two. */
const contains: Operator = ({ field, type, value, ...texts }, { refuse }) => {
  const isText = type === 'string' || type === 'folded';
  if (!isText && type !== 'any' && !isArrayComparedAsText(type)) return refuse(notFilterable(type));
  if (value === null && !isText) return { kind: 'member', field, value };
  const read = readValue(typeof type === 'string' ? type : type.items, value, texts);
  if ('code' in read) return refuse(read);
  const textType = textTypeOf(type);
  const part: Test[] = typeof read.value === 'string' && textType ? [{ kind: 'substring', field, type: textType, value: read.value }] : [];
  return isText ? any(part) : any([...part, { kind: 'member', field, value: read.value }]);
};

/** Whether equal items of the array are written alike. A decimal and an instant can be written in more than one way. */
const isArrayComparedAsText = (type: FieldType): type is ArrayType =>
  typeof type !== 'string' && type.items !== 'decimal' && type.items !== 'date-time' && type.items !== 'instant';

const presence =
  (whenTrue: (field: Field) => Filter): Operator =>
  ({ field, value }, { refuse }) => {
    if (typeof value !== 'boolean') return refuse({ code: 'invalid-type', values: { allowed: 'boolean' } });
    return value ? whenTrue(field) : not(whenTrue(field));
  };

/** By name. A null-prototype object is not needed: callers use `Object.hasOwn`. */
export const operators: Readonly<Record<string, Operator>> = {
  $eq: equal,
  $ne: negation(equal),
  $lt: ordered('<'),
  $lte: ordered('<='),
  $gt: ordered('>'),
  $gte: ordered('>='),
  $in: isOneOf,
  $nin: negation(isOneOf),
  $prefix: prefix,
  $contains: contains,
  $exists: presence((field) => ({ kind: 'exists', field })),
  $empty: presence((field) => any([not({ kind: 'exists', field }), { kind: 'null', field }])),
};

const notFilterable = (type: FieldType): Unplaced => ({ code: 'not-filterable', values: { allowed: operatorsOf(type).join(', ') } });

/** The operators of folded texts. */
export const foldedOperators: readonly string[] = ['$eq', '$ne', '$in', '$nin', '$prefix', '$contains'];

/** The operators that a field of the type takes. */
export function operatorsOf(type: FieldType): string[] {
  const [equality, order] = [
    ['$eq', '$ne', '$in', '$nin'],
    ['$lt', '$lte', '$gt', '$gte'],
  ];
  const own = isScalarType(type)
    ? [...equality, ...(isOrdered(type) ? order : []), ...(type === 'string' || type === 'any' ? ['$prefix', '$contains'] : [])]
    : isArrayComparedAsText(type)
      ? ['$contains']
      : [];
  return [...own, '$exists', '$empty'];
}
