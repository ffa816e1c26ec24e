/**
 * The condition under which every statement that changes entities does so: the type of the name is still the one that the process has checked
 * (decision 118).
 */
import { sql, type RawBuilder } from 'kysely';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { builder, prepare } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import { lacksRelation } from '../../database/failure.ts';
import { inRounds } from './rounds.ts';

/**
 * SQL: the revision of the type of entities called `name`; 0 for a name without a type.
 */
export const typeRevision = (name: RawBuilder<unknown>) =>
  sql<string>`coalesce((select entity_type.revision from entity_type where entity_type.name = ${name}), 0)`;

/**
 * SQL: whether `revision` is that of the type when the statement is committed. The second half locks no row, but the table, in ROW SHARE mode: a
 * change of types, which locks it in EXCLUSIVE mode, either waits for this transaction, or was committed before PostgreSQL took the snapshot of the
 * statement. PostgreSQL takes it after it has locked all tables of the statement.
 */
export const typeIsCurrent = (name: RawBuilder<unknown>, revision: RawBuilder<unknown>) =>
  sql<boolean>`${typeRevision(name)} = ${revision}::bigint and not exists (select from entity_type where false for key share)`;

const findTypeRevision = prepare<{ name: string }, { typeRevision: string }>('entity.type-revision', (value) =>
  builder.selectNoFrom(typeRevision(value('name')).as('typeRevision')).compile(),
);

/** Whether the type of entities called `name` has this revision now; 0 is that of a name without a type. */
export async function typeHasRevision(store: Statements, name: string, revision: string): Promise<boolean> {
  const [row] = await store.run(findTypeRevision, { name });
  return row?.typeRevision === revision;
}

/** The type of entities has changed since it was looked at, or its table: nothing may be written, and the type is to be looked at again. */
export class TypeChanged extends Error {}

/** Runs a statement. Throws {@link TypeChanged} if its table or a column of it is gone. */
export async function whileTypeLasts<T>(statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    throw lacksRelation(error) ? new TypeChanged() : error;
  }
}

/**
 * Runs `write` with the type of entities called `name`. It returns undefined if the type, or the entity, has changed meanwhile, and is then run again
 * with the new type. Throws as {@link inRounds}.
 */
export async function whileTypeIsCurrent<T>(
  types: EntityTypes,
  name: string,
  write: (type: EntityType | undefined) => Promise<T | undefined>,
): Promise<T> {
  return await inRounds(async () => {
    const result = await write(await types.find(name));
    if (result === undefined) types.forget();
    return result;
  });
}

/**
 * Runs `read` with the type of entities called `name`. If a statement names what the companion table no longer has, the type has changed,
 * and `read` runs once more with the new one.
 */
export async function readByType<T>(types: EntityTypes, name: string, read: (type: EntityType | undefined) => Promise<T>): Promise<T> {
  try {
    return await read(await types.find(name));
  } catch (error) {
    if (!lacksRelation(error)) throw error;
    types.forget();
    return await read(await types.find(name));
  }
}
