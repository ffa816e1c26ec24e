/**
 * How much work a schema with references can make. Without a limit a short document describes exponential work: each of forty definitions can
 * refer twice to the next one.
 */
import { isSchemaObject, subschemasOf, targetOf, type Schema } from './subschemas.ts';

export type Expansion = { size: number } | { recursiveReference: string };

/**
 * The number of schemas and enum values after each reference is replaced by what it refers to; counting stops beyond `limit`. Or the first reference that leads
 * back to itself.
 */
export function expansionOf(document: Schema, limit: number): Expansion {
  let size = 0;
  const followed = new Set<string>();
  const expand = (schema: unknown): string | undefined => {
    size += 1;
    if (!isSchemaObject(schema) || size > limit) return undefined;
    if (Array.isArray(schema['enum'])) size += schema['enum'].length;
    const { $ref } = schema;
    if (typeof $ref === 'string') {
      if (followed.has($ref)) return $ref;
      followed.add($ref);
      const recursive = expand(targetOf(document, $ref));
      followed.delete($ref);
      if (recursive !== undefined) return recursive;
    }
    for (const each of subschemasOf(schema, true)) {
      const recursive = expand(each.schema);
      if (recursive !== undefined) return recursive;
    }
    return undefined;
  };
  const recursiveReference = expand(document);
  return recursiveReference === undefined ? { size } : { recursiveReference };
}
