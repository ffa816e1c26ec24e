/**
 * How much work a schema with references can make. Without a limit a short document describes exponential work: each of forty definitions
 * can refer twice to the next one.
 */
import { linearPatternSize } from '../sandbox/linear-pattern.ts';
import { patternsOf } from './patterns.ts';
import { isSchemaObject, subschemasOf, targetOf, type Schema } from './subschemas.ts';

const scalarTypes = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'null']);

export type Expansion = Costs | { recursiveReference: string };

interface Costs {
  /** Schemas and enum values. A pattern counts as four schemas: compiling takes quadratic time, for a pattern four times as much. */
  size: number;
  /**
   * An upper bound of the work for one value. It adds the instructions of all patterns that test it, and 1 for each other keyword that
   * reads a whole text. Each `multipleOf` adds 10, and each `uniqueItems` of 1,000 objects adds 100.
   */
  work: number;
  /** An upper bound of the schemas that apply to one value. */
  applied: number;
}

/**
 * The costs of a document after each reference is replaced by what it refers to; counting stops beyond the size `limit`. Or the first
 * reference that leads back to itself.
 */
export function expansionOf(document: Schema, limit: number): Expansion {
  let size = 0;
  let recursiveReference: string | undefined;
  const followed = new Set<string>();
  const costsOf = (schema: unknown): Omit<Costs, 'size'> => {
    size += 1;
    if (!isSchemaObject(schema) || size > limit || recursiveReference !== undefined) return { work: 0, applied: 1 };
    if (Array.isArray(schema['enum'])) size += schema['enum'].length;
    const patterns = patternsOf(schema);
    let work = patterns.reduce((sum, { pattern }) => sum + (linearPatternSize(pattern)?.size ?? 0), ownWork(schema));
    let applied = 1;
    const add = (inner: ReturnType<typeof costsOf>) => {
      work += inner.work;
      applied += inner.applied;
    };
    size += patterns.length * 4;
    const { $ref } = schema;
    if (typeof $ref === 'string') {
      if (followed.has($ref)) recursiveReference ??= $ref;
      else {
        followed.add($ref);
        add(costsOf(targetOf(document, $ref)));
        followed.delete($ref);
      }
    }
    // A value belongs to one of the properties, while several other subschemas may apply to it.
    const property = { work: 0, applied: 0 };
    for (const { schema: inner, path } of subschemasOf(schema, true)) {
      const costs = costsOf(inner);
      if (path[0] !== 'properties') add(costs);
      else Object.assign(property, { work: Math.max(property.work, costs.work), applied: Math.max(property.applied, costs.applied) });
    }
    add(property);
    return { work, applied };
  };
  const costs = costsOf(document);
  return recursiveReference === undefined ? { size, ...costs } : { recursiveReference };
}

function ownWork(schema: Schema): number {
  const texts = ['minLength', 'maxLength', 'format'].filter((keyword) => Object.hasOwn(schema, keyword)).length;
  const compared = schema['uniqueItems'] === true && !hasScalarItems(schema) ? Number(schema['maxItems']) : 0;
  const divided = Object.hasOwn(schema, 'multipleOf') ? 10 : 0;
  return texts + divided + (compared / 1_000) ** 2 * 100;
}

/** Whether `items` accepts scalars alone, so that `uniqueItems` reads no objects and arrays. */
export function hasScalarItems({ items }: Schema): boolean {
  return isSchemaObject(items) && items['type'] !== undefined && [items['type']].flat().every((type) => scalarTypes.has(type));
}
