/**
 * The statements on the table `entity` that serve one request. Those that serve several are in `grouped-writes.ts`. Fields travel as JSON
 * text and are never parsed.
 */
import { sql, type RawBuilder } from 'kysely';
import { builder, prepare, type ValueOf } from '../../database/driver/prepared.ts';
import {
  coverageInput,
  digestOf,
  permitValues,
  rowsCovered,
  type Coverage,
  type CoveredRows,
  type PermitValues,
} from '../../rights/coverage.ts';
import { prepareCovered, type StatementVariant } from '../covered-statements.ts';
import { deleteRow, insertRows, updateRows, writtenWithValues } from '../companion/rows.ts';
import { entityChanged, formerFields, type ChangeValues } from './changed.ts';
import { rowAt, type Place } from '../find-entity.ts';
import { moveToTrash, trashedAt } from '../trash.ts';
import { columnList, type EntityRow } from '../row.ts';
import { areSameFields, isSameMerged } from './same-fields.ts';
import { typeIsCurrent } from '../type-revision.ts';

const changeIsOfCurrentType = (value: ValueOf<PermitValues & ChangeValues>) => typeIsCurrent(value('name'), value('typeRevision'));

/** The values of a companion row, as JSON text. */
export interface CompanionText {
  companion: string;
}

/** Versions the caller accepts; null accepts any. */
export type Versions = string[] | null;

export interface GuardedPlace extends Place, ChangeValues {
  versions: Versions;
}

/** The row at the place, if its version is an accepted one and the type has not changed. Throws an Error for a rule that has to be tested before the lock (rule 179). */
function guardedRowAt(value: ValueOf<GuardedPlace>, coverage: Coverage): RawBuilder<boolean> {
  if (coverage.kind === 'rule' && coverage.readsOthers) throw new Error('a rule that reads other entities is tested before the lock');
  return sql<boolean>`${rowAt(value, coverage)} and (${value('versions')}::bigint[] is null or entity.version = any(${value('versions')}))
    and ${changeIsOfCurrentType(value)}`;
}

/** Locks the row until the end of the transaction. */
export const lockOne = prepareCovered<GuardedPlace, { key: string }>('entity.lock', (value, { coverage }) =>
  builder.selectFrom('entity').where(guardedRowAt(value, coverage)).select('key').forUpdate().compile(),
);

/**
 * SQL: locks those of the rows that their permits cover until the end of the transaction, in the order of their names and keys. Transactions that lock several
 * rows so, before they change one, never wait for each other in a circle.
 */
export const lockInOrder = (places: readonly (CoveredRows & { key: string })[]) => {
  const rows = places.map(({ key, ...covered }) => ({ ...permitValues(covered), key, digest: digestOf(covered.coverage) }));
  const coverages = new Map(places.map(({ coverage }) => [digestOf(coverage), coverage]));
  const [[, only] = [], ...others] = coverages;
  const covered = (coverage: Coverage) => rowsCovered(coverage, (name) => sql.ref(`input.${name}`));
  const each = [...coverages].map(([digest, coverage]) => sql`(input.digest = ${digest} and ${covered(coverage)})`);
  const isCovered = only && others.length === 0 ? covered(only) : sql`(${sql.join(each, sql` or `)})`;
  const { typed } = coverageInput(...coverages.values());
  const columns = others.length === 0 ? typed : sql`${typed}, digest text`;
  const input = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as input (name text, key bigint, ${columns})`;
  return sql`
    select from entity join ${input} on ${isCovered} and entity.key = input.key
    order by entity.name, entity.key for update of entity`;
};

/** SQL: the time of a change. `now()` is the start of its transaction, which may be before that of the change before it. */
export const noEarlierThan = (before: RawBuilder<unknown>) => sql`greatest(now(), ${before})`;

/**
 * SQL: stores the `fields` of each row of `merged` as its next version, unless they have more than `limit` bytes as JSON text. The
 * statement must have locked these rows in `entity`.
 */
export const storeMerged = (userName: RawBuilder<unknown>, limit: RawBuilder<unknown>) => sql`
  update entity set fields = merged.fields, version = version + 1, updated_at = ${noEarlierThan(sql`entity.updated_at`)}, updated_by = ${userName}
  from merged
  where entity.name = merged.name and entity.key = merged.key and ${isWithin(sql`merged.fields`, limit)}`;

/** SQL: whether fields have at most `limit` bytes as JSON text. */
export const isWithin = (fields: RawBuilder<unknown>, limit: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`octet_length(${fields}::text) <= ${limit}`;

type OneChange = GuardedPlace & CompanionText & { patch: string; limit: number };

/** SQL of a change of one entity: its fields afterwards, the members that may change, and whether the fields are the same. */
interface OneMerge {
  fields: (patch: RawBuilder<unknown>) => RawBuilder<unknown>;
  candidates: (patch: RawBuilder<unknown>) => RawBuilder<unknown>;
  isUnchanged: (patch: RawBuilder<unknown>) => RawBuilder<boolean>;
}

/**
 * Changes one entity: computes its `fields` from the patch once, and again only where another transaction has changed the row meanwhile. A change that
 * changes nothing locks and writes nothing, and returns the row of the snapshot (decision 220).
 */
const changeOne =
  (name: string, event: 'entity.updated' | 'entity.restored', { fields, candidates, isUnchanged }: OneMerge) =>
  ({ companion, rights: { coverage }, variant }: StatementVariant) =>
    prepare<OneChange, EntityRow>(
      name,
      (value) => {
        const patch = sql`${value('patch')}::jsonb`;
        const isSame = isUnchanged(patch);
        return entityChanged<EntityRow>({
          event,
          former: { fields: sql.ref('former'), candidates: candidates(patch) },
          steps: sql`
      merged as materialized (
        select name, key, ${fields(patch)} as fields, ${formerFields('entity')} as former
        from entity where ${guardedRowAt(value, coverage)} and not ${isSame} for no key update
      )`,
          unchanged: sql`
            select entity.* from entity
            where ${guardedRowAt(value, coverage)} and not exists (select from merged) and ${isSame} and ${isWithin(sql`entity.fields`, value('limit'))}`,
          written: sql`${storeMerged(value('userName'), value('limit'))} returning entity.*, merged.former`,
          value,
          companion: companion ? updateRows(companion, writtenWithValues(companion, value('companion'))) : undefined,
          returning: columnList,
        }).compile(builder);
      },
      variant,
    );

export const prepareUpdateOne = changeOne('entity.update', 'entity.updated', {
  fields: (patch) => sql`json_merge_patch(fields, ${patch})`,
  candidates: (patch) => patch,
  isUnchanged: (patch) => isSameMerged(sql`entity.fields`, patch),
});

/** The same, with a version for a patch that changes nothing: for one with hidden fields (rule 180). */
export const prepareUpdateAlways = changeOne('entity.update-always', 'entity.updated', {
  fields: (patch) => sql`json_merge_patch(fields, ${patch})`,
  candidates: (patch) => patch,
  isUnchanged: () => sql`false`,
});

/** The patch has all fields of the entity. */
export const prepareRestoreOne = changeOne('entity.restore', 'entity.restored', {
  fields: (patch) => patch,
  candidates: (patch) => sql`(former || ${patch})`,
  isUnchanged: (patch) => areSameFields(sql`entity.fields`, patch),
});

/** The same, with a version in any case. */
export const prepareRestoreAlways = changeOne('entity.restore-always', 'entity.restored', {
  fields: (patch) => patch,
  candidates: (patch) => sql`(former || ${patch})`,
  isUnchanged: () => sql`false`,
});

type OneDeletion = GuardedPlace & {
  /** How long the entity stays in the trash, as an interval; null if it does not. */
  trashKeep: string | null;
};

const deleteOne =
  (name: string, also?: (value: ValueOf<OneDeletion>) => RawBuilder<unknown>) =>
  ({ companion, rights: { coverage }, variant }: StatementVariant) =>
    prepare<OneDeletion, { key: string }>(
      name,
      (value) =>
        entityChanged<{ key: string }>({
          event: 'entity.deleted',
          written: sql`delete from entity where ${guardedRowAt(value, coverage)} returning entity.*`,
          value,
          also: also?.(value),
          returning: companion ? sql`key, ${deleteRow(companion, sql.ref('key'))}` : sql.ref('key'),
        }).compile(builder),
      variant,
    );

export const prepareDeleteOne = deleteOne('entity.delete');

export const prepareTrashOne = deleteOne('entity.trash', (value) => moveToTrash(value('userName'), value('trashKeep')));

/** Brings an entity back from the trash, with the fields of the patch, as its next version. */
export const prepareUndeleteOne = ({ companion, rights: { coverage }, variant }: StatementVariant) =>
  prepare<OneChange, EntityRow>(
    'entity.undelete',
    (value) =>
      entityChanged<EntityRow>({
        event: 'entity.restored',
        steps: sql`
      trashed as (
        delete from entity_trash where ${trashedAt(value, coverage)}
          and entity_trash.version = any(${value('versions')}::bigint[]) and ${changeIsOfCurrentType(value)}
        returning *, ${formerFields('entity_trash')} as former
      )`,
        former: { fields: sql`(select former from trashed)`, candidates: sql`((select former from trashed) || written.fields)` },
        written: sql`
          insert into entity (name, key, version, fields, created_at, created_by, updated_at, updated_by) overriding system value
          select name, key, version + 1, ${value('patch')}::jsonb, created_at, created_by,
            ${noEarlierThan(sql`greatest(updated_at, deleted_at)`)}, ${value('userName')} from trashed
          returning entity.*`,
        value,
        companion: companion ? insertRows(companion, writtenWithValues(companion, value('companion'))) : undefined,
        returning: columnList,
      }).compile(builder),
    variant,
  );
