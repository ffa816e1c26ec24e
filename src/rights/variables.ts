/** The variables of a caller: what filters and rules compare with fields (docs/filters.md). */
import type { Variables, VariableType } from '../filter/variables.ts';
import type { AttributeType, CallerTypes, CallerValues } from './attribute-types.ts';
import type { Principal } from './principal.ts';

interface VariableEntry {
  type: VariableType;
  /** Undefined if the caller lacks it. */
  value: ReturnType<Variables['valueOf']>;
}

/** The declared types, and the values that the caller has. */
export interface DeclaredVariables {
  types: CallerTypes;
  values: CallerValues;
}

const none: DeclaredVariables = {
  types: { user: new Map(), profile: new Map(), claims: new Map() },
  values: { user: {}, profile: {}, claims: {} },
};

const owners = ['user', 'profile', 'claims'] as const;

/** The variables that the caller may name, with its values: the names, and what `declared` has. */
export function variablesOf(
  { user, profile, timeZone }: Pick<Principal, 'user' | 'profile' | 'timeZone'>,
  { types, values }: DeclaredVariables = none,
): Variables {
  const entries = new Map<string, VariableEntry>([
    ['user.name', { type: 'string', value: user.name }],
    ['profile.name', { type: 'string', value: profile?.name }],
  ]);
  for (const owner of owners)
    for (const [name, type] of types[owner])
      entries.set(`${owner}.${name}`, { type: variableType(type), value: values[owner][name] as VariableEntry['value'] });
  return {
    names: [...entries.keys()],
    typeOf: (name) => entries.get(name)?.type,
    valueOf: (name) => entries.get(name)?.value,
    timeZone: timeZone ?? 'UTC',
  };
}

const variableType = ({ scalar, isList }: AttributeType): VariableType => (isList ? { items: scalar } : scalar);
