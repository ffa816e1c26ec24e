/** The draft of JSON Schema that a file is written in, as far as its keywords mean something else than in 2020-12. */
import { isSchemaObject } from '../subschemas.ts';

export interface Dialect {
  /** For people. */
  name: string;
  /** Keywords beside `$ref` count for nothing. */
  ignoresBesideRef: boolean;
  /** `id` is the address of a schema, which is `$id` in later drafts. */
  hasPlainId: boolean;
  /** `contains` evaluates no items for `unevaluatedItems`. */
  leavesContained: boolean;
}

const current: Dialect = { name: '2020-12', ignoresBesideRef: false, hasPlainId: false, leavesContained: false };

/** The dialect of a whole file; that of 2020-12 for one that does not name another. Undefined for draft 3 and what came before it. */
export function dialectOf(document: unknown): Dialect | undefined {
  const { $schema, openapi, swagger } = isSchemaObject(document) ? document : {};
  if (swagger !== undefined || String(openapi).startsWith('3.0')) return { ...current, name: 'OpenAPI 3.0', ignoresBesideRef: true };
  const draft = /draft-0(\d)\//.exec(String($schema))?.[1];
  if (draft !== undefined && Number(draft) < 4) return undefined;
  if (draft !== undefined) return { ...current, name: `draft ${draft}`, ignoresBesideRef: true, hasPlainId: draft === '4' };
  if (String($schema).includes('draft/2019-09/')) return { ...current, name: '2019-09', leavesContained: true };
  // A file without a draft may be of any.
  return { ...current, hasPlainId: $schema === undefined };
}

/** Whether the file is an OpenAPI document, which has many schemas and is none itself. */
export function isOpenApi(document: unknown): boolean {
  return isSchemaObject(document) && ('openapi' in document || 'swagger' in document);
}

/** The pointers of the schemas that an OpenAPI document names. */
export function schemaPointersIn(document: unknown): string[] {
  if (!isSchemaObject(document)) return [];
  const { components, definitions } = document;
  const named = isSchemaObject(components) ? components['schemas'] : undefined;
  return [
    ...Object.keys(isSchemaObject(named) ? named : {}).map((name) => `/components/schemas/${name}`),
    ...Object.keys(isSchemaObject(definitions) ? definitions : {}).map((name) => `/definitions/${name}`),
  ];
}
