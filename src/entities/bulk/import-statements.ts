/** The statements of imports that find and replace several entities by a unique rule. */
import { sql, type RawBuilder } from 'kysely';
import { inputType, storedValue } from '../../companion/columns.ts';
import type { Companion, CompanionUnique } from '../../companion/layout.ts';
import { inputColumns, inputNames, updateRows, writtenWith } from '../../companion/rows.ts';
import { inSchema } from '../../companion/table.ts';
import { prepareGrouped } from '../../database/driver/write-group.ts';
import { rowsCovered, type PermitValues } from '../../rights/row-predicate.ts';
import { changeColumns, entityChanged, typedChangeColumns } from '../changed.ts';
import { valuesAt } from '../references.ts';
import { areSameFields } from '../same-fields.ts';
import { storeMerged } from '../statements.ts';
import { typeIsCurrent } from '../type-guard.ts';

/** How a row changes an entity that exists: it has all fields of the entity, or is merged into them as an update is. */
export type ImportMode = 'replace' | 'merge';

/** The entity of an input row. */
export interface MatchedEntity {
  /** The number of the input row, from 1. */
  n: string;
  key: string;
  /** Null for an entity that the permit does not cover. */
  version: string | null;
  isUnchanged: boolean | null;
  /** The fields as they are to be, JSON text; null if nothing changes, and with `replace`. */
  merged: string | null;
  /** The values at the paths, as JSON texts; null for an entity that is not covered. */
  present: (string | null)[] | null;
}

interface MatchRequest {
  permit: PermitValues;
  mode: ImportMode;
  /** A JSON array. */
  rows: string;
  /** JSON text of the paths to references. */
  paths: string;
}

/** SQL: for each row of `rows` the entity whose companion row has the same values of the rule. No row where there is none. */
export function matchByUnique(
  companion: Companion,
  unique: CompanionUnique,
  { permit, mode, rows, paths }: MatchRequest,
): RawBuilder<MatchedEntity> {
  const columns = companion.columns.filter(({ name }) => unique.columns.includes(name));
  const typed = sql.join(columns.map((column) => sql`${sql.ref(column.name)} ${inputType(column)}`));
  const names = sql.join(columns.map(({ name }) => sql.ref(name)));
  const tests = columns.map((column) => sql`x.${sql.ref(column.name)} = ${storedValue(column, sql`input.${sql.ref(column.name)}`)}`);
  const wanted = mode === 'replace' ? sql`input.fields` : sql`json_merge_patch(entity.fields, input.fields)`;
  const merged = mode === 'replace' ? sql`null` : sql`case when not entity."isUnchanged" then entity.wanted::text end`;
  // The lateral joins take the rows one by one from the indexes: the planner cannot estimate that there are few.
  return sql<MatchedEntity>`
    select input.n, found.key, entity.version, entity."isUnchanged", ${merged} as merged, entity.present
    from rows from (jsonb_to_recordset(${rows}::jsonb) as (fields jsonb, ${typed})) with ordinality as input (fields, ${names}, n)
    cross join lateral (select x.key from ${inSchema(companion.table)} as x where ${sql.join(tests, sql` and `)} offset 0) as found
    left join lateral (
      select version, wanted, ${areSameFields(sql`present.fields`, sql`wanted`)} as "isUnchanged",
        ${valuesAt(sql`present.fields`, sql`${paths}`)} as present from (
        select entity.version, entity.fields, ${wanted} as wanted from entity
        where ${rowsCovered((name) => sql`${permit[name]}`)} and entity.key = found.key offset 0
      ) as present offset 0
    ) as entity on true`;
}

/**
 * Gives several entities new fields. Leaves out those that are not covered, that have another version than the one that was looked at, and all if the type
 * has changed.
 */
export const prepareReplaceMany = (companion: Companion | null, variant?: string) => {
  const names = sql.join([changeColumns, ...(companion ? inputNames(companion) : [])]);
  const typed = sql.join([typedChangeColumns, ...(companion ? inputColumns(companion) : [])]);
  const rows = sql`written join input using (n)`;
  return prepareGrouped<object>(
    'entity.replace-many',
    (values) =>
      entityChanged({
        event: 'entity.updated',
        steps: sql`
      input as materialized (
        select *
        from rows from (jsonb_to_recordset(${values}::jsonb)
          as (name text, key bigint, owner text, version bigint, fields jsonb, "limit" int, ${typed}))
          with ordinality as input (name, key, owner, version, fields, "limit", ${names}, n)
      ), merged as materialized (
        select n, found.*, "limit", "userName" from input cross join lateral (
          select entity.name, entity.key, input.fields from entity
          where ${rowsCovered((name) => sql.ref(`input.${name}`))} and entity.key = input.key and entity.version = input.version
          for no key update
        ) as found
        where ${typeIsCurrent(sql.ref('input.name'), sql.ref('input.typeRevision'))}
      )`,
        // Always true, so that the planner estimates few rows.
        written: sql`${storeMerged(sql.ref('merged.userName'), sql.ref('merged.limit'))} and merged.n between 1 and 1000 returning n, entity.*`,
        value: (name) => sql.ref(name),
        rows,
        companion: companion ? updateRows(companion, writtenWith(companion, rows)) : undefined,
        returning: sql`n`,
      }),
    variant,
  );
};
