/**
 * The references that a caller wants followed. Each is a field in the type's `x-references`. A dot leads into an object, or from a
 * reference to a reference of the entities that it leads to.
 */
import type { Principal } from '../../rights/principal.ts';
import { rulesOf } from '../companion/rule-layout.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { undeclaredFields, type Field, type FieldTypes } from '../../filter/fields.ts';
import type { Unplaced } from '../../filter/parse.ts';
import { readField, type NameFault } from '../../filter/sort.ts';
import { looksLikeName } from '../../problems/pointer.ts';
import { readOthers, wholeView } from '../../rights/field-view.ts';
import { authorize, isPermitted, type Permit } from '../../rights/permit.ts';
import { isNeverShown, shownTypes } from '../shown-rows.ts';

/** The most references of a request, and the most in a row. */
const maximumIncludes = 5;
const maximumDepth = 2;

/** A reference to follow. */
export interface Include {
  field: Field;
  /** The name of the entities that it leads to. */
  to: string;
  /** Undefined if the caller may read no entity of that name. */
  permit: Permit<'read'> | undefined;
  /** The references of these entities to follow. */
  further: Include[];
}

/** The includes of a request, or what is wrong with its names. */
export type ReadIncludes = { includes: readonly Include[] } | { faults: NameFault[] };

/** Reads the references that `principal` wants followed from entities called `name`; `type` is undefined for one without a declared type. */
export async function readIncludes(
  types: EntityTypes,
  principal: Principal,
  { name: of, type }: { name: string; type: EntityType | undefined },
  names: readonly string[],
): Promise<ReadIncludes> {
  if (names.length > maximumIncludes) return { faults: [{ index: -1, code: 'invalid-value', values: { maximum: maximumIncludes } }] };
  const reader = new IncludeReader(types, principal);
  const includes: Include[] = [];
  const faults: NameFault[] = [];
  for (const [index, name] of names.entries()) {
    const fault = await reader.add(includes, { name: of, type }, name.split('.'));
    if (fault) faults.push({ index, ...fault });
  }
  return faults.length > 0 ? { faults } : { includes };
}

/** Whether the rights on the entities that references lead to look at further entities. */
export const includesReadOthers = (includes: readonly Include[]): boolean =>
  includes.some(({ permit, further }) => (permit !== undefined && readOthers(permit)) || includesReadOthers(further));

class IncludeReader {
  readonly #types: EntityTypes;
  readonly #principal: Principal;

  constructor(types: EntityTypes, principal: Principal) {
    this.#types = types;
    this.#principal = principal;
  }

  /** Adds the reference that `path` begins with, and the one after it. Returns the fault of a path that leads nowhere. */
  async add(
    includes: Include[],
    { name, type }: { name: string; type: EntityType | undefined },
    path: Field,
    depth = 1,
  ): Promise<Unplaced | undefined> {
    const view = isPermitted(this.#principal, name, 'read') ? authorize(this.#principal, name, 'read').view : wholeView;
    const references = type ? rulesOf(type.document, type.fields).references.filter(({ field }) => !isNeverShown(view, field)) : [];
    const reference = references.find(({ field }) => field.every((name, index) => name === path[index]));
    if (!reference) return faultOf(path, shownTypes(type?.fields ?? undeclaredFields, view), references);
    const rest = path.slice(reference.field.length);
    if (rest.length > 0 && depth === maximumDepth) return { code: 'too-deep', values: { limit: maximumDepth } };
    let include = includes.find(({ field }) => isSameField(field, reference.field));
    if (!include) includes.push((include = this.#include(reference)));
    // The fields of a type are not told to a caller who may read none of its entities.
    if (rest.length === 0 || !include.permit) return undefined;
    return await this.add(include.further, { name: include.to, type: await this.#types.find(include.to) }, rest, depth + 1);
  }

  #include({ field, to }: Pick<Include, 'field' | 'to'>): Include {
    const permit = isPermitted(this.#principal, to, 'read') ? authorize(this.#principal, to, 'read') : undefined;
    return { field, to, permit, further: [] };
  }
}

const isSameField = (one: Field, other: Field) => one.length === other.length && one.every((name, index) => name === other[index]);

function faultOf(path: Field, types: FieldTypes, references: readonly Pick<Include, 'field'>[]): Unplaced {
  const found = readField(path.join('.'), types);
  if ('code' in found) return found;
  const names = references.map(({ field }) => field.join('.'));
  return { code: 'not-a-reference', ...(names.length > 0 && names.every(looksLikeName) && { values: { allowed: names.join(', ') } }) };
}
