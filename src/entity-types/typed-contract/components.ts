/**
 * The document of a type as components of an OpenAPI document. A reference inside of the document becomes one to a component of its own, because
 * `#/$defs/address` would lead into the OpenAPI document. So recursive documents stay finite.
 */
import { isRegularExpression } from '../../contract/regular-expression.ts';
import { mapMembers, mapSubschemas, isSchemaObject, targetOf, walkSchemas, type Schema } from '../subschemas.ts';
import { labelsKeyword } from '../keywords/labels.ts';
import { pascalCase } from './names.ts';
import { referTo } from './tests.ts';

/** The subject of a component: fields, a merge patch of them, or their tests in a filter. */
export type Form = '' | 'Patch' | 'Test';

/** Keywords without a meaning for clients, or with another one inside of an OpenAPI document. */
const omitted = new Set(
  ['$schema', '$id', '$anchor', '$dynamicAnchor', '$vocabulary', '$comment', 'nullable'].concat([
    'formatMinimum',
    'formatMaximum',
    'formatExclusiveMinimum',
    'formatExclusiveMaximum',
  ]),
);

/** Keywords in which generators do not expect `true` and `false`. */
const shownAsObjects = new Set(['properties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', 'prefixItems']);

/** Examples of texts for formats that are the service's own: tools write a number for `int64`, which is refused. */
const exampleOf: Readonly<Record<string, string>> = { int64: '42', decimal: '12.50' };

export class Components {
  /** By name. */
  readonly schemas: Record<string, unknown> = {};
  readonly #document: Schema;
  readonly #base: string;
  readonly #names = new Map<Schema, Partial<Record<Form, string>>>();
  readonly #taken = new Set<string>();
  readonly #waiting: (() => void)[] = [];
  #anchors: ReadonlyMap<string, unknown> | undefined;

  /** `base` begins the names of all components. */
  constructor(document: Schema, base: string) {
    this.#document = document;
    this.#base = base;
  }

  /** What the schema refers to, and what that refers to; `true`, which accepts anything, for a circle of references. */
  follow(schema: unknown): unknown {
    let found = schema;
    for (let steps = 0; isSchemaObject(found) && referenceOf(found) !== undefined; steps += 1) {
      if (steps === 16) return true;
      found = this.#target(found);
    }
    return found;
  }

  /** The schema of fields, in the words of OpenAPI 3.1. */
  fields(schema: unknown): unknown {
    if (!isSchemaObject(schema)) return schema === false ? { not: {} } : {};
    const mapped = mapSubschemas(this.#plain(schema), (inner, [keyword = '']) =>
      typeof inner === 'boolean' && !shownAsObjects.has(keyword) ? inner : this.fields(inner),
    );
    const reference = this.#refer(schema, '', (target) => this.fields(target));
    return { ...reference, ...mapped };
  }

  /** The schema of a merge patch (RFC 7396) of such fields: null removes what is not required. It accepts all patches that may succeed. */
  patch(schema: unknown): unknown {
    if (!isSchemaObject(schema)) return this.fields(schema);
    const { allOf, anyOf, oneOf } = schema;
    const reference = this.#refer(schema, 'Patch', (target) => this.patch(target));
    const parts = Array.isArray(allOf) ? (allOf as unknown[]).map((part) => this.patch(part)) : [];
    const choices = [anyOf, oneOf].filter((list) => Array.isArray(list)).map((list: unknown[]) => list.map((choice) => this.patch(choice)));
    return {
      ...reference,
      ...this.#ownPatch(schema),
      ...(parts.length > 0 && { allOf: parts }),
      ...(choices.length > 0 && { anyOf: choices.flat() }),
    };
  }

  #ownPatch(schema: Schema): Schema {
    const { type, title, description, properties, patternProperties, additionalProperties, required } = this.#plain(schema);
    const isObject = valuesOf(schema)?.some(isSchemaObject) ?? (type === undefined || [type].flat().includes('object'));
    if (!isObject) {
      const { allOf: _all, anyOf: _any, oneOf: _one, $ref: _ref, $dynamicRef: _dynamic, ...own } = schema;
      return this.fields(own) as Schema;
    }
    const needed = new Set(Array.isArray(required) ? (required as unknown[]) : []);
    const member = (inner: unknown, name: string) => (needed.has(name) ? this.patch(inner) : orNull(this.patch(inner)));
    return {
      ...(type !== undefined && { type }),
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(isSchemaObject(properties) && { properties: mapMembers(properties, member) }),
      ...(isSchemaObject(patternProperties) && { patternProperties: mapMembers(patternProperties, (inner) => orNull(this.patch(inner))) }),
      ...(additionalProperties !== undefined && {
        additionalProperties: typeof additionalProperties === 'boolean' ? additionalProperties : orNull(this.patch(additionalProperties)),
      }),
    };
  }

  /** A reference to the component that `make` makes of an object, later and once. */
  component(target: Schema, form: Form, hint: string, make: (target: Schema) => unknown): { $ref: string } {
    const names = this.#names.get(target) ?? {};
    this.#names.set(target, names);
    return referTo((names[form] ??= this.#begin(this.#freeName(hint, form), () => make(target))));
  }

  /** The same for the document itself, under this name. */
  define(form: Form, name: string, make: () => unknown): void {
    this.#names.set(this.#document, { ...this.#names.get(this.#document), [form]: name });
    this.#begin(name, make);
  }

  /** Makes what has been referred to. One after the other, since references can lead further than a stack. */
  finish(): void {
    for (const make of this.#waiting) make();
    this.#waiting.length = 0;
  }

  #begin(name: string, make: () => unknown): string {
    this.schemas[name] = {};
    this.#waiting.push(() => (this.schemas[name] = make()));
    return name;
  }

  #refer(schema: Schema, form: Form, make: (target: unknown) => unknown): { $ref: string } | undefined {
    const reference = referenceOf(schema);
    if (reference === undefined) return undefined;
    const target = this.#target(schema);
    return isSchemaObject(target) ? this.component(target, form, reference.split('/').at(-1) ?? '', make) : undefined;
  }

  #target(schema: Schema): unknown {
    const reference = referenceOf(schema) ?? '';
    if (reference === '#' || reference.startsWith('#/')) return targetOf(this.#document, reference) ?? true;
    this.#anchors ??= anchorsOf(this.#document);
    return this.#anchors.get(reference.slice(1)) ?? true;
  }

  #freeName(hint: string, form: Form): string {
    const name = `${this.#base}_${pascalCase(hint) || 'Fields'}`;
    for (let number = 1; ; number += 1) {
      const candidate = `${name}${number === 1 ? '' : number}${form}`;
      if (this.#taken.has(candidate.toLowerCase())) continue;
      this.#taken.add(candidate.toLowerCase());
      return candidate;
    }
  }

  /** The schema without references, and without keywords that OpenAPI does not have or defines otherwise. */
  #plain(schema: Schema): Schema {
    const { $ref: _ref, $dynamicRef: _dynamic, ...rest } = schema;
    const kept = Object.entries(rest).filter(
      ([keyword]) => !omitted.has(keyword) && (keyword === labelsKeyword || !keyword.startsWith('x-')),
    );
    const plain: Schema = Object.fromEntries(kept);
    const { type, pattern, patternProperties } = plain;
    if (type === undefined && valuesOf(schema)?.every((value) => typeof value === 'string')) plain['type'] = 'string';
    if (schema['nullable'] === true && type !== undefined) plain['type'] = [...new Set([type, 'null'].flat())];
    const example = exampleOf[String(plain['format'])];
    const hasOwnExample = ['enum', 'const', 'default', 'example', 'examples'].some((keyword) => keyword in plain);
    if (example !== undefined && !hasOwnExample && [plain['type']].flat().includes('string')) plain['examples'] = [example];
    // Patterns of callers are those of RE2, and OpenAPI has those of ECMAScript.
    if (typeof pattern === 'string' && !isRegularExpression(pattern)) delete plain['pattern'];
    if (isSchemaObject(patternProperties) && !Object.keys(patternProperties).every(isRegularExpression)) {
      plain['patternProperties'] = Object.fromEntries(Object.entries(patternProperties).filter(([name]) => isRegularExpression(name)));
      delete plain['additionalProperties'];
    }
    return plain;
  }
}

/** A schema of the same values and null. What accepts null already, and what is no object, stays as it is. */
export function orNull(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema;
  const { type, enum: values } = schema;
  if (Object.keys(schema).length === 0 || (Array.isArray(type) && type.includes('null'))) return schema;
  const isPlain = type !== undefined && !['$ref', 'const', 'allOf', 'anyOf', 'oneOf', 'not', 'if'].some((keyword) => keyword in schema);
  return isPlain
    ? { ...schema, type: [type, 'null'].flat(), ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }) }
    : { anyOf: [schema, { type: 'null' }] };
}

/** The only values that the schema accepts; undefined if it lists none. */
function valuesOf(schema: Schema): unknown[] | undefined {
  const { enum: values } = schema;
  return Array.isArray(values) ? (values as unknown[]) : 'const' in schema ? [schema['const']] : undefined;
}

function referenceOf({ $ref, $dynamicRef }: Schema): string | undefined {
  return typeof $ref === 'string' ? $ref : typeof $dynamicRef === 'string' ? $dynamicRef : undefined;
}

function anchorsOf(document: Schema): ReadonlyMap<string, unknown> {
  const anchors = new Map<string, unknown>();
  walkSchemas(document, 32, (schema) => {
    if (!isSchemaObject(schema)) return;
    for (const keyword of ['$anchor', '$dynamicAnchor'] as const) {
      const name = schema[keyword];
      if (typeof name === 'string') anchors.set(name, schema);
    }
  });
  return anchors;
}
