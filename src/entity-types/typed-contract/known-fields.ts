/** The document of a type for a caller who may not know each field of it: one that a type without these fields could have too. */
import { otherFields } from '../../rights/field-set.ts';
import { fieldTypesOf } from '../field-types.ts';
import { isSchemaObject, targetOf, type Schema } from '../subschemas.ts';

/** The fields that stay. */
export interface KnownFields {
  /** Whether the field stays; asked with {@link otherFields} for fields that the document does not name. */
  has: (name: string) => boolean;
  /** Whether the field stays required, if the document requires it. */
  requires: (name: string) => boolean;
}

/** The most schemas that the fields of one document come from. */
const maximumParts = 100;

/**
 * The document with the known fields. It has no keyword that concerns the whole entity besides `properties`, `required` and `additionalProperties`: each other
 * one, and the description, could tell of hidden fields. So it accepts more than the type, and never less.
 */
export function documentWith(document: Schema, { has, requires }: KnownFields): Schema {
  const parts = partsOf(document);
  const names = new Set(parts.flatMap(({ properties }) => Object.keys(properties)).filter((name) => has(name)));
  const required = new Set(parts.flatMap((part) => (part.isInForce ? part.required : [])).filter((name) => has(name) && requires(name)));
  const { title, $defs, definitions } = document;
  return {
    ...(title !== undefined && { title }),
    type: 'object',
    ...(names.size > 0 && { properties: Object.fromEntries([...names].map((name) => [name, schemaOfField(parts, name)])) }),
    ...(required.size > 0 && { required: [...required] }),
    additionalProperties: has(otherFields) && isOpen(document),
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

interface DocumentPart {
  properties: Schema;
  required: string[];
  /** Whether each entity fulfils the part. */
  isInForce: boolean;
}

/** The schemas that apply to the entity as a whole. */
function partsOf(document: Schema): DocumentPart[] {
  const parts: DocumentPart[] = [];
  const seen = new Set<unknown>();
  const visit = (schema: unknown, isInForce: boolean): void => {
    if (!isSchemaObject(schema) || seen.has(schema) || seen.size === maximumParts) return;
    seen.add(schema);
    const { $ref, properties, required, allOf, anyOf, oneOf, if: condition, then, else: otherwise, dependentSchemas } = schema;
    parts.push({
      properties: isSchemaObject(properties) ? properties : {},
      required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
      isInForce,
    });
    if (typeof $ref === 'string') visit(targetOf(document, $ref), isInForce);
    if (Array.isArray(allOf)) allOf.forEach((part) => visit(part, isInForce));
    const inSomeCases = [anyOf, oneOf, [condition, then, otherwise], isSchemaObject(dependentSchemas) && Object.values(dependentSchemas)];
    for (const list of inSomeCases) if (Array.isArray(list)) list.forEach((part) => visit(part, false));
  };
  visit(document, true);
  return parts;
}

/** The schema that each value of the field fulfils; anything if the document says that in some cases alone. */
function schemaOfField(parts: readonly DocumentPart[], name: string): unknown {
  const schemas = parts.flatMap(({ properties, isInForce }) => (isInForce && Object.hasOwn(properties, name) ? [properties[name]] : []));
  return schemas.length > 1 ? { allOf: schemas } : (schemas[0] ?? {});
}

function isOpen(document: Schema): boolean {
  return 'patternProperties' in document || fieldTypesOf(document).typeOf([otherFields]) !== undefined;
}
