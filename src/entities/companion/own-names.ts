/**
 * The only form that names of companion tables, their columns, indexes and constraints can have. The application role writes layouts, and the owner's commands
 * change and drop what they name (rule 126).
 */
import type { Companion } from './layout.ts';

/**
 * Returns the stored layout. `id` is that of the declared type. Throws an Error if the layout names anything but what belongs to the companion table of this type,
 * so that no command touches another table.
 */
export function ownCompanion<C extends Companion | null>(companion: C, id: number): C {
  if (!companion) return companion;
  const { table, columns, indexes, uniques, substrings, references, complete } = companion;
  const isOwn = (pattern: string, names: readonly string[]) => names.every((name) => new RegExp(`^${pattern}$`).test(name));
  const namesOf = (named: readonly { name: string }[]) => named.map(({ name }) => name);
  const inColumns = [
    ...indexes.flatMap((index) => index.columns.map(({ name }) => name)),
    ...uniques.flatMap((unique) => unique.columns),
    ...[...substrings, ...references].map(({ column }) => column),
  ];
  const own =
    table === `x${id}` &&
    isOwn('c[0-9]+', [...namesOf(columns), ...inColumns]) &&
    isOwn(`${table}_[a-z][0-9]+`, [indexes, uniques, substrings, references].flatMap(namesOf));
  if (!own)
    throw new Error(`the layout of the entity type ${id} in entity_type_revision names tables, columns or indexes of others: correct it`);
  if (complete) ownCompanion(complete, id);
  return companion;
}
