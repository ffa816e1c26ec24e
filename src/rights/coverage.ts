/**
 * The rows of the tables `entity`, `entity_change` and `entity_trash` that a permit covers, as one SQL condition. Every statement that reads, updates or deletes entities has it:
 * for one row, for a group of rows, or for all rows of a name (rule 64).
 */
import { sql, type RawBuilder } from 'kysely';
import type { Action } from './vocabulary.ts';
import type { Permit } from './permit.ts';

/** The values with which {@link rowsCovered} compares rows. */
export interface PermitValues {
  /** The name of the entities. */
  name: string;
  /** The user whose rows alone are covered; null for the rows of all users. */
  owner: string | null;
}

/** The values of `permit`: for a prepared statement, or for one row of a grouped statement. */
export function permitValues({ entity, userName, ownOnly }: Permit<Action>): PermitValues {
  return { name: entity, owner: ownOnly ? userName : null };
}

/**
 * SQL: whether the permit covers the row of `table`, which has that name in the statement. `value` gives the expression of each value of the
 * permit: its place in a prepared statement, or the column of a grouped statement that it came in.
 */
export function rowsCovered(
  value: (name: keyof PermitValues) => RawBuilder<unknown>,
  table: 'entity' | 'entity_change' | 'entity_trash' = 'entity',
): RawBuilder<boolean> {
  const row = sql.raw(table);
  return sql<boolean>`${row}.name = ${value('name')} and (${value('owner')}::text is null or ${row}.created_by = ${value('owner')})`;
}
