/** The declared types as the rules of grants are bound to them. */
import type { RuledType } from '../authn/rule-book.ts';
import { Problem } from '../problems/errors.ts';
import type { EntityTypes } from './types.ts';

/** Returns the type of a name; undefined for a name without one, also where only declared names exist. */
export function typesForRules(types: Pick<EntityTypes, 'find'>): (name: string) => Promise<RuledType | undefined> {
  return async (name) => {
    try {
      return await types.find(name);
    } catch (error) {
      if (error instanceof Problem && error.code === 'not-found') return undefined;
      throw error;
    }
  };
}
