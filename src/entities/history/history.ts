/** The history of entities: the versions that `entityChanged` writes, newest first, and one of them. */
import { sql, type Kysely } from 'kysely';
import type { components } from '../../../generated/api.ts';
import { JsonText } from '../../contract/operation.ts';
import { builder, type ValueOf } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import type { Reads } from '../../database/standby/readers.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';
import { isLasting, permitValues, rowsCovered, type Coverage, type PermitValues } from '../../rights/coverage.ts';
import { shownFields, shownNames } from '../../rights/field-view.ts';
import type { EntityTypes } from '../../entity-types/types.ts';
import { prepareCovered } from '../covered-statements.ts';
import { findEntity, findLight } from '../find-entity.ts';
import { memberAt, labelOf } from '../companion/values.ts';
import { withoutTransaction } from '../../database/read-transaction.ts';
import { isInt64 } from '../../json/int64.ts';
import { parseJson } from '../../json/parse-json.ts';
import { readLabels, withLabel, type WantedLabels } from '../querying/labels.ts';
import { isShown } from '../shown-rows.ts';
import { atPosition, type Cursors } from '../querying/cursors.ts';
import { representEntity } from '../represent.ts';
import { historyRetention } from '../retention.ts';
import type { EntityRow } from '../row.ts';

/** 8 MiB with what surrounds the fields of the versions. */
const maximumBytes = 7.5 * 2 ** 20;

export type VersionOperation = components['schemas']['EntityVersion']['operation'];

export interface ChangeRow extends EntityRow {
  id: string;
  operation: VersionOperation;
}

/** Where the versions of an entity are, and since when they are kept. */
export interface VersionPlace extends PermitValues {
  key: string;
  /** An interval, such as `P7D`. */
  keep: string;
}

/** SQL: the versions of the entity that are kept and that the permit covers, as each of them was, if it covers the entity now. */
export const versionsOf = (value: ValueOf<VersionPlace>, coverage: Coverage) =>
  sql<boolean>`${rowsCovered(coverage, value, 'entity_change')} and entity_change.key = ${value('key')}::bigint
    and entity_change.at > now() - ${value('keep')}::interval${isLasting(coverage) ? sql`` : sql` and ${isCoveredNow(value, coverage)}`}`;

/** SQL: whether the permit covers the entity, or its last version if it was deleted. */
const isCoveredNow = (value: ValueOf<VersionPlace>, coverage: Coverage) => sql<boolean>`(
    exists (select from entity where ${rowsCovered(coverage, value)} and entity.key = ${value('key')}::bigint)
    or exists (
      select from (
        select * from entity_change where name = ${value('name')} and key = ${value('key')}::bigint order by version desc, id desc limit 1
      ) as entity_change where operation = 'deleted' and ${rowsCovered(coverage, value, 'entity_change')}))`;

export const changeColumns = [
  'id',
  'name',
  'key',
  'version',
  'operation',
  sql<string>`created_at::text`.as('createdAt'),
  'created_by as createdBy',
  sql<string>`at::text`.as('updatedAt'),
  'changed_by as updatedBy',
] as const;

const findOne = prepareCovered<VersionPlace & { version: string }, ChangeRow>('history.find', (value, { coverage, view }) =>
  builder
    .selectFrom('entity_change')
    .where(versionsOf(value, coverage))
    .where('version', '=', sql<string>`${value('version')}::bigint`)
    .where('operation', '<>', 'deleted')
    .where('fields', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .select([...changeColumns, sql<string>`${shownFields(view, { row: 'entity_change', value })}::text`.as('fields')])
    .compile(),
);

interface ListedChange extends Omit<ChangeRow, 'fields'> {
  /** Null if the page has no room for them. */
  fields: string | null;
  changed: string[] | null;
}

const listFrom = prepareCovered<VersionPlace & { before: string | null; limit: number }, ListedChange>(
  'history.list',
  (value, { coverage, view }) =>
    builder
      .selectFrom((from) =>
        from
          .selectFrom('entity_change')
          .where(versionsOf(value, coverage))
          // A purged entity has no history.
          .where('fields', 'is not', null)
          .where(sql<boolean>`(${value('before')}::bigint is null or id < ${value('before')}::bigint)`)
          .orderBy('version', 'desc')
          .orderBy('id', 'desc')
          .limit(sql<number>`${value('limit')} + 1`)
          .select([
            ...changeColumns,
            view.kind === 'whole' ? 'fields' : sql<string>`${shownFields(view, { row: 'entity_change', value })}`.as('fields'),
            sql<string[] | null>`${shownNames(view, sql.ref('changed'), { row: 'entity_change', value })}`.as('stored'),
            sql<number>`sum(octet_length(fields::text)) over (order by version desc, id desc)`.as('bytes'),
            sql<number>`row_number() over (order by version desc, id desc)`.as('n'),
            sql<string | null>`lead(${shownFields(view, { row: 'entity_change', value })}) over (order by version desc, id desc)`.as(
              'earlier',
            ),
          ])
          .as('found'),
      )
      .select([
        ...(['id', 'name', 'key', 'version', 'operation', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy'] as const),
        // Members of the same bytes are equal. The texts of others have the digits of numbers. With the texts of all, 100 versions of 1.9 MB took 4 s; now 2 s.
        sql<string[] | null>`coalesce(stored, case when earlier is not null and n <= ${value('limit')} then array(
        select key from jsonb_each(fields) as now full join jsonb_each(earlier) as before using (key)
        where case when record_image_ne(row(now.value), row(before.value)) then now.value::text is distinct from before.value::text end order by key
      ) end)`.as('changed'),
        sql<string | null>`case when n = 1 or (bytes <= ${sql.lit(maximumBytes)} and n <= ${value('limit')}) then fields::text end`.as(
          'fields',
        ),
      ])
      .orderBy('n')
      .compile(),
);

/** The entity as it was in this version; undefined if the permit covers none that is kept. */
export async function findVersion(
  store: Statements,
  permit: Permit<'create' | 'read' | 'update'>,
  key: string,
  version: string,
  keep: string,
): Promise<EntityRow | undefined> {
  const [row] = await store.run(findOne(permit), { ...permitValues(permit), key, version, keep });
  return row;
}

/** The database, and the types that say how long versions are kept. */
export interface VersionSource {
  store: Statements;
  types: Pick<EntityTypes, 'find'>;
}

/** The entity in a version that it has now, or had and whose values are kept; undefined if the permit covers none. */
export async function findInVersion(
  { store, types }: VersionSource,
  permit: Permit<'create' | 'read' | 'update'>,
  key: string,
  version: string,
): Promise<EntityRow | undefined> {
  const keep = historyRetention((await types.find(permit.entity))?.document);
  const kept = await findVersion(store, permit, key, version, keep);
  if (kept) return kept;
  const present = await findEntity(store, permit, key);
  return present?.version === version ? present : undefined;
}

export interface VersionQuery {
  /** The most versions of the page. */
  limit: number;
  cursor: string | undefined;
  keep: string;
  /** The names to send; undefined for none. */
  labels?: WantedLabels | undefined;
}

/** A page of versions, newest first. Throws 404 if the permit covers no such entity and no version that is kept, and 400 for a cursor of another history. */
export async function listVersions(
  reads: Reads,
  cursors: Cursors,
  permit: Permit<'read'>,
  key: string,
  { limit, cursor, keep, labels }: VersionQuery,
): Promise<JsonText<components['schemas']['EntityHistory']>> {
  const binding = JSON.stringify(['history', permit.userName, permit.entity, key]);
  const from = cursor === undefined ? undefined : await cursors.open(cursor, binding);
  if (cursor !== undefined && !from) throw new Problem('malformed-request', { faults: [{ parameter: 'cursor', code: 'invalid-cursor' }] });
  const listed = await reads.run(listFrom(permit), { ...permitValues(permit), key, keep, before: from?.key ?? null, limit });
  // An entity that has not changed for long has no version that is kept.
  if (listed.length === 0 && !from && !(await findLight(reads, permit, key))) throw new Problem('not-found');
  const cut = listed.findIndex(({ fields }, index) => fields === null || index === limit);
  const rows = cut === -1 ? listed : listed.slice(0, cut);
  const last = cut === -1 ? undefined : rows.at(-1);
  const sealed = last && (await cursors.seal({ direction: 'next', values: [], key: last.id }, binding));
  const next = sealed === undefined ? null : atPosition(sealed, await reads.position());
  const found = labels && (await labelsOfVersions(reads, permit, rows, labels));
  const items = rows.map(({ operation, fields, changed, ...row }, index) => {
    const text = withLabel(representEntity({ ...row, fields: fields ?? '{}' }).text, found?.own[index]);
    return `{"operation":"${operation}",${text.slice(1, -1)},"changed":${JSON.stringify(changed)}}`;
  });
  const partial = permit.coverage.kind === 'all' ? '' : ',"partial":true';
  return new JsonText(`{"items":[${items.join(',')}],"next":${JSON.stringify(next)}${found ? `,${found.member}` : ''}${partial}}`);
}

/**
 * The names of what the versions refer to, as they are now. A version has the name of its own values, if the caller sees all fields of it in every version.
 */
async function labelsOfVersions(
  reads: Reads,
  { view }: Permit<'read'>,
  rows: readonly ListedChange[],
  labels: WantedLabels,
): Promise<{ own: (string | undefined)[]; member: string }> {
  const versions = rows.map(({ key, fields }) => ({ key, values: parseJson(fields ?? '{}') }));
  const items = versions.map(({ key, values }) => ({
    key,
    references: labels.references.map(({ field }) => {
      const value = memberAt(values, field);
      return typeof value === 'string' && isInt64(value) ? value : null;
    }),
  }));
  const { member } = await readLabels(withoutTransaction(reads), items, { ...labels, own: undefined });
  const parts = labels.own?.column.label ?? [];
  const isSeen = parts.length > 0 && parts.every((part) => isShown(view, part));
  return {
    own: versions.map(({ values }) => (isSeen ? (labelOf(parts, values, labels.own?.column.maximumLength) ?? undefined) : undefined)),
    member,
  };
}

/**
 * Makes the tables of the next months, and drops those of months of which nothing is kept. Then deletes up to `limit` versions of names
 * that are kept for less than others, and returns how many. Only one replica at a time does so. The others get 0.
 */
export async function maintainHistory(db: Kysely<Database>, limit: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`select maintain_entity_history(${limit}::integer) as deleted`.execute(db);
  return rows[0]?.deleted ?? 0;
}
