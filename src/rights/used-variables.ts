/** The variables that rules name, such as `user.regions`. */
import { isObject } from './file-faults.ts';
import { singleGrants, type RightsDocuments } from './documents.ts';

/** The variables of one rule. A value of a filter that is an object with `$var` is always a variable. */
export function variablesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(variablesIn);
  if (!isObject(value)) return [];
  const { $var: name } = value;
  return typeof name === 'string' ? [name] : Object.values(value).flatMap(variablesIn);
}

/** The roles, or those of them called `names`, that have a rule with the variable. */
export function rolesThatUse(
  variable: string,
  { roles }: Pick<RightsDocuments, 'roles'>,
  names: readonly string[] = [...roles.keys()],
): string[] {
  return names.filter((name) =>
    singleGrants(roles.get(name) ?? { description: '', grants: [] }).some(({ rule }) => variablesIn(rule).includes(variable)),
  );
}
