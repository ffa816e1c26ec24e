/** Walks the schemas of a JSON Schema (2020-12). It accepts any JSON value, also one that is no schema. */
import { pointerTo } from '../problems/pointer.ts';

export type Schema = Record<string, unknown>;

/** The most schemas inside each other in a document. */
export const deepestSchema = 32;

/** A schema inside another one, or what stands in its place. */
export interface Subschema {
  schema: unknown;
  /** Member names and array indices from the schema around it. */
  path: string[];
}

const single = new Set([
  'not',
  'if',
  'then',
  'else',
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'items',
  'contains',
  'unevaluatedItems',
]);
const listed = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
/** `$defs` and `definitions` apply nothing by themselves. */
const definitions = new Set(['$defs', 'definitions']);
const named = new Set(['properties', 'patternProperties', 'dependentSchemas', ...definitions]);
/** The keywords that contain schemas. Ajv also applies those of `dependencies` and `$recursiveRef`, which are not keywords of 2020-12. */
export const schemaKeywords: ReadonlySet<string> = new Set([...single, ...listed, ...named]);

export function isSchemaObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const typeNames: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** The types that the keyword `type` names; undefined without it, and where a stored document has a value that names no types. */
export function typeNamesOf({ type }: Schema): readonly string[] | undefined {
  const names: unknown[] = [type].flat();
  return names.length > 0 && names.every((name) => typeof name === 'string' && typeNames.includes(name)) ? names.map(String) : undefined;
}

/** The schemas directly inside `schema`; without those that only `$ref` applies, if `applied` is true. */
export function subschemasOf(schema: Schema, applied = false): Subschema[] {
  return Object.entries(schema).flatMap(([keyword, value]): Subschema[] => {
    if (single.has(keyword)) return [{ schema: value, path: [keyword] }];
    if (listed.has(keyword) && Array.isArray(value))
      return value.map((each: unknown, index) => ({ schema: each, path: [keyword, String(index)] }));
    if (named.has(keyword) && isSchemaObject(value) && !(applied && definitions.has(keyword)))
      return Object.entries(value).map(([name, each]) => ({ schema: each, path: [keyword, name] }));
    return [];
  });
}

/** A copy of `schema` in which `map` has replaced each schema directly inside of it, and which has no definitions. */
export function mapSubschemas(schema: Schema, map: (schema: unknown, path: string[]) => unknown): Schema {
  const mapped = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (definitions.has(keyword)) return [];
    if (single.has(keyword)) return [[keyword, map(value, [keyword])]];
    if (listed.has(keyword) && Array.isArray(value))
      return [[keyword, value.map((each: unknown, index) => map(each, [keyword, String(index)]))]];
    if (named.has(keyword) && isSchemaObject(value)) return [[keyword, mapMembers(value, (each, name) => map(each, [keyword, name]))]];
    return [[keyword, value]];
  });
  return Object.fromEntries(mapped);
}

/** A copy of the object with other values. */
export function mapMembers<T>(members: Record<string, T>, map: (value: T, name: string) => unknown): Schema {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value, name)]));
}

/**
 * Calls `visit` with every schema of the document and its pointer, from the root down, to the depth `deepest`; false if there are deeper
 * ones.
 */
export function walkSchemas(document: Schema, deepest: number, visit: (schema: unknown, pointer: string) => void): boolean {
  let complete = true;
  const walk = (schema: unknown, path: string[], depth: number) => {
    visit(schema, pointerTo(path));
    if (!isSchemaObject(schema)) return;
    const inner = subschemasOf(schema);
    if (depth === deepest && inner.length > 0) complete = false;
    else for (const each of inner) walk(each.schema, [...path, ...each.path], depth + 1);
  };
  walk(document, [], 1);
  return complete;
}

/** What the reference `#` or `#/…` leads to; undefined when that is nothing. */
export function targetOf(document: Schema, reference: string): unknown {
  const [root, ...steps] = reference.split('/');
  if (root !== '#') return undefined;
  return steps.reduce<unknown>((node, step) => {
    const name = decodeStep(step);
    return typeof node === 'object' && node !== null && name !== undefined && Object.hasOwn(node, name)
      ? (node as Schema)[name]
      : undefined;
  }, document);
}

function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
