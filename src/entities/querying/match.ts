/**
 * Filters that look through references: `$match` tests the entity that a reference leads to, by the caller's right to read it (rule 64). If
 * there are few such entities, they are found first, and an index of the reference serves their keys. If there are many, each entity of the
 * list is looked up (decision 182).
 */
import type { Principal } from '../../rights/principal.ts';
import { readableCompanion } from '../companion/layout.ts';
import { indexedLength, rulesOf } from '../companion/rule-layout.ts';
import { bindToEntities } from '../companion/fields.ts';
import type { Run } from '../../database/read-transaction.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { undeclaredFields, type FieldTypes, type Target } from '../../filter/fields.ts';
import { bodyLimits } from '../../filter/parse.ts';
import { all, any, noEntity, not, testsOf, type Filter, type Test } from '../../filter/syntax.ts';
import { authorize, isPermitted, type Permit } from '../../rights/permit.ts';
import { accessPathOf } from './access-path.ts';
import { bindQuery, type BoundQuery } from './bind.ts';
import { isMatchedKey, matchedKeysQuery } from './match-statements.ts';
import { affordablePath, rowsOf } from './page.ts';

/** The most entities that are found first. A test lowers it. */
export const matchLimits = { keys: 1_000 };

/** The entities that references lead to. */
interface Matched {
  /** Undefined if the caller may read none of them. */
  permit: Permit<'read'> | undefined;
  type: EntityType | undefined;
}

/** The entities that the references of a filter lead to, by name. */
export type MatchTargets = ReadonlyMap<string, Matched>;

/** What a filter may name, and what its references lead to. */
export interface FilterScope {
  fields: FieldTypes;
  targets: MatchTargets;
}

/** Reads the scope of a filter as the caller has sent it. */
export type ReadScope = (filter: unknown) => Promise<FilterScope>;

/** The scope of filters over entities of `type` that `principal` sends; undefined stands for a name without a declared type. */
export function scopeFor(types: EntityTypes, principal: Principal, type: EntityType | undefined): ReadScope {
  const fields = type?.fields ?? undeclaredFields;
  return async (filter) => {
    if (!type || !looksThrough(filter)) return { fields, targets: new Map() };
    const reader = new TargetReader(types, principal);
    return { fields: await reader.fieldsOf(type, bodyLimits.references), targets: reader.targets };
  };
}

/** Whether a member of the filter is `$match`. */
function looksThrough(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '$match') || Object.values(value).some(looksThrough);
}

class TargetReader {
  readonly targets = new Map<string, Matched>();
  /** By the depth and the name: types can have many references to one name. */
  readonly #fields = new Map<string, FieldTypes>();
  readonly #types: EntityTypes;
  readonly #principal: Principal;

  constructor(types: EntityTypes, principal: Principal) {
    this.#types = types;
    this.#principal = principal;
  }

  /** The fields of the type, with what its references lead to and so on, `depth` references in a row. */
  async fieldsOf(type: EntityType, depth: number): Promise<FieldTypes> {
    const references = new Map<string, Target>();
    for (const { field, to } of rulesOf(type.document, type.fields).references) {
      const { permit, type: target } = await this.#targetOf(to);
      // The fields of a type are not told to a caller who may read none of its entities.
      const isTold = target !== undefined && permit !== undefined;
      const fields = isTold ? await this.#inside(to, target, depth) : anyField;
      references.set(JSON.stringify(field), { name: to, fields });
    }
    return { ...type.fields, targetOf: (field) => references.get(JSON.stringify(field)) };
  }

  async #inside(name: string, type: EntityType, depth: number): Promise<FieldTypes> {
    const id = `${depth} ${name}`;
    // The last references in a row are known, so that a filter which goes on is too deep rather than wrong.
    const fields = this.#fields.get(id) ?? (depth > 0 ? await this.fieldsOf(type, depth - 1) : type.fields);
    this.#fields.set(id, fields);
    return fields;
  }

  async #targetOf(name: string): Promise<Matched> {
    const known = this.targets.get(name);
    if (known) return known;
    const permit = isPermitted(this.#principal, name, 'read') ? authorize(this.#principal, name, 'read') : undefined;
    const target = { permit, type: await this.#types.find(name) };
    this.targets.set(name, target);
    return target;
  }
}

/** The fields of entities that the caller may not read: any name, folded or not, and any reference. */
const anyField: FieldTypes = {
  typeOf: () => 'any',
  foldingOf: () => indexedLength,
  targetOf: () => ({ name: '', fields: anyField }),
};

/** Whether the filter looks through a reference. */
export const hasMatch = (filter: Filter): boolean => testsOf(filter).some(({ kind }) => kind === 'match');

/** The filter with tests of keys in place of those of the entities that references lead to. */
export async function followMatches(run: Run, filter: Filter, targets: MatchTargets): Promise<Filter> {
  switch (filter.kind) {
    case 'not':
      return not(await followMatches(run, filter.of, targets));
    case 'all':
      return all(await eachFollowed(run, filter.of, targets));
    case 'any':
      return any(await eachFollowed(run, filter.of, targets));
    case 'match':
      return await followed(run, filter, targets);
    default:
      return filter;
  }
}

/** One after the other, since they share a connection. */
async function eachFollowed(run: Run, filters: readonly Filter[], targets: MatchTargets): Promise<Filter[]> {
  const all: Filter[] = [];
  for (const filter of filters) all.push(await followMatches(run, filter, targets));
  return all;
}

async function followed(run: Run, { field, to, of }: Extract<Test, { kind: 'match' }>, targets: MatchTargets): Promise<Filter> {
  const target = targets.get(to);
  if (!target?.permit) return noEntity;
  const { permit } = target;
  const filter = await followMatches(run, of, targets);
  const companion = (target.type?.companion && readableCompanion(target.type.companion)) ?? undefined;
  const keys = await keysOf(run, bindQuery({ filter, sort: [], limit: matchLimits.keys, bytes: 0 }, permit, companion));
  if (keys) return keys.length === 0 ? noEntity : { kind: 'in', field, type: 'int64', values: keys };
  return {
    kind: 'lookup',
    field,
    type: 'int64',
    of: filter,
    source: bindToEntities(companion),
    exists: (key, condition) => isMatchedKey(permit, key, condition),
    tests: 2 + testsOf(filter).length,
  };
}

/** The keys of all entities that the query finds; undefined if they are too many, or if it takes too long to find them. */
async function keysOf(run: Run, query: BoundQuery): Promise<string[] | undefined> {
  const path = await affordablePath(run, accessPathOf(query), undefined);
  if (!path) return undefined;
  const { end, scans, ...rows } = rowsOf(path, undefined);
  const { limit } = query.page;
  const found = await run(matchedKeysQuery(rows, limit + 1), scans);
  if (found.length > limit) return undefined;
  const [last] = end ? await run(end()) : [];
  return last ? undefined : found.map(({ key }) => key);
}
