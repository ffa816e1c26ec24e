/**
 * An entity as it is now. Every function takes a permit and reaches only the rows that the permit covers (rule 66). Fields travel as JSON text and are never
 * parsed.
 */
import { sql } from 'kysely';
import { builder, type ValueOf } from '../database/driver/prepared.ts';
import type { Statements } from '../database/port.ts';
import { permitValues, rowsCovered, type Coverage, type PermitValues } from '../rights/coverage.ts';
import { shownFields } from '../rights/field-view.ts';
import type { Permit } from '../rights/permit.ts';
import { prepareCovered } from './covered-statements.ts';
import { entityRowColumns, rowColumns, type EntityRow } from './row.ts';
import { areLightToRead } from './size-classes.ts';
import { typeRevision } from './type-revision.ts';

export interface Place extends PermitValues {
  key: string;
}

export const placeOf = (permit: Permit<'create' | 'read' | 'update' | 'delete' | 'purge'>, key: string): Place => ({
  ...permitValues(permit),
  key,
});

/** SQL: the row with this key, if the permit covers it. */
export const rowAt = (value: ValueOf<Place>, coverage: Coverage) =>
  sql<boolean>`${rowsCovered(coverage, value)} and entity.key = ${value('key')}::bigint`;

/** The entity at the place; no row if the permit covers none. */
export const findHeavy = prepareCovered<Place, EntityRow>('entity.find-heavy', (value, { coverage, view }) =>
  builder
    .selectFrom('entity')
    .where(rowAt(value, coverage))
    .select(entityRowColumns(view, { row: 'entity', value }))
    .compile(),
);

/** The row of an entity; null in place of fields that are heavy. */
export type LightRow = EntityRow | (Omit<EntityRow, 'fields'> & { fields: null });

/** The entity at the place, with `fields` null if they are heavy; no row if the permit covers none. */
export const findLightOne = prepareCovered<Place, LightRow>('entity.find', (value, { coverage, view }) =>
  builder
    .selectFrom('entity')
    .where(rowAt(value, coverage))
    .select([
      ...rowColumns,
      sql<string | null>`case when ${areLightToRead(sql`fields`)} then ${shownFields(view, { row: 'entity', value })}::text end`.as(
        'fields',
      ),
    ])
    .compile(),
);

/** The version of a row, and the revision of the type of its name. */
export interface RowState {
  version: string;
  typeRevision: string;
}

/** The state of the entity at the place; no row if the permit covers none. */
export const findState = prepareCovered<Place, RowState>('entity.state', (value, { coverage }) =>
  builder
    .selectFrom('entity')
    .where(rowAt(value, coverage))
    .select(['version', typeRevision(value('name')).as('typeRevision')])
    .compile(),
);

/** The entity, or undefined when there is none that the permit covers. */
export async function findEntity(
  store: Statements,
  permit: Permit<'create' | 'read' | 'update'>,
  key: string,
): Promise<EntityRow | undefined> {
  const [row] = await store.run(findHeavy(permit), placeOf(permit, key));
  return row;
}

/** Like {@link findEntity}, without the fields where these are heavy, so that it costs little on a connection that requests share. */
export async function findLight(store: Pick<Statements, 'read'>, permit: Permit<'read'>, key: string): Promise<LightRow | undefined> {
  const [row] = await store.read(findLightOne(permit), placeOf(permit, key));
  return row;
}

/** The present state of a row that the permit covers; undefined when there is none. */
export async function stateOf(
  store: Pick<Statements, 'run'>,
  permit: Permit<'read' | 'update' | 'delete' | 'purge'>,
  key: string,
): Promise<RowState | undefined> {
  const [row] = await store.run(findState(permit), placeOf(permit, key));
  return row;
}
