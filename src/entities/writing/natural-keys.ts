/**
 * References that a request gives by the values of a unique rule of their target, `{"customer": {"number": "C-1"}}`, in place of its key. So rows of two files keep
 * their connection in a database that gives other keys.
 */
import { sql } from 'kysely';
import { inputType } from '../companion/columns.ts';
import {
  readableCompanion,
  uniqueRuleNames,
  uniqueRuleOver,
  type Companion,
  type CompanionColumn,
  type CompanionUnique,
  type CompanionValues,
} from '../companion/layout.ts';
import { companionValues, memberAt } from '../companion/values.ts';
import { builder } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import { inSchema } from '../companion/table.ts';
import type { Action } from '../../rights/vocabulary.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import type { Field } from '../../filter/fields.ts';
import { withReplaced } from '../../json/json-parts.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { parseJson } from '../../json/parse-json.ts';
import type { Permit } from '../../rights/permit.ts';
import { rowsOfPermit, type Coverage } from '../../rights/coverage.ts';
import { shownCompanion } from '../shown-rows.ts';
import { requireNoFaults } from './rules.ts';
import { columnsHave } from './upsert-statements.ts';

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

/** The values of a unique rule, which one entity called `to` at most has. */
export interface UniqueValues {
  to: string;
  companion: Companion;
  unique: CompanionUnique;
  values: CompanionValues;
}

/** A reference whose values can be looked up. */
interface Wanted extends UniqueValues {
  id: string;
}

const missing: Fault = { pointer: '', code: 'reference-not-found' };

/** Finds the keys that natural references stand for. It finds each one once, so make one for the entities of one transaction or portion. */
export class NaturalKeys {
  readonly #store: Pick<Statements, 'query'>;
  readonly #types: EntityTypes;
  readonly #permit: Pick<Permit<Action>, 'findable'>;
  readonly #keyOfNone: (values: UniqueValues) => Promise<string | undefined>;
  /** By {@link idOf} the reference: the key, or the fault with a pointer into the values. */
  readonly #found = new Map<string, string | Fault>();

  /** `keyOfNone` returns a key for values that no entity has; by default none. */
  constructor(
    store: Pick<Statements, 'query'>,
    types: EntityTypes,
    permit: Pick<Permit<Action>, 'findable'>,
    keyOfNone: (values: UniqueValues) => Promise<string | undefined> = () => Promise.resolve(undefined),
  ) {
    this.#store = store;
    this.#types = types;
    this.#permit = permit;
    this.#keyOfNone = keyOfNone;
  }

  /**
   * The fields with keys in place of natural references. Throws 422 `validation-failed` for values of no unique rule, and for those that no entity has that the
   * caller may read (rule 116).
   */
  async replaced(type: EntityType | undefined, sent: SentFields): Promise<SentFields> {
    const references = type?.companion ? naturalReferences(type.companion, sent.fields) : [];
    if (references.length === 0) return sent;
    await this.#findKeys(references);
    const faults: Fault[] = [];
    let { text } = sent;
    for (const reference of references) {
      const key = this.#found.get(idOf(reference)) ?? missing;
      if (typeof key === 'string') text = withReplaced(text, reference.path, JSON.stringify(key));
      else faults.push({ ...key, pointer: pointerTo(reference.path) + (key.pointer ?? '') });
    }
    requireNoFaults(faults);
    return { text, fields: parseJson(text) };
  }

  /** The columns of a CSV file that name the target at `path` by its first unique rule; undefined if it has none, or the caller may not read it. */
  async columnsInstead(path: Field, to: string): Promise<string | undefined> {
    if (this.#permit.findable(to) === undefined) return undefined;
    const companion = this.#shownOf(to, await this.#types.find(to));
    const [unique] = companion?.uniques ?? [];
    return (
      companion &&
      unique &&
      uniqueRuleNames(companion, unique)
        .map((name) => `${path.join('.')}.${name}`)
        .join(', ')
    );
  }

  /**
   * Finds the keys for several entities together, with one statement for each rule, so that {@link replaced} needs none. Leaves out references to entities
   * called `except`.
   */
  async findFor(entities: readonly { type: EntityType | undefined; fields: unknown }[], except?: string): Promise<void> {
    const references = entities.flatMap(({ type, fields }) => (type?.companion ? naturalReferences(type.companion, fields) : []));
    await this.#findKeys(references.filter(({ to }) => to !== except));
  }

  /** The keys that the natural references to entities called `name` stand for; undefined for each that stands for none. */
  async keysCalled(name: string, type: EntityType | undefined, fields: unknown): Promise<(string | undefined)[]> {
    const references = (type?.companion ? naturalReferences(type.companion, fields) : []).filter(({ to }) => to === name);
    await this.#findKeys(references);
    return references.map((reference) => {
      const key = this.#found.get(idOf(reference));
      return typeof key === 'string' ? key : undefined;
    });
  }

  async #findKeys(references: readonly NaturalReference[]): Promise<void> {
    const wanted = new Map<string, Wanted>();
    for (const reference of references) {
      const id = idOf(reference);
      if (this.#found.has(id) || wanted.has(id)) continue;
      const read = await this.#readValues(reference);
      if ('code' in read) this.#found.set(id, read);
      else wanted.set(id, { id, ...read });
    }
    for (const alike of Map.groupBy(wanted.values(), ({ to, unique }) => `${to} ${unique.name}`).values()) {
      const coverage = alike[0] && this.#permit.findable(alike[0].to)?.coverage;
      const rows = coverage ? await this.#store.query(coveredKeys(coverage, alike).compile(builder)) : [];
      const keys = new Map(rows.map(({ n, key }) => [n, key]));
      for (const [n, { id, ...values }] of alike.entries()) this.#found.set(id, keys.get(n) ?? (await this.#keyOfNone(values)) ?? missing);
    }
  }

  /** The part of the companion table that lists may read, with the rules over fields that all covered rows show. */
  #shownOf(to: string, type: EntityType | undefined): Companion | undefined {
    const companion = readableOf(type);
    const view = this.#permit.findable(to)?.view;
    return companion && view ? shownCompanion(companion, view) : companion;
  }

  /** The rule and the values, or the fault with a pointer into the values. */
  async #readValues({ to, values }: NaturalReference): Promise<UniqueValues | Fault> {
    // To find an entity by its values is to read it. A caller who may read none of them learns nothing, not even the rules of their type.
    if (this.#permit.findable(to) === undefined) return missing;
    const type = await this.#types.find(to);
    const companion = this.#shownOf(to, type);
    const unique = companion && uniqueRuleOver(companion, namesIn(values));
    if (!unique) return { pointer: '', code: 'invalid-value', values: { allowed: rulesIn(companion) } };
    // Another spelling would find the entity that has the value nearest to it.
    const [misspelt] = type?.findMisspelt(values) ?? [];
    if (misspelt) return misspelt;
    const compared = valuesOf(companion, values);
    const empty = columnsOf(companion, unique).find(({ name }) => compared?.[name] === null);
    if (!compared || empty) return { pointer: pointerTo(empty?.field ?? []), code: 'invalid-value' };
    return { to, companion, unique, values: compared };
  }
}

const readableOf = (type: EntityType | undefined): Companion | undefined =>
  (type?.companion && readableCompanion(type.companion)) ?? undefined;

const idOf = ({ to, values }: NaturalReference): string => JSON.stringify([to, values]);

const columnsOf = ({ columns }: Companion, unique: CompanionUnique): CompanionColumn[] =>
  columns.filter(({ name }) => unique.columns.includes(name));

/** SQL: the keys of the entities with the values of one rule, and the place of the values in `wanted`; of those that the caller may read. */
function coveredKeys(coverage: Coverage, wanted: readonly Wanted[]) {
  const [{ to, companion, unique } = {} as Wanted] = wanted;
  const columns = columnsOf(companion, unique);
  const rows = wanted.map(({ values }, n) => ({ n, ...Object.fromEntries(columns.map(({ name }) => [name, values[name]])) }));
  const typed = sql.join(columns.map((column) => sql`${sql.ref(column.name)} ${inputType(column)}`));
  return sql<{ n: number; key: string }>`
    select input.n, entity.key::text as key
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as input (n integer, ${typed})
    join ${inSchema(companion.table)} as found on ${columnsHave(columns, 'found', ({ name }) => sql.ref(`input.${name}`))}
    join entity on ${rowsOfPermit({ entity: to, coverage })} and entity.key = found.key`;
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

/** The names of all values, with dots into objects. */
function namesIn(values: Readonly<Record<string, unknown>>, above = ''): string[] {
  return Object.entries(values).flatMap(([name, value]) => (isObject(value) ? namesIn(value, `${above}${name}.`) : [`${above}${name}`]));
}

/** The rules, as a refusal names them. */
const rulesIn = (companion: Companion | undefined): string =>
  (companion?.uniques ?? []).map((unique) => `{${uniqueRuleNames(companion as Companion, unique).join(', ')}}`).join('; ');

/** The values of the target's columns; undefined for a text that no column can have. */
function valuesOf(companion: Companion, values: unknown): CompanionValues | undefined {
  try {
    return companionValues(companion, values);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
