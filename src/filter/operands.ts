/** Reads operands that are no values: a variable, another field of the entity, or a time before or after that of the statement. */
import { expectedFormat, expectedOneOf } from '../problems/expected.ts';
import { readDuration } from './duration.ts';
import { envelopeTypes, isEnvelopeName, type FieldType, type FieldTypes, type ScalarType } from './fields.ts';
import type { Unplaced } from './parse.ts';
import { readField } from './sort.ts';
import type { Operand } from './syntax.ts';
import type { VariableTypes } from './variables.ts';

/** An operand with its type; `any` for a field without one. The time before the statement's has that of the field which is compared with it. */
export interface OperandReference {
  operand:
    | Exclude<Operand, { kind: 'value' | 'field' | 'variable' }>
    | { kind: 'field'; field: readonly string[] }
    | { kind: 'variable'; name: string };
  type: FieldType | 'time';
}

const operandNames = ['$var', '$field', '$ago'] as const;
type OperandName = (typeof operandNames)[number];

/** The member of an object that is an operand; undefined for any other value. */
export function operandName(value: unknown): OperandName | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  return others.length === 0 ? operandNames.find((each) => each === name) : undefined;
}

const clockVariables: Readonly<Record<string, ScalarType>> = { now: 'date-time', today: 'date' };

/** The operand that the member says. A fault is at the member. */
export function readOperand(name: OperandName, value: unknown, fields: FieldTypes, variables: VariableTypes): OperandReference | Unplaced {
  if (typeof value !== 'string') return { code: 'invalid-type', values: { allowed: 'string' } };
  switch (name) {
    case '$var': {
      const clock = Object.hasOwn(clockVariables, value) ? clockVariables[value] : undefined;
      if (clock) return { operand: { kind: 'clock', ago: undefined, zone: undefined }, type: clock };
      const type = variables.typeOf(value);
      if (type === undefined) return { code: 'unknown-variable', ...expectedOneOf([...variables.names, ...Object.keys(clockVariables)]) };
      return { operand: { kind: 'variable', name: value }, type };
    }
    case '$field': {
      if (isEnvelopeName(value)) return { operand: { kind: 'field', field: [value] }, type: envelopeTypes[value] };
      const found = readField(value, fields);
      return 'code' in found ? found : { operand: { kind: 'field', field: found.field }, type: found.type };
    }
    case '$ago': {
      const ago = readDuration(value);
      if (!ago) return { code: 'invalid-value', expected: expectedFormat('duration', true) };
      return { operand: { kind: 'clock', ago, zone: undefined }, type: 'time' };
    }
  }
}

const texts: readonly unknown[] = ['string', 'enum'];
const instants: readonly unknown[] = ['date-time', 'instant'];

/**
 * The type by which a field of the type is compared with an operand of the other; `any` if neither has one, undefined if they do not fit. A field without a type
 * is compared by that of the operand.
 */
export function comparedType(field: FieldType, operand: FieldType | 'time'): ScalarType | 'any' | undefined {
  if (typeof field !== 'string' || typeof operand !== 'string' || field === 'object' || operand === 'object') return undefined;
  if (field === 'folded' || operand === 'folded') return undefined;
  if (field === 'any') return operand === 'time' || operand === 'date-time' ? 'instant' : operand;
  if (operand === 'time') return instants.includes(field) || field === 'date' ? field : undefined;
  const isSame = [texts, instants].some((group) => group.includes(field) && group.includes(operand));
  return field === operand || operand === 'any' || isSame ? field : undefined;
}
