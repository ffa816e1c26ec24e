/** The operators of filters: what each accepts for which type of field, and what it means. */
import { comparisonWith, equalsOneOf, type ComparisonOperator } from './comparisons.ts';
import type { ArrayType, Field, FieldType, ScalarType } from './fields.ts';
import { comparedType, type OperandReference } from './operands.ts';
import type { Unplaced } from './parse.ts';
import { any, constantOperand, not, type Filter, type Operand, type Test, type Variable } from './syntax.ts';
import { isOrdered, readValue, type ComparedTexts, type TypedValue } from './values.ts';

/** A field with the value that an operator compares it with. */
export interface TestedField extends ComparedTexts {
  field: Field;
  type: FieldType;
  value: unknown;
}

interface OperatorContext {
  /** Records a fault, at the operator's value or at `at` inside of it. The filter that it returns is not used. */
  refuse: (fault: Unplaced, at?: readonly number[]) => Filter;
  /** Reads an operand that is no value, at the operator's value or at `at` inside of it; undefined for a value, or after a fault that it records. */
  referenceIn: (value: unknown, at?: readonly number[]) => OperandReference | 'refused' | undefined;
  /** The most values of a list. */
  inValues: number;
}

export type Operator = (tested: TestedField, context: OperatorContext) => Filter;

const isScalarType = (type: FieldType | 'time'): type is ScalarType | 'any' =>
  typeof type === 'string' && type !== 'object' && type !== 'time';

const negation =
  (operator: Operator): Operator =>
  (operand, context) =>
    not(operator(operand, context));

/** Objects and arrays are compared with null alone. */
function equality({ field, type, value, ...texts }: TestedField, at: readonly number[], context: OperatorContext): Filter | TypedValue {
  const { refuse, referenceIn } = context;
  if (value === null) return { kind: 'null', field };
  if (!isScalarType(type)) return refuse(notFilterable(type), at);
  const reference = referenceIn(value, at);
  if (reference) return compareWith(reference, { field, type, operator: '=' }, (fault) => refuse(fault, at));
  const read = readValue(type, value, texts);
  return 'code' in read ? refuse(read, at) : read;
}

const equal: Operator = (tested, context) => {
  const equals = equality(tested, [], context);
  return 'kind' in equals ? equals : comparisonWith(tested.field, '=', equals);
};

const isOneOf: Operator = (tested, context) => {
  const { field, type, value: values } = tested;
  const { refuse, referenceIn, inValues } = context;
  const reference = referenceIn(values);
  if (reference) return isInList(reference, { field, type }, refuse);
  if (!Array.isArray(values)) return refuse({ code: 'invalid-type', values: { allowed: 'array' } });
  if (values.length > inValues) return refuse({ code: 'invalid-value', values: { maximum: inValues } });
  const tests = values.map((value: unknown, index) => equality({ ...tested, value }, [index], context));
  const lists = equalsOneOf(
    field,
    tests.flatMap((test) => ('kind' in test ? [] : [test])),
  );
  const others = tests.flatMap((test) => ('kind' in test ? [test] : []));
  const isNull = others.some(({ kind }) => kind === 'null');
  return any([...lists, ...others.filter(({ kind }) => kind !== 'null'), ...(isNull ? [{ kind: 'null', field } as const] : [])]);
};

function isInList(
  reference: OperandReference | 'refused',
  { field, type }: Pick<TestedField, 'field' | 'type'>,
  refuse: OperatorContext['refuse'],
) {
  if (reference === 'refused') return refused;
  const { operand, type: list } = reference;
  if (operand.kind !== 'variable' || typeof list === 'string') return refuse({ code: 'invalid-type', values: { allowed: 'array' } });
  if (!isScalarType(type)) return refuse(notFilterable(type));
  const compared = comparedType(type, list.items);
  if (!compared || compared === 'any' || list.items === 'any') return refuse(wrongType(type));
  return { kind: 'in-list', field, type: compared, operand: { ...operand, type: list.items } } as const;
}

const ordered =
  (operator: Exclude<ComparisonOperator, '='>): Operator =>
  ({ field, type, value }, { refuse, referenceIn }) => {
    if (!isScalarType(type) || !isOrdered(type)) return refuse(notFilterable(type));
    if (type === 'any' && typeof value === 'boolean') return refuse({ code: 'invalid-type', values: { allowed: 'string, number' } });
    const reference = referenceIn(value);
    if (reference) return compareWith(reference, { field, type, operator }, refuse);
    const read = readValue(type, value);
    return 'code' in read ? refuse(read) : comparisonWith(field, operator, read);
  };

/** The comparison with an operand that is no value. Two fields without a type are compared if their values have one JSON type. */
function compareWith(
  reference: OperandReference | 'refused',
  { field, type, operator }: Pick<TestedField, 'field'> & { type: ScalarType | 'any'; operator: ComparisonOperator },
  refuse: OperatorContext['refuse'],
): Filter {
  if (reference === 'refused') return refused;
  const { operand, type: operandType } = reference;
  const compared = comparedType(type, operandType);
  if (!compared || (operator !== '=' && !isOrdered(compared))) return refuse(wrongType(type));
  const compare = (by: ScalarType): Test => {
    const own = operandType === 'any' || operandType === 'time' ? by : (operandType as ScalarType);
    const typed: Operand = operand.kind === 'clock' ? operand : { ...operand, type: own };
    return { kind: 'compare', field, type: by, operator, operand: typed };
  };
  if (compared !== 'any') return compare(compared);
  return any([compare('string'), compare('number'), ...(operator === '=' ? [compare('boolean')] : [])]);
}

const wrongType = (type: FieldType): Unplaced => ({ code: 'invalid-type', values: { allowed: typeName(type) } });

/** The name of the type in a fault. */
export const typeName = (type: FieldType): string => (typeof type !== 'string' ? 'array' : type === 'instant' ? 'date-time' : type);

/** Stands for the filter of an operator with a fault. */
const refused: Filter = { kind: 'all', of: [] };

/** The type by which parts of the texts of a field are compared; undefined for one without texts. */
const textTypeOf = (type: FieldType): 'string' | 'folded' | undefined =>
  type === 'any' ? 'string' : type === 'string' || type === 'folded' ? type : undefined;

const prefix: Operator = ({ field, type, value, ...texts }, { refuse, referenceIn }) => {
  const textType = textTypeOf(type);
  if (!textType) return refuse(notFilterable(type));
  const reference = referenceIn(value);
  if (reference) return withVariable(reference, textType, refuse, (operand) => ({ kind: 'prefix', field, type: textType, operand }));
  const read = readValue(textType, value, texts);
  return 'code' in read ? refuse(read) : { kind: 'prefix', field, type: textType, operand: constantOperand(String(read.value)) };
};

/** A part of a text or an item of an array; of a field without a declared type either of the two. */
const contains: Operator = ({ field, type, value, ...texts }, { refuse, referenceIn }) => {
  const isText = type === 'string' || type === 'folded';
  if (!isText && type !== 'any' && !isArrayComparedAsText(type)) return refuse(notFilterable(type));
  const textType = textTypeOf(type);
  const itemType = typeof type === 'string' ? type : type.items;
  const parts = (operand: { kind: 'value'; value: TypedValue['value'] } | Variable, isTextual: boolean): Filter => {
    const part: Test[] = isTextual && textType ? [{ kind: 'substring', field, type: textType, operand }] : [];
    return any(isText ? part : [...part, { kind: 'member', field, operand }]);
  };
  const reference = referenceIn(value);
  if (reference) return withVariable(reference, itemType, refuse, (operand) => parts(operand, ['string', 'enum'].includes(operand.type)));
  if (value === null && !isText) return { kind: 'member', field, operand: constantOperand(value) };
  const read = readValue(itemType, value, texts);
  return 'code' in read ? refuse(read) : parts(constantOperand(read.value), typeof read.value === 'string');
};

/** The test with a variable whose values are written as those of the type; other operands have no such test. */
function withVariable(
  reference: OperandReference | 'refused',
  type: ScalarType | 'any',
  refuse: OperatorContext['refuse'],
  test: (operand: Variable) => Filter,
): Filter {
  if (reference === 'refused') return refused;
  const { operand, type: own } = reference;
  const isFit = operand.kind === 'variable' && isScalarType(own) && own !== 'any' && comparedType(type, own) !== undefined;
  // Equal decimals and instants can be written in more than one way.
  if (!isFit || ['decimal', 'date-time', 'instant'].includes(own)) return refuse(wrongType(type));
  return test({ ...operand, type: own });
}

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
