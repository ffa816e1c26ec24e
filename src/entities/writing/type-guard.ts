/** Runs a write again when the type that the process has checked is no longer the one in force (decision 118). */
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { lacksRelation } from '../../database/failure.ts';
import { inRounds } from './rounds.ts';

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
