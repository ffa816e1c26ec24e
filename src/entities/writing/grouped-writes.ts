/**
 * Creates and updates of several requests in one statement each. A row goes in as JSON, with the fields or the patch of the request spliced in
 * as they came.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Companion } from '../companion/layout.ts';
import { inputColumns, inputNames, insertRows, updateRows, writtenWith } from '../companion/rows.ts';
import { prepareGrouped } from '../../database/driver/write-group.ts';
import { coverageInput, rowsCovered, type Coverage } from '../../rights/coverage.ts';
import type { StatementVariant } from '../covered-statements.ts';
import { changeColumns, entityChanged, formerFields, typedChangeColumns } from './changed.ts';
import { areLight } from '../size-classes.ts';
import { columnList, type EntityRow } from '../row.ts';
import { areSameFields, isSameMerged } from './same-fields.ts';
import { isWithin, storeMerged } from './statements.ts';
import { typeIsCurrent } from '../type-revision.ts';

const inputIsOfCurrentType = typeIsCurrent(sql.ref('input.name'), sql.ref('input.typeRevision'));

const writtenRows = sql`written join input using (n)`;

/** Each changed row with the request that changed it: `n` is the number of the row that came in for it. */
const rowsOfRequests = {
  value: (name: string) => sql.ref(name),
  rows: writtenRows,
  returning: sql`n, ${columnList}`,
};

/** Further columns of a grouped statement's input, `typed` for `jsonb_to_recordset`, and their names. */
interface InputColumns {
  names: RawBuilder<unknown>;
  typed: RawBuilder<unknown>;
}

/** The columns of the callers and, if there is a companion table, of the values of its rows. */
function inputOf(companion: Companion | null): InputColumns {
  if (!companion) return { names: changeColumns, typed: typedChangeColumns };
  return {
    names: sql.join([changeColumns, ...inputNames(companion)]),
    typed: sql.join([typedChangeColumns, ...inputColumns(companion)]),
  };
}

/**
 * Inserts several entities of names with this companion table, or of all names without one. The key is drawn before the row is written, because it tells
 * afterwards which row came of which request. Leaves out rows whose type has changed.
 */
export const prepareInsertMany = ({ companion, variant }: StatementVariant) => {
  const input = inputOf(companion);
  return prepareGrouped<EntityRow>(
    'entity.insert-many',
    (rows) =>
      entityChanged({
        event: 'entity.created',
        steps: sql`
      input as materialized (
        select coalesce(given, nextval('entity_key_seq')) as key, *
        from rows from (jsonb_to_recordset(${rows}::jsonb) as (name text, given bigint, fields jsonb, ${input.typed}))
          with ordinality as input (name, given, fields, ${input.names}, n)
      ), inserted as (
        insert into entity (name, key, fields, created_by, updated_by) overriding system value
        select name, key, fields, "userName", "userName" from input
        where ${inputIsOfCurrentType}
        returning entity.*
      )`,
        written: sql`select n, inserted.* from inserted join input using (key)`,
        companion: companion ? insertRows(companion, writtenWith(companion, writtenRows)) : undefined,
        ...rowsOfRequests,
      }),
    variant,
  );
};

/** SQL: whether the update of an input row leaves the row of `entity` as it is. */
const isUnchanged = sql<boolean>`(case when input.merged is null then ${isSameMerged(sql`entity.fields`, sql`input.patch`)}
  else ${areSameFields(sql`entity.fields`, sql`input.merged`)} end)`;

/** SQL: whether the row of `entity` is the one that an input row updates. */
const isUpdatedBy = (
  coverage: Coverage,
) => sql<boolean>`${rowsCovered(coverage, (name) => sql.ref(`input.${name}`))} and entity.key = input.key
  and (input.versions is null or entity.version = any(input.versions)) and ${areLight(sql`entity.fields`)}`;

/**
 * Updates several entities likewise, each by a patch, or by the fields that a preview has made of it. Leaves out rows that another
 * transaction is changing, heavy rows, and rows whose type has changed. Of requests that change the same row it leaves out all but one. A row that
 * stays as it is, it returns without a lock and a write (decision 220).
 */
export const prepareUpdateMany = ({ companion, rights: { coverage }, variant }: StatementVariant) => {
  const isUpdated = isUpdatedBy(coverage);
  const caller = coverageInput(coverage);
  const input = inputOf(companion);
  const [kept, typedKept] = companion ? [sql`kept,`, sql`kept text[],`] : [sql``, sql``];
  return prepareGrouped<EntityRow>(
    'entity.update-many',
    (rows) =>
      entityChanged({
        event: 'entity.updated',
        former: { fields: sql.ref('former'), candidates: sql`coalesce(patch, former || input.merged)` },
        // The lateral join takes the rows one by one from the index: the planner cannot estimate that there are few.
        steps: sql`
      input as materialized (
        select *
        from rows from (jsonb_to_recordset(${rows}::jsonb)
          as (name text, key bigint, ${caller.typed}, versions bigint[], patch jsonb, merged jsonb, "limit" int, ${typedKept} ${input.typed}))
          with ordinality as input (name, key, ${caller.names}, versions, patch, merged, "limit", ${kept} ${input.names}, n)
      ), merged as materialized (
        select n, found.*, "limit", "userName" from input cross join lateral (
          select entity.name, entity.key, coalesce(input.merged, json_merge_patch(entity.fields, patch)) as fields,
            ${formerFields('entity')} as former from entity
          where ${isUpdated} and not ${isUnchanged}
          for no key update skip locked
        ) as found
        where ${inputIsOfCurrentType}
      )`,
        // Always true, since a statement has at most 64 rows. The planner then estimates few rows and uses the index.
        written: sql`${storeMerged(sql.ref('merged.userName'), sql.ref('merged.limit'))} and merged.n between 1 and 1000
          returning n, entity.*, merged.former`,
        // First the few rows without a change are found, so that no other row is looked up twice.
        unchanged: sql`
          select n, found.* from (select * from input where n not in (select n from merged) and ${inputIsOfCurrentType} offset 0) as input
          cross join lateral (
            select entity.* from entity where ${isUpdated} and ${isUnchanged} and ${isWithin(sql`entity.fields`, sql.ref('input.limit'))} offset 0
          ) as found`,
        companion: companion ? updateRows(companion, writtenWith(companion, writtenRows, sql.ref('kept'))) : undefined,
        ...rowsOfRequests,
      }),
    variant,
  );
};

/**
 * The input row of one request: the values by name, and JSON text under `member`. There must be at least one value. `text` must be one JSON
 * value that `json/json.ts` has accepted or PostgreSQL has written: so it can neither end its row nor begin another.
 */
export function rowOf(values: object, member: 'fields' | 'patch' | 'merged', text: string): string {
  return `${JSON.stringify(values).slice(0, -1)},"${member}":${text}}`;
}
