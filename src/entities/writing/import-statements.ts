/** The statements of imports that find and replace several entities by their keys or a unique rule. */
import { sql, type RawBuilder } from 'kysely';
import { inputType, storedValue } from '../companion/columns.ts';
import type { Companion, CompanionColumn, CompanionUnique } from '../companion/layout.ts';
import { inputColumns, inputNames, updateRows, writtenWith } from '../companion/rows.ts';
import { inSchema } from '../companion/table.ts';
import { prepareGrouped } from '../../database/driver/write-group.ts';
import { coverageInput, rowsCovered, rowsOfPermit } from '../../rights/coverage.ts';
import type { Permit } from '../../rights/permit.ts';
import { changeColumns, entityChanged, formerFields, typedChangeColumns } from './changed.ts';
import { valuesAt } from './references.ts';
import { areSameFields } from './same-fields.ts';
import { storeMerged } from './statements.ts';
import { showsUnique } from './upsert-statements.ts';
import type { StatementVariant } from '../covered-statements.ts';
import { hashOf } from './conflict-statements.ts';
import { typeIsCurrent } from '../type-revision.ts';

/**
 * How a row changes an entity that exists. `update`: its members replace those of the entity, objects merge, null is stored, and fields that the row has as empty cells
 * are removed. `replace`: it has all fields of the entity. `merge`: it is merged into them as a patch (RFC 7396).
 */
export type ImportMode = 'update' | 'replace' | 'merge';

/** By what a row finds its entity. */
export type ImportRule = { kind: 'key' } | { kind: 'unique'; companion: Companion; unique: CompanionUnique };

/** Bytes of merged fields that one statement returns, beside those of its first row. */
const maximumMergedBytes = 8_388_608;

/** The entity of an input row. */
export interface MatchedEntity {
  /** The number of the input row, from 1. */
  n: string;
  /** Of the values of the rule, as PostgreSQL compares them; null if the row lacks one. */
  hash: string | null;
  /** Null for a row without an entity. */
  key: string | null;
  /** Null for an entity that the permit does not cover. */
  version: string | null;
  isUnchanged: boolean | null;
  /** The fields as they are to be, JSON text; for a permit without rules null if nothing changes, and with `replace`. */
  merged: string | null;
  /** How many members outside of arrays the entity has and would no longer have; null if nothing changes. */
  removed: number | null;
  /** The values at the paths, as JSON texts; null for a row without an entity that is covered. */
  present: (string | null)[] | null;
  /** Whether `merged` is null because other rows of the statement have too many bytes. */
  isDeferred: boolean;
}

export interface MatchRequest {
  permit: Permit<'update'>;
  mode: ImportMode;
  /** A JSON array. */
  rows: string;
  /** JSON text of the paths to references. */
  paths: string;
}

/** SQL: for each row of `rows` the entity that belongs to it by the rule. */
export function matchEntities(rule: ImportRule, { permit, mode, rows, paths }: MatchRequest): RawBuilder<MatchedEntity> {
  const { typed, names, hash, found } = rule.kind === 'key' ? byKey() : byUnique(rule);
  const isReplaced = mode === 'replace' && !permit.change;
  // Hidden fields that the row does not name stay as they are.
  const wanted = mode === 'replace' && permit.change ? sql`${permit.change.hiddenOfCaller('entity')} || input.fields` : wantedFields[mode];
  const changed = sql`case when not entity."isUnchanged" then entity.wanted::text end`;
  // With hidden fields an unchanged entity gets a version too (rule 180).
  const merged = permit.change ? sql`entity.wanted::text` : isReplaced ? sql`null::text` : changed;
  // The lateral joins take the rows one by one from the indexes: the planner cannot estimate that there are few.
  return sql<MatchedEntity>`
    select n, hash, key, version, "isUnchanged", removed, present, coalesce(before > ${sql.lit(maximumMergedBytes)}, false) as "isDeferred",
      case when coalesce(before, 0) <= ${sql.lit(maximumMergedBytes)} then merged end as merged
    from (
      select *, sum(octet_length(merged)) over (order by n) - octet_length(merged) as before
      from (
        select input.n, ${hash} as hash, found.key, entity.version, entity."isUnchanged", entity.present,
          ${merged} as merged,
          case when not entity."isUnchanged" then json_count_removed(entity.fields, entity.wanted) end as removed
        from rows from (jsonb_to_recordset(${rows}::jsonb) as (fields jsonb, emptied jsonb, ${typed}))
          with ordinality as input (fields, emptied, ${names}, n)
        left join lateral (${found} offset 0) as found on true
        left join lateral (
          select version, fields, wanted, ${areSameFields(sql`present.fields`, sql`wanted`)} as "isUnchanged",
            ${valuesAt(sql`present.fields`, sql`${paths}`)} as present from (
            select entity.version, entity.fields, ${wanted} as wanted from entity
            where ${rowsOfPermit(permit)} and entity.key = found.key ${rule.kind === 'key' ? sql`` : showsUnique(rule.companion, rule.unique, permit)} offset 0
          ) as present offset 0
        ) as entity on true
      ) as matched
    ) as counted`;
}

const wantedFields: Readonly<Record<ImportMode, RawBuilder<unknown>>> = {
  update: sql`json_without(json_merge_members(entity.fields, input.fields), coalesce(input.emptied, '{}'))`,
  replace: sql`input.fields`,
  merge: sql`json_merge_patch(entity.fields, input.fields)`,
};

interface MatchParts {
  typed: RawBuilder<unknown>;
  names: RawBuilder<unknown>;
  hash: RawBuilder<unknown>;
  found: RawBuilder<unknown>;
}

const byKey = (): MatchParts => ({
  typed: sql`key bigint`,
  names: sql.ref('key'),
  hash: hashOf({ name: '0' }, [sql.ref('input.key')]),
  found: sql`select input.key where input.key is not null`,
});

function byUnique({ companion, unique }: Extract<ImportRule, { kind: 'unique' }>): MatchParts {
  const columns = companion.columns.filter(({ name }) => unique.columns.includes(name));
  const stored = (column: CompanionColumn) => storedValue(column, sql`input.${sql.ref(column.name)}`);
  const inOrder = unique.columns.flatMap((name) => columns.filter((column) => column.name === name));
  const tests = columns.map((column) => sql`x.${sql.ref(column.name)} = ${stored(column)}`);
  return {
    typed: sql.join(columns.map((column) => sql`${sql.ref(column.name)} ${inputType(column)}`)),
    names: sql.join(columns.map(({ name }) => sql.ref(name))),
    hash: hashOf(unique, inOrder.map(stored)),
    found: sql`select x.key from ${inSchema(companion.table)} as x where ${sql.join(tests, sql` and `)}`,
  };
}

/**
 * Gives several entities new fields. Leaves out those that are not covered, that have another version than the one that was looked at, and all if the type
 * has changed.
 */
export const prepareReplaceMany = ({ companion, rights: { coverage }, variant }: StatementVariant) => {
  const names = sql.join([changeColumns, ...(companion ? inputNames(companion) : [])]);
  const typed = sql.join([typedChangeColumns, ...(companion ? inputColumns(companion) : [])]);
  const rows = sql`written join input using (n)`;
  const caller = coverageInput(coverage);
  return prepareGrouped<object>(
    'entity.replace-many',
    (values) =>
      entityChanged({
        event: 'entity.updated',
        former: { fields: sql.ref('former'), candidates: sql`(former || written.fields)` },
        steps: sql`
      input as materialized (
        select *
        from rows from (jsonb_to_recordset(${values}::jsonb)
          as (name text, key bigint, ${caller.typed}, version bigint, fields jsonb, "limit" int, ${typed}))
          with ordinality as input (name, key, ${caller.names}, version, fields, "limit", ${names}, n)
      ), merged as materialized (
        select n, found.*, "limit", "userName" from input cross join lateral (
          select entity.name, entity.key, input.fields, ${formerFields('entity')} as former from entity
          where ${rowsCovered(coverage, (name) => sql.ref(`input.${name}`))} and entity.key = input.key and entity.version = input.version
          for no key update
        ) as found
        where ${typeIsCurrent(sql.ref('input.name'), sql.ref('input.typeRevision'))}
      )`,
        // Always true, so that the planner estimates few rows.
        written: sql`${storeMerged(sql.ref('merged.userName'), sql.ref('merged.limit'))} and merged.n between 1 and 1000
          returning n, entity.*, merged.former`,
        value: (name) => sql.ref(name),
        rows,
        companion: companion ? updateRows(companion, writtenWith(companion, rows)) : undefined,
        returning: sql`n`,
      }),
    variant,
  );
};
