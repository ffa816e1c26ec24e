/**
 * The trash: deleted entities of types with `x-soft-delete`. The statement that deletes an entity moves it here, so the tables of live entities and their
 * companion rows know nothing of it (decision 148).
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { builder, type ValueOf } from '../database/driver/prepared.ts';
import type { Statements } from '../database/port.ts';
import type { Database } from '../database/tables.ts';
import type { Permit } from '../rights/permit.ts';
import { permitValues, rowsCovered, type Coverage } from '../rights/coverage.ts';
import { prepareCovered } from './covered-statements.ts';
import { entityRowColumns, type TrashedRow } from './row.ts';
import type { Place, RowState } from './find-entity.ts';
import { typeRevision } from './type-revision.ts';

/** SQL: moves the deleted rows of `written` to the trash, for `keep`. */
export const moveToTrash = (userName: RawBuilder<unknown>, keep: RawBuilder<unknown>) => sql`
  insert into entity_trash (name, key, version, fields, created_at, created_by, updated_at, updated_by, deleted_by, expires_at)
  select name, key, version, fields, created_at, created_by, updated_at, updated_by, ${userName}, now() + ${keep}::interval from written`;

/** SQL: the rows of the trash, in the place of live ones. */
export const trashedEntities = sql`(select * from entity_trash where expires_at > now()) as entity`;

/** SQL: what a row of the trash has besides those of an entity. */
export const trashColumnList = sql`deleted_at as "deletedAt", deleted_by as "deletedBy", expires_at as "expiresAt"`;

/** SQL: the row of the trash with this key, if the permit covers it and its time is not over. */
export const trashedAt = (value: ValueOf<Place>, coverage: Coverage) =>
  sql<boolean>`${rowsCovered(coverage, value, 'entity_trash')} and entity_trash.key = ${value('key')}::bigint and entity_trash.expires_at > now()`;

const findOne = prepareCovered<Place, TrashedRow>('trash.find', (value, { coverage, view }) =>
  builder
    .selectFrom('entity_trash')
    .where(trashedAt(value, coverage))
    .select([
      ...entityRowColumns(view, { row: 'entity_trash', value }),
      'deleted_at as deletedAt',
      'deleted_by as deletedBy',
      'expires_at as expiresAt',
    ])
    .compile(),
);

const findStateOf = prepareCovered<Place, RowState & { fields: string }>('trash.state', (value, { coverage }) =>
  builder
    .selectFrom('entity_trash')
    .where(trashedAt(value, coverage))
    .select(['version', typeRevision(value('name')).as('typeRevision'), sql<string>`fields::text`.as('fields')])
    .compile(),
);

/** The entity as it is in the trash; undefined if the permit covers none there. */
export async function findTrashed(store: Statements, permit: Permit<'read' | 'update'>, key: string): Promise<TrashedRow | undefined> {
  const [row] = await store.run(findOne(permit), { ...permitValues(permit), key });
  return row;
}

/** The version and the fields of an entity in the trash; undefined if the permit covers none there. */
export async function stateOfTrashed(
  store: Statements,
  permit: Permit<'update'>,
  key: string,
): Promise<(RowState & { fields: string }) | undefined> {
  const [row] = await store.run(findStateOf(permit), { ...permitValues(permit), key });
  return row;
}

/** Deletes up to `limit` entities whose time in the trash is over; returns how many. Replicas do not wait for each other. */
export async function deleteExpiredTrash(db: Kysely<Database>, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with expired as materialized (select name, key from entity_trash where expires_at <= now() limit ${limit} for update skip locked)
    delete from entity_trash as trash using expired where (trash.name, trash.key) = (expired.name, expired.key)`.execute(db);
  return Number(numAffectedRows ?? 0);
}
