/** The contract with the declared types: their schemas, and the operations on their entities as paths of their own (decision 136). */
import { isDeepStrictEqual } from 'node:util';
import { foldedFields, rulesOf } from '../../entities/companion/rule-layout.ts';
import type { ContractDocument } from '../../contract/contract.ts';
import type { Field } from '../../filter/fields.ts';
import type { FieldRight, FieldRights } from '../../rights/field-rights.ts';
import type { Action } from '../../rights/vocabulary.ts';
import { schemaOf } from '../document.ts';
import { fieldTypesOf } from '../field-types.ts';
import type { Schema } from '../subschemas.ts';
import { Components } from './components.ts';
import { Filters } from './filters.ts';
import { documentWith } from './known-fields.ts';
import { typedPaths, type TypedName } from './operations.ts';
import { referTo, sharedTests, type SharedTest } from './tests.ts';

/** A type as the caller may see it. */
export interface VisibleType extends Omit<TypedName, 'by' | 'hasNew'> {
  /** The rights on single fields; undefined for all. */
  fields?: FieldRights | undefined;
  /** The JSON Schema with its service keywords. */
  document: Schema;
}

/** What one type adds to the contract. The members of objects are JSON text without braces, so that a large document is joined quickly. */
export interface TypePart {
  /** Its extension says for which name the schema `name` is. */
  tag: { name: string; description: string; 'x-entity-type': string };
  paths: string;
  schemas: string;
  tests: ReadonlySet<SharedTest>;
}

const writing: readonly Action[] = ['create', 'update'];

/** Makes the parts of types for `contract`. */
export class PartMaker {
  readonly #contract: ContractDocument;
  /** By actions and {@link TemplateForm}: what differs between types in names alone, with {@link placeholder} for these. */
  readonly #templates = new Map<string, { paths: string; schemas: string }>();

  constructor(contract: ContractDocument) {
    this.#contract = contract;
  }

  /** What the type adds to the contract: the schemas of what the caller may do, and the operations. */
  part({ name, base, actions, fields, document: whole }: VisibleType): TypePart {
    const { shown, read, created, updated } = documentsFor(schemaOf(whole), actions, fields);
    const described = [shown['title'] ?? name, shown['description']].filter((text) => typeof text === 'string').join('. ');
    const components = new Components(shown, base);
    const types = fieldTypesOf(read);
    const isRead = ([field = '']: Field) => !fields || fields.of(field).showing !== 'never';
    const rules = rulesOf(whole, fieldTypesOf(schemaOf(whole)));
    const unique = rules.uniques.find((rule) => rule.fields.every(({ field }) => isRead(field)));
    const filters = new Filters(components, types, {
      references: rules.references.flatMap(({ field }) => (isRead(field) ? [field] : [])),
      folded: foldedFields(rules).filter(isRead),
      hasLabel: rules.labels.some(({ label = [] }) => label.every(([field = '']) => !fields || fields.of(field).showing === 'always')),
    });
    const hasNew = created !== shown && may(actions, 'create');
    const seesFields = may(actions, 'read', 'type', ...writing);
    if (seesFields) components.define('', base, () => ({ ...(components.fields(shown) as Schema), type: 'object' }));
    if (hasNew) components.schemas[`${base}New`] = { ...(components.fields(created) as Schema), type: 'object' };
    if (may(actions, 'update')) components.define('Patch', `${base}Patch`, () => patchSchema(components.patch(updated) as Schema, name));
    if (may(actions, 'read')) {
      components.define('Test', `${base}Filter`, () => filters.filter(read, `${base}Filter`, name));
      components.schemas[`${base}Sort`] = filters.sort(read);
    }
    components.finish();
    const template = this.#templateFor(actions, { isUnique: unique !== undefined, hasNew });
    const by = JSON.stringify(unique?.fields.map(({ field }) => field.join('.')).join() ?? '').slice(1, -1);
    const fill = (text: string) =>
      text
        .replaceAll(placeholder.name, name)
        .replaceAll(placeholder.base, base)
        // A function, since `$` has a meaning in a text.
        .replaceAll(placeholder.by, () => by);
    return {
      tag: { name: base, description: seesFields ? described : name, 'x-entity-type': name },
      paths: fill(template.paths),
      schemas: joined([membersOf(components.schemas), fill(template.schemas)]),
      tests: filters.used,
    };
  }

  #templateFor(actions: ReadonlySet<Action>, form: TemplateForm): { paths: string; schemas: string } {
    const key = [...[...actions].toSorted(), form.isUnique, form.hasNew].join();
    const template = this.#templates.get(key) ?? templateOf(this.#contract, actions, form);
    this.#templates.set(key, template);
    return template;
  }
}

/** Characters that JSON text has in no other place, and that JSON does not escape. */
const placeholder = { name: '\uE000', base: '\uE001', by: '\uE002' };

interface TemplateForm {
  /** Whether there is a unique rule. */
  isUnique: boolean;
  /** Whether new entities have a schema of their own. */
  hasNew: boolean;
}

function templateOf(
  contract: ContractDocument,
  actions: ReadonlySet<Action>,
  { isUnique, hasNew }: TemplateForm,
): { paths: string; schemas: string } {
  const { name, base } = placeholder;
  const schemas = {
    ...(may(actions, 'read', ...writing) && { [`${base}Entity`]: entitySchema(contract, 'Entity', name, base) }),
    ...(may(actions, 'create') && {
      [`${base}List`]: { ...schemaIn(contract, 'FieldsList'), items: referTo(hasNew ? `${base}New` : base) },
    }),
    ...(may(actions, 'read') && {
      [`${base}View`]: entitySchema(contract, 'EntityView', name, base),
      [`${base}Page`]: pageSchema(contract, base),
      [`${base}Query`]: querySchema(contract, base),
      [`${base}Aggregation`]: aggregationSchema(contract, base),
    }),
  };
  const by = isUnique ? placeholder.by : undefined;
  return { paths: membersOf(typedPaths(contract, { name, base, actions, by, hasNew })), schemas: membersOf(schemas) };
}

/** The document as the caller may know it, for each use. */
export interface KnownDocuments {
  /** For answers. */
  shown: Schema;
  /** For filters and sorts. */
  read: Schema;
  created: Schema;
  updated: Schema;
}

/** The documents of a caller with these actions and rights on fields; the same object for each use that may know all of it. */
export function documentsFor(document: Schema, actions: ReadonlySet<Action>, fields: FieldRights | undefined): KnownDocuments {
  // The declaration itself is open to a caller who sees no entity and may declare the type.
  if (!fields || !may(actions, 'read', ...writing)) return { shown: document, read: document, created: document, updated: document };
  const mayRead = may(actions, 'read');
  const isNew = (right: FieldRight) => may(actions, 'create') && right.isCreated;
  const isShown = (right: FieldRight) => right.showing !== 'never' || right.isAnswered || isNew(right);
  const isAlways = (right: FieldRight) => (mayRead ? right.showing === 'always' : isNew(right) && !right.isPreset);
  const knownBy = (has: (right: FieldRight) => boolean, requires: (right: FieldRight) => boolean) =>
    fields.everyField((right) => has(right) && requires(right))
      ? document
      : documentWith(document, { has: (name) => has(fields.of(name)), requires: (name) => requires(fields.of(name)) });
  const created = knownBy(isNew, (right) => !right.isPreset);
  const shown = knownBy(isShown, isAlways);
  return {
    shown,
    read: knownBy(
      ({ showing }) => showing !== 'never',
      ({ showing }) => showing === 'always',
    ),
    created: isDeepStrictEqual(created, shown) ? shown : created,
    updated: knownBy(
      ({ isUpdated }) => isUpdated,
      () => true,
    ),
  };
}

const may = (actions: ReadonlySet<Action>, ...some: Action[]) => some.some((action) => actions.has(action));

/** The JSON text of `contract` with the parts. Without parts it is that of `contract`. */
export function joinParts(contract: ContractDocument, parts: readonly TypePart[]): string {
  const { tags, paths, components, ...rest } = contract;
  const { schemas = {}, ...others } = components;
  const tests = Object.entries(sharedTests).filter(([name]) => parts.some((part) => part.tests.has(name as SharedTest)));
  const members = [
    membersOf(rest),
    `"tags":${JSON.stringify([...parts.map(({ tag }) => tag), ...tags])}`,
    `"paths":{${joined([membersOf(paths), ...parts.map((part) => part.paths)])}}`,
    `"components":{${joined([
      membersOf(others),
      `"schemas":{${joined([membersOf(schemas), ...parts.map((part) => part.schemas), membersOf(Object.fromEntries(tests))])}}`,
    ])}}`,
  ];
  return `{${members.join()}}`;
}

/** The members of the object as JSON text. */
const membersOf = (object: object) => JSON.stringify(object).slice(1, -1);
const joined = (texts: readonly string[]) => texts.filter((text) => text !== '').join();

function patchSchema(schema: Schema, name: string): Schema {
  return { description: `A merge patch (RFC 7396) of the fields of ${name}: null removes.`, ...schema, type: 'object' };
}

function entitySchema(contract: ContractDocument, schema: 'Entity' | 'EntityView', name: string, base: string): Schema {
  const { properties, ...entity } = schemaIn(contract, schema);
  return { ...entity, properties: { ...(properties as Schema), name: { type: 'string', enum: [name] }, fields: referTo(base) } };
}

function pageSchema(contract: ContractDocument, base: string): Schema {
  const { properties, ...page } = schemaIn(contract, 'EntityPage');
  const { items, ...others } = properties as Schema;
  return { ...page, properties: { items: { ...(items as Schema), items: referTo(`${base}Entity`) }, ...others } };
}

function querySchema(contract: ContractDocument, base: string): Schema {
  const { properties, ...query } = schemaIn(contract, 'EntityQuery');
  const { sort, fields: _, ...others } = properties as Schema;
  return {
    ...query,
    properties: { ...others, filter: referTo(`${base}Filter`), sort: { ...(sort as Schema), items: referTo(`${base}Sort`) } },
  };
}

/** The names in `having` are those of measures. */
function aggregationSchema(contract: ContractDocument, base: string): Schema {
  const { properties, ...aggregation } = schemaIn(contract, 'EntityAggregation');
  const { having, ...others } = properties as Schema;
  const { $ref: _, ...described } = having as Schema;
  return {
    ...aggregation,
    properties: { ...others, filter: referTo(`${base}Filter`), having: { type: 'object', ...described, additionalProperties: true } },
  };
}

const schemaIn = ({ components }: ContractDocument, name: string) => components['schemas']?.[name] as Schema;
