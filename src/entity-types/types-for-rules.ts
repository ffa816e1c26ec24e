/** The declared types as the rules of grants are bound to them. */
import type { RuledType } from '../authn/rule-book.ts';
import { readableCompanion, type Companion } from '../entities/companion/layout.ts';
import { undeclaredFields } from '../filter/fields.ts';
import { Problem } from '../problems/errors.ts';
import { hasReferences, ReachedTypes, type FindType } from './rule-references.ts';
import type { EntityTypes } from './types.ts';

/** Finds the type of a name; undefined for a name without one, also where only declared names exist. */
export function typesOfNames(types: Pick<EntityTypes, 'find'>): FindType {
  return async (name) => {
    try {
      return await types.find(name);
    } catch (error) {
      if (error instanceof Problem && error.code === 'not-found') return undefined;
      throw error;
    }
  };
}

/** Returns the type of a name for a rule, with the types that the rule looks at through references. */
export function typesForRules(types: Pick<EntityTypes, 'find'>): (name: string, rule: object) => Promise<RuledType> {
  const find = typesOfNames(types);
  return async (name, rule) => {
    if (!hasReferences(rule)) {
      const type = await find(name);
      return { revision: type?.revision ?? '0', fields: type?.fields ?? undeclaredFields };
    }
    const reached = await ReachedTypes.by(find, name, rule);
    return { revision: reached.revision, fields: reached.fieldsOf(name), followed: (filter) => reached.followed(filter) };
  };
}

/** Returns the companion table that lists of a name may read; undefined for a name without one. */
export function companionsForLists(types: Pick<EntityTypes, 'find'>): (name: string) => Promise<Companion | undefined> {
  const find = typesOfNames(types);
  return async (name) => {
    const stored = (await find(name))?.companion;
    return (stored && readableCompanion(stored)) ?? undefined;
  };
}
