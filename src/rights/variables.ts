/** The variables of a caller: what filters and rules compare with fields (docs/filters.md). */
import type { Variables, VariableType } from '../filter/variables.ts';
import type { Principal } from './principal.ts';

interface Entry {
  type: VariableType;
  /** Undefined if the caller lacks it. */
  value: string | undefined;
}

/** The variables that the caller may name, with its values. */
export function variablesOf({ user, profile }: Pick<Principal, 'user' | 'profile'>): Variables {
  const entries = new Map<string, Entry>([
    ['user.name', { type: 'string', value: user.name }],
    ['profile.name', { type: 'string', value: profile?.name }],
  ]);
  return {
    names: [...entries.keys()],
    typeOf: (name) => entries.get(name)?.type,
    valueOf: (name) => entries.get(name)?.value,
    timeZone: 'UTC',
  };
}
