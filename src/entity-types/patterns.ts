/** The patterns of a document, and what compiling them costs. */
import { patternCostOf } from '../sandbox/pattern-cost.ts';
import { deepestSchema, isSchemaObject, walkSchemas, type Schema } from './subschemas.ts';

/** What the patterns of a document may cost: see `PatternCost`. It is about 0.1 s. */
export const maximumPatternCost = 20_000;

/** The different patterns, each with the pointer of the first keyword that has it. */
export function patternsIn(document: Schema): ReadonlyMap<string, string> {
  const pointers = new Map<string, string>();
  walkSchemas(document, deepestSchema, (schema, pointer) => {
    for (const { keyword, pattern } of patternsOf(schema)) if (!pointers.has(pattern)) pointers.set(pattern, `${pointer}/${keyword}`);
  });
  return pointers;
}

/** The patterns that the schema itself has. */
export function patternsOf(schema: unknown): { keyword: 'pattern' | 'patternProperties'; pattern: string }[] {
  if (!isSchemaObject(schema)) return [];
  const { pattern, patternProperties } = schema;
  const names = isSchemaObject(patternProperties) ? Object.keys(patternProperties) : [];
  return [
    ...(typeof pattern === 'string' ? [{ keyword: 'pattern' as const, pattern }] : []),
    ...names.map((name) => ({ keyword: 'patternProperties' as const, pattern: name })),
  ];
}

/** The pointer of the pattern with which the patterns of the document cost too much; undefined if they do not. Compiles none of them. */
export function costlyPatternIn(document: Schema): string | undefined {
  let cost = 0;
  for (const [pattern, pointer] of patternsIn(document)) {
    cost += patternCostOf(pattern).compiling;
    if (cost > maximumPatternCost) return pointer;
  }
  return undefined;
}
