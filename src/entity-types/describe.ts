/** The description of a type for those who show its entities: what a caller may see of it, in the caller's language. */
import type { RuleKeywords } from '../entities/companion/rule-layout.ts';
import type { Schemas } from '../contract/operation.ts';
import type { FieldType } from '../filter/fields.ts';
import type { Languages } from '../locales/negotiate.ts';
import type { FieldRights } from '../rights/field-rights.ts';
import type { Action } from '../rights/vocabulary.ts';
import { schemaOf } from './document.ts';
import { fieldTypesOf } from './field-types.ts';
import { formFor, zoneKeyword } from './keywords/form.ts';
import { labelFor, valuesListed } from './keywords/labels.ts';
import { descriptionOf, titleOf } from './keywords/texts.ts';
import { isSchemaObject, targetOf, typeNamesOf, type Schema } from './subschemas.ts';
import { documentsFor, type KnownDocuments } from './typed-contract/derive.ts';
import { documentWith } from './typed-contract/known-fields.ts';

type FieldDescription = Schemas['FieldDescription'];

/** The type, and who wants to know it. */
export interface DescribedType {
  name: string;
  document: Schema;
  /** The actions that the caller may do with some entity of the name. */
  actions: ReadonlySet<Action>;
  /** The rights on single fields; undefined for all. */
  fields: FieldRights | undefined;
  languages: Languages;
}

/** The most values of a description, fields and those inside of them. */
const maximumValues = 1_000;
/** The most values inside of each other. */
const deepestValue = 8;

const limitKeywords =
  'minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties'.split(
    ' ',
  );

/** Describes what the caller may see. Fields that no grant shows are absent, as in the typed contract. */
export function describeType({ name, document, actions, fields, languages }: DescribedType): Schemas['EntityDescription'] {
  const schema = schemaOf(document);
  const known = documentsFor(schema, actions, fields);
  const seesFields = (['read', 'type', 'create', 'update'] as const).some((action) => actions.has(action));
  const all = seesFields ? propertiesIn(known.shown) : new Map<string, unknown>();
  const reader = new ValueReader(known, document, languages);
  const described = [...all].map(([field, member]) => reader.field(field, member, actions, fields));
  const isShown = (path: string) => all.has(path.split('.')[0] ?? '');
  const form = formFor(languages, document, isShown);
  const zone = document[zoneKeyword];
  // The text of the whole could tell of hidden fields.
  const description = seesFields && known.shown === schema ? descriptionOf(languages, document) : undefined;
  return {
    name,
    title: titleOf(languages, document) ?? name,
    ...(description !== undefined && { description }),
    timeZone: typeof zone === 'string' ? zone : 'UTC',
    actions: [...actions].toSorted(),
    fields: described,
    form,
  };
}

/** The schemas of the fields at the top, also of those that `$ref` and `allOf` name. */
function propertiesIn(document: Schema): Map<string, unknown> {
  const { properties } = documentWith(document, { has: () => true, requires: () => true });
  const own = isSchemaObject(document['properties']) ? document['properties'] : {};
  const members = { ...own, ...(isSchemaObject(properties) ? properties : {}) };
  return new Map(Object.entries(members).filter(([, schema]) => schema !== false));
}

class ValueReader {
  readonly #known: KnownDocuments;
  readonly #languages: Languages;
  readonly #references: RuleKeywords['x-references'];
  readonly #document: Schema;
  readonly #definitions: Schema;
  #left = maximumValues;

  constructor(known: KnownDocuments, document: Schema, languages: Languages) {
    const { $defs, definitions } = document;
    this.#known = known;
    this.#document = document;
    this.#languages = languages;
    this.#references = (document as RuleKeywords)['x-references'];
    this.#definitions = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
  }

  field(name: string, schema: unknown, actions: ReadonlySet<Action>, rights: FieldRights | undefined): FieldDescription {
    const right = rights?.of(name);
    const isRead = actions.has('read') && right?.showing !== 'never';
    return {
      name,
      ...this.#value(schema, [name]),
      isRequired: requiredIn(this.#known.created, name),
      isReadable: isRead,
      isSometimesHidden: isRead && right?.showing === 'sometimes',
      isCreatable: actions.has('create') && (right?.isCreated ?? true),
      isUpdatable: actions.has('update') && (right?.isUpdated ?? true),
    };
  }

  #value(schema: unknown, path: readonly string[]): FieldDescription {
    const found = this.#followed(schema);
    const alone: Schema = { ...this.#definitions, ...found };
    const type = fieldTypesOf(alone).typeOf([]) ?? 'any';
    const title = titleOf(this.#languages, found);
    const description = descriptionOf(this.#languages, found);
    const options = valuesListed(found).filter((value) => value !== null);
    const limits = limitKeywords.flatMap((keyword) => (keyword in found ? [[keyword, found[keyword]] as const] : []));
    const { format } = found;
    const to = this.#targetAt(path);
    return {
      title: title ?? path.at(-1) ?? '',
      ...(description !== undefined && { description }),
      type: typeName(type, found),
      ...(typeof format === 'string' && { format }),
      isNullable: acceptsNull(found),
      ...(options.length > 0 && {
        options: options.map((value) => ({ value, label: labelFor(this.#languages, found, value) ?? String(value) })),
      }),
      ...(limits.length > 0 && { limits: Object.fromEntries(limits) }),
      ...(to !== undefined && { reference: { to } }),
      ...this.#inner(found, type, path),
    };
  }

  #inner(schema: Schema, type: FieldType, path: readonly string[]): Pick<FieldDescription, 'items' | 'fields'> {
    if (path.length >= deepestValue) return {};
    if (typeof type === 'object') {
      this.#left -= 1;
      return this.#left < 0 || !isSchemaObject(schema['items']) ? {} : { items: this.#value(schema['items'], [...path, '']) };
    }
    if (type !== 'object') return {};
    const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []);
    const members = [...propertiesIn({ ...this.#definitions, ...schema })].slice(0, Math.max(0, this.#left));
    this.#left -= members.length;
    if (members.length === 0) return {};
    return {
      fields: members.map(([name, member]) =>
        Object.assign({ name }, this.#value(member, [...path, name]), { isRequired: required.has(name) }),
      ),
    };
  }

  #followed(schema: unknown): Schema {
    let found = schema;
    const texts: Schema = {};
    for (let steps = 0; isSchemaObject(found) && typeof found['$ref'] === 'string' && steps < 16; steps += 1) {
      const { $ref, ...beside } = found;
      Object.assign(texts, { ...beside, ...texts });
      found = targetOf(this.#document, $ref);
    }
    return { ...(isSchemaObject(found) ? found : {}), ...texts };
  }

  #targetAt(path: readonly string[]): string | undefined {
    const name = path.join('.');
    return this.#references && Object.hasOwn(this.#references, name) ? this.#references[name]?.to : undefined;
  }
}

function typeName(type: FieldType, schema: Schema): FieldDescription['type'] {
  if (typeof type === 'object') return 'array';
  if (type === 'number' && [typeNamesOf(schema)].flat().includes('integer')) return 'integer';
  return type === 'instant' || type === 'folded' ? 'any' : type;
}

const acceptsNull = (schema: Schema): boolean =>
  schema['nullable'] === true ||
  (typeNamesOf(schema) ?? []).includes('null') ||
  (Array.isArray(schema['enum']) && schema['enum'].includes(null));

function requiredIn({ required }: Schema, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}
