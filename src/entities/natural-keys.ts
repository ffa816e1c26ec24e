/**
 * References that a request gives by the values of a unique rule of their target, `{"customer": {"number": "C-1"}}`, in place of its key. So rows of two files keep
 * their connection in a database that gives other keys.
 */
import { sql, type RawBuilder } from 'kysely';
import { readableCompanion, type Companion, type CompanionUnique, type CompanionValues } from '../companion/layout.ts';
import { companionValues, memberAt } from '../companion/values.ts';
import { builder } from '../database/driver/prepared.ts';
import type { Statements } from '../database/port.ts';
import { inSchema } from '../companion/table.ts';
import type { EntityType, EntityTypes } from '../entity-types/types.ts';
import { Problem } from '../errors.ts';
import type { Fault } from '../faults.ts';
import type { Field } from '../filter/fields.ts';
import { withReplaced } from '../http/json-parts.ts';
import { pointerTo } from '../http/pointer.ts';
import { parseJson } from '../parse-json.ts';
import type { Permit } from '../rights/permit.ts';
import { rowsCovered } from '../rights/row-predicate.ts';
import { hasValues } from './upsert-statements.ts';

/** Fields of an entity, and the JSON text of the same object. */
export interface SentFields {
  fields: unknown;
  text: string;
}

/** A reference by values, in the fields of one entity. */
interface NaturalReference {
  path: Field;
  to: string;
  values: Readonly<Record<string, unknown>>;
}

/** Finds the keys that natural references stand for. It finds each one once, so make one for the entities of one transaction or portion. */
export class NaturalKeys {
  readonly #store: Pick<Statements, 'query'>;
  readonly #types: EntityTypes;
  readonly #permit: Permit<'create' | 'update'>;
  readonly #found = new Map<string, Promise<string | Fault>>();

  constructor(store: Pick<Statements, 'query'>, types: EntityTypes, permit: Permit<'create' | 'update'>) {
    this.#store = store;
    this.#types = types;
    this.#permit = permit;
  }

  /**
   * The fields with keys in place of natural references. Throws 422 `validation-failed` for values of no unique rule, and for those that no entity has that the
   * caller may read (rule 116).
   */
  async replaced(type: EntityType | undefined, sent: SentFields): Promise<SentFields> {
    const references = type?.companion ? naturalReferences(type.companion, sent.fields) : [];
    if (references.length === 0) return sent;
    const faults: Fault[] = [];
    let { text } = sent;
    for (const reference of references) {
      const key = await this.#keyOf(reference);
      if (typeof key === 'string') text = withReplaced(text, reference.path, JSON.stringify(key));
      else faults.push({ ...key, pointer: pointerTo(reference.path) + (key.pointer ?? '') });
    }
    if (faults.length > 0) throw new Problem('validation-failed', { faults });
    return { text, fields: parseJson(text) };
  }

  /** The columns of a CSV file that name the target at `path` by its first unique rule; undefined if it has none, or the caller may not read it. */
  async columnsInstead(path: Field, to: string): Promise<string | undefined> {
    if (this.#permit.findable(to) === undefined) return undefined;
    const companion = readableOf(await this.#types.find(to));
    const [unique] = companion?.uniques ?? [];
    return (
      companion &&
      unique &&
      namesOf(companion, unique)
        .map((name) => `${path.join('.')}.${name}`)
        .join(', ')
    );
  }

  #keyOf(reference: NaturalReference): Promise<string | Fault> {
    const id = JSON.stringify([reference.to, reference.values]);
    const known = this.#found.get(id) ?? this.#find(reference);
    this.#found.set(id, known);
    return known;
  }

  /** The key, or the fault with a pointer into the values. */
  async #find({ to, values }: NaturalReference): Promise<string | Fault> {
    const condition = this.#permit.findable(to);
    const missing: Fault = { pointer: '', code: 'reference-not-found' };
    // To find an entity by its values is to read it. A caller who may read none of them learns nothing, not even the rules of their type.
    if (condition === undefined) return missing;
    const companion = readableOf(await this.#types.find(to));
    const unique = companion && ruleOver(companion, namesIn(values));
    if (!unique) return { pointer: '', code: 'invalid-value', values: { allowed: rulesIn(companion) } };
    const compared = valuesOf(companion, values);
    const empty = companion.columns.find(({ name }) => unique.columns.includes(name) && compared?.[name] === null);
    if (!compared || empty) return { pointer: pointerTo(empty?.field ?? []), code: 'invalid-value' };
    const owner = condition === 'own' ? this.#permit.userName : null;
    const [row] = await this.#store.query(coveredKey({ name: to, owner }, companion, unique, compared).compile(builder));
    return row?.key ?? missing;
  }
}

/** SQL: the key of the entity with the values of the rule, if the caller may read it. */
function coveredKey(
  permit: { name: string; owner: string | null },
  companion: Companion,
  unique: CompanionUnique,
  values: CompanionValues,
): RawBuilder<{ key: string }> {
  return sql<{ key: string }>`
    select entity.key::text as key from ${inSchema(companion.table)} as found
    join entity on ${rowsCovered((name) => sql`${permit[name]}`)} and entity.key = found.key
    where ${hasValues(companion, unique, values)}`;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function naturalReferences({ columns, references }: Companion, fields: unknown): NaturalReference[] {
  const found = new Map<string, NaturalReference>();
  for (const { column, to } of references) {
    const path = columns.find(({ name }) => name === column)?.field ?? [];
    const values = memberAt(fields, path);
    if (isObject(values) && !Object.keys(values).some((name) => name.startsWith('$'))) found.set(column, { path, to, values });
  }
  return [...found.values()];
}

function readableOf(type: EntityType | undefined): Companion | undefined {
  return (type?.companion && readableCompanion(type.companion)) ?? undefined;
}

/** The names of all values, with dots into objects. */
function namesIn(values: Readonly<Record<string, unknown>>, above = ''): string[] {
  return Object.entries(values).flatMap(([name, value]) => (isObject(value) ? namesIn(value, `${above}${name}.`) : [`${above}${name}`]));
}

const namesOf = ({ columns }: Companion, unique: CompanionUnique): string[] =>
  columns.filter(({ name }) => unique.columns.includes(name)).map(({ field }) => field.join('.'));

function ruleOver(companion: Companion, names: readonly string[]): CompanionUnique | undefined {
  const wanted = new Set(names);
  return companion.uniques.find(
    (unique) => unique.columns.length === wanted.size && namesOf(companion, unique).every((name) => wanted.has(name)),
  );
}

/** The rules, as a refusal names them. */
const rulesIn = (companion: Companion | undefined): string =>
  (companion?.uniques ?? []).map((unique) => `{${namesOf(companion as Companion, unique).join(', ')}}`).join('; ');

/** The values of the target's columns; undefined for a text that no column can have. */
function valuesOf(companion: Companion, values: unknown): CompanionValues | undefined {
  try {
    return companionValues(companion, values);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
