/** The filter of a type and the names that a list of it can be sorted by. */
import { isDeepStrictEqual } from 'node:util';
import { envelopeTypes, type Field, type FieldType, type FieldTypes } from '../../filter/fields.ts';
import { isSchemaObject, type Schema } from '../subschemas.ts';
import type { Components } from './components.ts';
import { arrayTest, combinationsOf, enumTest, referTo, testNames, type SharedTest } from './tests.ts';

/** The most fields that a schema of a sort lists, and the most that are looked at for it. */
const maximumSorts = 200;
const maximumVisits = 2_000;
/** As the contract has it for a sort. */
const maximumNameLength = 1_024;
/** Of the objects of a filter, and of a name with dots. */
const maximumDepth = 5;

/** The most schemas that the properties of one object come from. */
const maximumParts = 100;

/** JSON that the service accepts has no member of this name. */
const unlisted = '\0';

/** The fields whose tests say more than their type does. */
interface RuledFields {
  /** Those that refer to other entities. */
  references: readonly Field[];
  /** Those whose texts are compared without regard to case and accents too. */
  folded: readonly Field[];
  /** Whether `$label` is a name of filters and sorts. */
  hasLabel: boolean;
}

const has = (fields: readonly Field[], field: Field): boolean => fields.some((each) => isDeepStrictEqual(each, field));

export class Filters {
  /** The shared tests that the filters refer to. */
  readonly used = new Set<SharedTest>();
  readonly #components: Components;
  readonly #types: FieldTypes;
  readonly #ruled: RuledFields;

  constructor(components: Components, types: FieldTypes, ruled: RuledFields) {
    this.#components = components;
    this.#types = types;
    this.#ruled = ruled;
  }

  /** The filter of the type; `name` is that of its schema. */
  filter(document: Schema, name: string, title: string): Schema {
    const self = referTo(name);
    const envelope = Object.entries(this.#computed()).map(([member, type]): [string, unknown] => [member, this.#scalar(type)]);
    const list = (description: string) => ({ type: 'array', description, items: self });
    return {
      type: 'object',
      description: `Which entities called ${title}: all members have to hold. A filter has at most 50 tests and five objects inside each other.`,
      properties: {
        ...this.#members(document, []),
        ...Object.fromEntries(envelope),
        $and: list('All of these hold.'),
        $or: list('One of these holds.'),
        $not: self,
        $some: this.#referrers('One entity that refers to this one fulfils the filter: `{"member.project": …}`.'),
        $none: this.#referrers('No entity that refers to this one fulfils the filter.'),
      },
      additionalProperties: this.#isOpen([]),
    };
  }

  /** Tests of entities of another name, which this contract may not know. */
  #referrers(description: string): Schema {
    return { type: 'object', description, minProperties: 1, maxProperties: 1, additionalProperties: { type: 'object' } };
  }

  /** The members of the envelope, and the name of the entity. */
  #computed() {
    return this.#ruled.hasLabel ? { ...envelopeTypes, $label: 'string' as const } : envelopeTypes;
  }

  /** The name of each field that a list can be sorted by, and the same with `-` for descending. */
  sort(document: Schema): Schema {
    const { fields, isComplete } = this.#sortable(document);
    const names = [...fields, ...Object.keys(this.#computed())].flatMap((name) => [name, `-${name}`]);
    const known = { type: 'string', description: 'A field, `-` in front for descending, with dots into objects.', enum: names };
    if (isComplete && !this.#isOpen([])) return known;
    return {
      anyOf: [known, { type: 'string', description: 'A field that the type does not list.', minLength: 1, maxLength: maximumNameLength }],
    };
  }

  /** By breadth, so that a document with many levels gives its outer fields. */
  #sortable(document: Schema): { fields: string[]; isComplete: boolean } {
    const fields: string[] = [];
    const waiting: { schema: unknown; at: Field }[] = [{ schema: document, at: [] }];
    let visits = 0;
    for (const { schema, at } of waiting) {
      for (const [name, property] of this.#propertiesOf(schema)) {
        visits += 1;
        if (visits > maximumVisits || fields.length === maximumSorts) return { fields, isComplete: false };
        const field = [...at, name];
        const type = this.#types.typeOf(field);
        if (type === undefined || name === '' || name.includes('.') || /^[$-]/.test(name)) continue;
        if (type === 'object' && field.length < maximumDepth) waiting.push({ schema: property, at: field });
        else if (typeof type === 'string' && type !== 'object' && field.join('.').length < maximumNameLength) fields.push(field.join('.'));
      }
    }
    return { fields, isComplete: true };
  }

  #members(schema: unknown, at: Field): Schema {
    const properties = this.#propertiesOf(schema).flatMap(([name, property]): [string, unknown][] => {
      const field = [...at, name];
      const type = this.#types.typeOf(field);
      return type === undefined || name.startsWith('$') ? [] : [[name, this.#test(property, field, type)]];
    });
    return Object.fromEntries(properties);
  }

  #test(property: unknown, field: Field, type: FieldType): unknown {
    if (has(this.#ruled.references, field)) return this.#refer('ReferenceTest');
    if (has(this.#ruled.folded, field)) return this.#refer('FoldedTextTest');
    if (type === 'any' || type === 'folded') return referTo('FieldTest');
    const texts = this.#types.textsOf?.(field);
    if (type === 'enum') {
      this.used.add('OperandTest');
      return enumTest(texts);
    }
    if (typeof type !== 'string') return arrayTest(type.items, texts);
    return type === 'object' ? this.#nested(property, field) : this.#scalar(type);
  }

  /** The tests of the members of an object, or whether there is one. */
  #nested(property: unknown, field: Field): unknown {
    const target = this.#components.follow(property);
    if (!isSchemaObject(target)) return referTo('FieldTest');
    if (field.length === maximumDepth) return this.#refer('PresenceTest');
    // The component is made after this reference to it.
    const self: { $ref: string } = this.#components.component(target, 'Test', field.at(-1) ?? '', (schema) => ({
      description: 'The tests of members, or whether there is a value.',
      anyOf: [
        this.#refer('PresenceTest'),
        {
          type: 'object',
          minProperties: 1,
          properties: { ...this.#members(schema, field), ...combinationsOf(self) },
          additionalProperties: this.#isOpen(field),
        },
      ],
    }));
    return self;
  }

  /** Whether there may be fields that `properties` does not list. */
  #isOpen(at: Field): boolean {
    return this.#types.typeOf([...at, unlisted]) !== undefined;
  }

  #scalar(type: keyof typeof testNames): unknown {
    return this.#refer(testNames[type]);
  }

  #refer(test: SharedTest): unknown {
    this.used.add(test);
    this.used.add('OperandTest');
    return referTo(test);
  }

  /** The properties that the schema names, also in what it is composed of: the first one of each name. */
  #propertiesOf(schema: unknown): [string, unknown][] {
    const found = new Map<string, unknown>();
    const seen = new Set<unknown>();
    const visit = (part: unknown): void => {
      const followed = this.#components.follow(part);
      if (!isSchemaObject(followed) || seen.has(followed) || seen.size === maximumParts) return;
      seen.add(followed);
      const { properties, allOf, anyOf, oneOf, if: condition, then, else: otherwise } = followed;
      if (isSchemaObject(properties))
        for (const [name, property] of Object.entries(properties)) if (!found.has(name)) found.set(name, property);
      for (const parts of [allOf, anyOf, oneOf, [condition, then, otherwise]]) if (Array.isArray(parts)) parts.forEach(visit);
    };
    visit(schema);
    return [...found];
  }
}
