/**
 * What a filter may name: the fields of its entities, what their references lead to, what refers to them, and the variables of the caller. References and what is
 * behind them count by the rights of the caller (rule 64).
 */
import { isDeepStrictEqual } from 'node:util';
import { Problem } from '../../problems/errors.ts';
import { rulesOf, indexedLength } from '../companion/rule-layout.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { undeclaredFields, type FieldTypes, type Referrer, type Target } from '../../filter/fields.ts';
import { bodyLimits } from '../../filter/limits.ts';
import type { Variables } from '../../filter/variables.ts';
import { authorize, isPermitted, type Permit } from '../../rights/permit.ts';
import type { Principal } from '../../rights/principal.ts';
import { wholeView, type FieldView } from '../../rights/field-view.ts';
import { variablesOf } from '../../rights/variables.ts';
import { lackedIndex, namedReferences, readingsOf } from '../companion/referrers.ts';
import { isShown, shownTypes } from '../shown-rows.ts';

/** The entities at the other ends of references. */
interface Matched {
  /** Undefined if the caller may read none of them. */
  permit: Permit<'read'> | undefined;
  type: EntityType | undefined;
}

/** The entities that the references of a filter lead to, and those that it finds by their references, by name. */
export type MatchTargets = ReadonlyMap<string, Matched>;

/** The names that a filter may have, and the entities that its references lead to. */
export interface FilterScope {
  fields: FieldTypes;
  targets: MatchTargets;
  variables: Variables;
}

/** Reads the scope of a filter as the caller has sent it. */
export type ReadScope = (filter: unknown) => Promise<FilterScope>;

/** The entities of a list. */
interface ListedEntities {
  name: string;
  /** Undefined for a name without a declared type. */
  type: EntityType | undefined;
}

/** The sources of scopes. */
export interface ScopeSources {
  types: EntityTypes;
  /** The declared attributes. */
  attributes: { variablesOf: (principal: Principal) => Promise<Variables> };
}

/** The scope of filters over these entities that `principal` sends. */
export function scopeFor({ types, attributes }: ScopeSources, principal: Principal, { name, type }: ListedEntities): ReadScope {
  return async (filter) => {
    // Attributes are read for a filter that may name one.
    const variables = hasMember(filter, ['$var']) ? await attributes.variablesOf(principal) : variablesOf(principal);
    if (!type || !hasMember(filter, ['$match', '$some', '$none'])) {
      const fields = shownTypes(type?.fields ?? undeclaredFields, viewOn(principal, name));
      return { fields, targets: new Map(), variables };
    }
    const reader = new TargetReader(types, principal);
    await reader.findReferrers(namedReferences(filter));
    return { fields: await reader.fieldsOf(name, type, bodyLimits.references), targets: reader.targets, variables };
  };
}

const viewOn = (principal: Principal, name: string): FieldView =>
  isPermitted(principal, name, 'read') ? authorize(principal, name, 'read').view : wholeView;

/** Whether a member of the filter, or of what is inside of it, has one of these names. */
function hasMember(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return names.some((name) => Object.hasOwn(value, name)) || Object.values(value).some((inner) => hasMember(inner, names));
}

class TargetReader {
  readonly targets = new Map<string, Matched>();
  /** By the depth and the name: types can have many references to one name. */
  readonly #fields = new Map<string, FieldTypes>();
  /** The references that the filter names: each with the name that it leads to. */
  readonly #referrers = new Map<string, (Pick<Referrer, 'name' | 'by'> & { to: string; type: EntityType })[]>();
  readonly #types: EntityTypes;
  readonly #principal: Principal;

  constructor(types: EntityTypes, principal: Principal) {
    this.#types = types;
    this.#principal = principal;
  }

  /** Finds the references of types whose entities the caller may read. Others are as if they did not exist. */
  async findReferrers(named: Iterable<string>): Promise<void> {
    for (const reference of named) {
      const found = [];
      for (const { name, by } of readingsOf(reference)) {
        if (!isPermitted(this.#principal, name, 'read') || !isShown(viewOn(this.#principal, name), by)) continue;
        const { type } = await this.#targetOf(name);
        const rule = type && rulesOf(type.document, type.fields).references.find(({ field }) => isDeepStrictEqual(field, by));
        if (rule) found.push({ name, by, to: rule.to, type });
      }
      this.#referrers.set(reference, found);
    }
  }

  /** The fields of the type, with what its references lead to and so on, and with what refers to it, `depth` references in a row. */
  async fieldsOf(name: string, type: EntityType, depth: number): Promise<FieldTypes> {
    const references = new Map<string, Target>();
    for (const { field, to } of rulesOf(type.document, type.fields).references) {
      const { permit, type: target } = await this.#targetOf(to);
      // The fields of a type are not told to a caller who may read none of its entities.
      const isTold = target !== undefined && permit !== undefined;
      const fields = isTold ? await this.#inside(to, target, depth) : anyField;
      references.set(JSON.stringify(field), { name: to, fields });
    }
    const referrers = new Map<string, Referrer>();
    for (const [reference, readings] of this.#referrers) {
      const found = readings.find(({ to }) => to === name);
      if (!found) continue;
      const fields = await this.#inside(found.name, found.type, depth);
      const { companion } = found.type;
      referrers.set(reference, { ...found, fields, lackedIndex: (filter) => lackedIndex(companion, found.by, filter) });
    }
    const fields: FieldTypes = {
      ...type.fields,
      targetOf: (field) => references.get(JSON.stringify(field)),
      referrerOf: (reference) => referrers.get(reference),
    };
    return shownTypes(fields, viewOn(this.#principal, name));
  }

  async #inside(name: string, type: EntityType, depth: number): Promise<FieldTypes> {
    const id = `${depth} ${name}`;
    // The last references in a row are known, so that a filter which goes on is too deep rather than wrong.
    // Tests at the other end of a reference have no row of the companion table.
    const fields = this.#fields.get(id) ?? {
      ...(depth > 0 ? await this.fieldsOf(name, type, depth - 1) : type.fields),
      labelParts: undefined,
    };
    this.#fields.set(id, fields);
    return fields;
  }

  async #targetOf(name: string): Promise<Matched> {
    const known = this.targets.get(name);
    if (known) return known;
    const permit = isPermitted(this.#principal, name, 'read') ? authorize(this.#principal, name, 'read') : undefined;
    const target = { permit, type: await this.#find(name) };
    this.targets.set(name, target);
    return target;
  }

  /** A name that a caller has made up has no type, also where only declared names exist. */
  async #find(name: string): Promise<EntityType | undefined> {
    try {
      return await this.#types.find(name);
    } catch (error) {
      if (error instanceof Problem && error.code === 'not-found') return undefined;
      throw error;
    }
  }
}

/** The fields of entities that the caller may not read: any name, folded or not, and any reference. */
const anyField: FieldTypes = {
  typeOf: () => 'any',
  foldingOf: () => indexedLength,
  targetOf: () => ({ name: '', fields: anyField }),
};
