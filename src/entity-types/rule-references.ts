/**
 * The entities that rules of grants find at the other ends of references. A rule reads all that it needs, for every caller alike: no condition of a permit is beside it. So a
 * rule depends on no other rule (decision 333).
 */
import { isDeepStrictEqual } from 'node:util';
import { bindToColumns, bindToEntities, columnOf } from '../entities/companion/fields.ts';
import { readableCompanion, type Companion, type CompanionColumn } from '../entities/companion/layout.ts';
import { lackedIndex, readingsOf } from '../entities/companion/referrers.ts';
import { rulesOf } from '../entities/companion/rule-layout.ts';
import { hasReferrer, isMatchedKey } from '../entities/reference-tests.ts';
import { undeclaredFields, type Field, type FieldTypes, type Referrer, type ScalarType, type Target } from '../filter/fields.ts';
import { all, any, not, testsOf, type Filter, type Lookup, type Test } from '../filter/syntax.ts';
import { allRows } from '../rights/coverage.ts';
import { wholeView } from '../rights/field-view.ts';
import type { EntityType } from './types.ts';

/** The type of a name; undefined for a name without one. */
export type FindType = (name: string) => Promise<EntityType | undefined>;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the document of a rule looks through references. */
export function hasReferences(document: unknown): boolean {
  if (typeof document !== 'object' || document === null) return false;
  if (isObject(document) && ['$match', '$some', '$none'].some((name) => Object.hasOwn(document, name))) return true;
  return Object.values(document).some(hasReferences);
}

/** The types that the filters of one rule reach. */
export class ReachedTypes {
  readonly #find: FindType;
  readonly #types = new Map<string, EntityType | undefined>();
  readonly #fields = new Map<string, FieldTypes>();

  private constructor(find: FindType) {
    this.#find = find;
  }

  /** The types that `document`, a rule of entities called `name`, names by its references. */
  static async by(find: FindType, name: string, document: object): Promise<ReachedTypes> {
    const reached = new ReachedTypes(find);
    await reached.#visit(document, name, undefined);
    return reached;
  }

  /** Equal for equal types. */
  get revision(): string {
    return JSON.stringify([...this.#types].map(([name, type]) => [name, type?.revision ?? '0']));
  }

  /** The fields of the entities called `name`, with their references and what refers to them. */
  fieldsOf(name: string): FieldTypes {
    const known = this.#fields.get(name);
    if (known) return known;
    const type = this.#types.get(name);
    const fields: FieldTypes = {
      ...(type?.fields ?? undeclaredFields),
      foldingOf: (field) => (columnIn(type, field, 'folded') ? type?.fields.foldingOf?.(field) : 'unindexed'),
      targetOf: (field) => this.#targetOf(type, field),
      referrerOf: (reference) => this.#referrerOf(name, reference),
    };
    this.#fields.set(name, fields);
    return fields;
  }

  /** The filter with looks at other entities in the place of references. */
  followed(filter: Filter): Filter {
    switch (filter.kind) {
      case 'not':
        return not(this.followed(filter.of));
      case 'all':
        return all(filter.of.map((each) => this.followed(each)));
      case 'any':
        return any(filter.of.map((each) => this.followed(each)));
      case 'match':
      case 'some':
        return this.#lookup(filter);
      default:
        return filter;
    }
  }

  /** Finds the types in the order of the filter. `path` is the field in which `value` stands; undefined where the members of `value` are not of a filter. */
  async #visit(value: unknown, name: string, path: Field | undefined): Promise<void> {
    const type = await this.#add(name);
    if (Array.isArray(value)) for (const one of value) await this.#visit(one, name, path);
    if (!isObject(value)) return;
    for (const [member, inner] of Object.entries(value)) {
      if (path === undefined) await this.#visit(inner, name, []);
      else if (member === '$match') {
        const reference = referenceAt(type, path);
        if (reference) await this.#visit(inner, reference.to, []);
      } else if (member === '$some' || member === '$none') await this.#visitReferrers(inner);
      else await this.#visit(inner, name, member.startsWith('$') ? path : [...path, member]);
    }
  }

  async #visitReferrers(value: unknown): Promise<void> {
    if (!isObject(value)) return;
    for (const [reference, filter] of Object.entries(value))
      for (const { name } of readingsOf(reference)) await this.#visit(filter, name, []);
  }

  async #add(name: string): Promise<EntityType | undefined> {
    if (!this.#types.has(name)) this.#types.set(name, await this.#find(name));
    return this.#types.get(name);
  }

  #targetOf(type: EntityType | undefined, field: Field): Target | undefined {
    const reference = referenceAt(type, field);
    return reference && this.#types.has(reference.to) ? { name: reference.to, fields: this.fieldsOf(reference.to) } : undefined;
  }

  #referrerOf(to: string, text: string): Referrer | undefined {
    for (const { name, by } of readingsOf(text)) {
      const type = this.#types.get(name);
      // A reference that is being built has no column yet.
      if (!type || referenceAt(type, by)?.to !== to || !columnIn(type, by, 'int64')) continue;
      return { name, by, fields: this.fieldsOf(name), lackedIndex: (filter) => lackedIndex(type.companion, by, filter) };
    }
    return undefined;
  }

  #lookup(test: Extract<Test, { kind: 'match' | 'some' }>): Filter {
    const name = test.kind === 'match' ? test.to : test.name;
    const rows = { entity: name, coverage: allRows, view: wholeView };
    const companion = readable(this.#types.get(name));
    const of = this.followed(test.of);
    const lookup = { kind: 'lookup', field: test.field, type: 'int64', name, of, tests: 2 + testsOf(of).length } as const;
    if (test.kind === 'match')
      return { ...lookup, source: bindToEntities(companion), exists: (key, condition) => isMatchedKey(rows, key, condition) };
    const column = companion && columnOf(companion, test.by, 'int64');
    if (!column) throw new Error('a reference without a column is no reference of a rule');
    const exists: Lookup['exists'] = (key, condition) => hasReferrer(rows, { companion, column }, key, condition);
    return { ...lookup, by: test.by, source: bindToColumns(companion), exists };
  }
}

const readable = (type: EntityType | undefined): Companion | undefined =>
  (type?.companion && readableCompanion(type.companion)) ?? undefined;

function columnIn(type: EntityType | undefined, field: Field, as: ScalarType): CompanionColumn | undefined {
  const companion = readable(type);
  return companion && columnOf(companion, field, as);
}

function referenceAt(type: EntityType | undefined, field: Field): { to: string } | undefined {
  if (!type) return undefined;
  return rulesOf(type.document, type.fields).references.find((reference) => isDeepStrictEqual(reference.field, field));
}
