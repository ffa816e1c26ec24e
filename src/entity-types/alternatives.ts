/**
 * The alternatives that a schema allows for one value: a value that fits the schema fits all schemas of one of them. `allOf`, `anyOf`,
 * `oneOf`, `if` and `$ref` are taken apart. A keyword that is not read (`not`, `dependentSchemas`, a reference in a circle) leaves more values than
 * fit, never fewer.
 */
import { isSchemaObject, targetOf, typeNamesOf, type Schema } from './subschemas.ts';

/** Schemas that apply to the same value. Without any, every value fits. */
export type Alternative = readonly Schema[];

/** The most alternatives of one value. With more, every value counts as one that fits. */
const maximumAlternatives = 64;

/** Stands for what is not read. */
const unread: Schema = {};
const anything: readonly Alternative[] = [[unread]];

/** The keywords through which a schema may evaluate members that its alternatives do not show. */
const unreadKeywords = ['dependentSchemas', '$dynamicRef'] as const;

/** The members of an object for which one of several alternatives holds. */
interface ObjectMembers {
  /** The names that `properties` has. */
  named: ReadonlySet<string>;
  /** The alternatives of any other member, once they are read. */
  others: readonly Alternative[] | undefined;
}

export class AlternativesReader {
  readonly #root: Schema;
  readonly #known = new Map<Schema, readonly Alternative[]>();
  readonly #members = new WeakMap<readonly Alternative[], ObjectMembers>();
  readonly #numbers = new Map<unknown, number>();

  constructor(root: Schema) {
    this.#root = root;
  }

  /** The alternatives of a value that `schema` applies to; none if no value fits. */
  alternativesOf(schema: unknown): readonly Alternative[] {
    if (!isSchemaObject(schema)) return schema === false ? [] : [[]];
    const known = this.#known.get(schema);
    if (known) return known;
    // A reference in a circle meets its own schema.
    this.#known.set(schema, anything);
    const read = this.#read(schema);
    this.#known.set(schema, read);
    return read;
  }

  /** The alternatives of the member `name` of an object for which one of `alternatives` holds; none if no object has the member. */
  membersOf(alternatives: readonly Alternative[], name: string): readonly Alternative[] {
    const members = this.#members.get(alternatives) ?? { named: namesIn(alternatives), others: undefined };
    this.#members.set(alternatives, members);
    if (members.named.has(name)) return this.#memberAlternatives(alternatives, name);
    return (members.others ??= this.#memberAlternatives(alternatives, name));
  }

  #memberAlternatives(alternatives: readonly Alternative[], name: string): readonly Alternative[] {
    // Most alternatives say the same of most members.
    const distinct = new Map<string, readonly unknown[]>();
    for (const alternative of alternatives) {
      if (!mayBeObject(alternative)) continue;
      const schemas = schemasOfMember(alternative, name);
      distinct.set(schemas.map((schema) => this.#numberOf(schema)).join(), schemas);
    }
    return this.#either([...distinct.values()].map((schemas) => this.#all(schemas)));
  }

  /**
   * The alternatives of an item of an array for which one of `alternatives` holds. They are not read if the first items have schemas of
   * their own.
   */
  itemsOf(alternatives: readonly Alternative[]): readonly Alternative[] {
    return this.#either(
      alternatives.map((alternative) =>
        alternative.some((schema) => 'prefixItems' in schema)
          ? anything
          : this.#all(alternative.flatMap((schema) => ('items' in schema ? [schema['items']] : []))),
      ),
    );
  }

  #read(schema: Schema): readonly Alternative[] {
    const { $ref, allOf, anyOf, oneOf } = schema;
    const applied: (readonly Alternative[])[] = [[[schema]]];
    if (typeof $ref === 'string') applied.push(this.#referred($ref));
    if (Array.isArray(allOf)) applied.push(...allOf.map((each) => this.alternativesOf(each)));
    for (const choices of [anyOf, oneOf])
      if (Array.isArray(choices)) applied.push(this.#either(choices.map((each) => this.alternativesOf(each))));
    if ('if' in schema && ('then' in schema || 'else' in schema)) {
      const then = this.#both(this.alternativesOf(schema['if']), this.alternativesOf(schema['then']));
      applied.push(this.#either([then, this.alternativesOf(schema['else'])]));
    }
    return applied.reduce((one, other) => this.#both(one, other));
  }

  #referred(reference: string): readonly Alternative[] {
    const target = targetOf(this.#root, reference);
    return target === undefined ? anything : this.alternativesOf(target);
  }

  #all(schemas: readonly unknown[]): readonly Alternative[] {
    return schemas.map((each) => this.alternativesOf(each)).reduce((one, other) => this.#both(one, other), [[]]);
  }

  /** The alternatives of a value for which one of `some` and one of `others` hold. */
  #both(some: readonly Alternative[], others: readonly Alternative[]): readonly Alternative[] {
    if (some.length * others.length > maximumAlternatives) return some.map((one) => [...one, unread]);
    return this.#different(some.flatMap((one) => others.map((other) => [...one, ...other])));
  }

  #either(lists: readonly (readonly Alternative[])[]): readonly Alternative[] {
    const different = this.#different(lists.flat());
    return different.length > maximumAlternatives ? anything : different;
  }

  #different(alternatives: readonly Alternative[]): readonly Alternative[] {
    const byKey = new Map<string, Alternative>();
    for (const alternative of alternatives) {
      const schemas = [...new Set(alternative)];
      byKey.set(schemas.map((schema) => this.#numberOf(schema)).join(), schemas);
    }
    return [...byKey.values()];
  }

  #numberOf(schema: unknown): number {
    const number = this.#numbers.get(schema) ?? this.#numbers.size;
    this.#numbers.set(schema, number);
    return number;
  }
}

/** Whether a schema of an alternative says something of the member, and does not just leave open that an object has it. */
export function mentionsMember(alternatives: readonly Alternative[], name: string): boolean {
  return alternatives.flat().some((schema) => {
    const { additionalProperties = true, unevaluatedProperties = true } = schema;
    return hasProperty(schema, name) || 'patternProperties' in schema || additionalProperties !== true || unevaluatedProperties !== true;
  });
}

function namesIn(alternatives: readonly Alternative[]): ReadonlySet<string> {
  const schemas = new Set(alternatives.flat());
  return new Set([...schemas].flatMap(({ properties }) => (isSchemaObject(properties) ? Object.keys(properties) : [])));
}

/** Whether an object can fit all schemas of the alternative, as far as `type` says. */
function mayBeObject(alternative: Alternative): boolean {
  return alternative.every((schema) => typeNamesOf(schema)?.includes('object') ?? true);
}

function schemasOfMember(alternative: Alternative, name: string): unknown[] {
  const own = alternative.flatMap((schema): unknown[] => {
    const { properties, additionalProperties } = schema;
    if (hasProperty(schema, name)) return [(properties as Schema)[name]];
    // A pattern may match the name.
    if ('patternProperties' in schema) return [unread];
    return additionalProperties === undefined ? [] : [additionalProperties];
  });
  if (own.length > 0) return own;
  const isRead = !alternative.some((schema) => schema === unread || unreadKeywords.some((keyword) => keyword in schema));
  return isRead ? alternative.flatMap((schema) => ('unevaluatedProperties' in schema ? [schema['unevaluatedProperties']] : [])) : own;
}

function hasProperty({ properties }: Schema, name: string): boolean {
  return isSchemaObject(properties) && Object.hasOwn(properties, name);
}
