/** The top-level fields that a grant names. */

export interface FieldSet {
  /** Whether it has the fields that it does not name: all, those that are not sensitive, or none. */
  others: 'all' | 'plain' | 'none';
  /** The named fields, and whether it has them. */
  named: ReadonlyMap<string, boolean>;
}

/** A name that no field has, since JSON with it is refused. It stands for the fields that grants and types do not name. */
export const otherFields = '\0';

export const allFields: FieldSet = { others: 'plain', named: new Map() };
export const noFields: FieldSet = { others: 'none', named: new Map() };

/** The set of a list: `*` stands for the fields that are not sensitive, `**` for all, and `-name` takes one out. */
export function readFieldSet(list: readonly string[]): FieldSet {
  const others = list.includes('**') ? 'all' : list.includes('*') ? 'plain' : 'none';
  const names = list.filter((entry) => !/^\*+$/.test(entry));
  return { others, named: new Map(names.map((entry) => (entry.startsWith('-') ? [entry.slice(1), false] : [entry, true]))) };
}

/** Whether the set has the field. `sensitive` are the fields that the type calls so with `x-sensitive`. */
export function hasField({ others, named }: FieldSet, name: string, sensitive: ReadonlySet<string>): boolean {
  return named.get(name) ?? (others === 'all' || (others === 'plain' && !sensitive.has(name)));
}
