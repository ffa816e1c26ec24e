/** How a keyword becomes a check. */
import type { SchemaCheck } from './run.ts';
import type { Format, JsonSchema } from './types.ts';

/** The JSON type of a value, as keywords distinguish them. */
export type Kind = 'number' | 'string' | 'array' | 'object' | 'other';

/** A keyword. `kind` is the type of the values that it tests; `check` is not called with others. */
export interface Keyword {
  kind: Kind | 'any';
  /** The check for the keyword's value; undefined if it tests nothing. */
  check(value: never, place: KeywordPlace): SchemaCheck | undefined;
}

/** The schema around a keyword, and what its check is made with. */
export interface KeywordPlace {
  schema: JsonSchema;
  /** The check of a schema inside the keyword, at `steps` from there. */
  inner: (schema: unknown, ...steps: (string | number)[]) => SchemaCheck;
  /** The check of a schema that another keyword of this schema has. */
  sibling: (keyword: string) => SchemaCheck | undefined;
  /** The check of the schema that the reference leads to. */
  referred: (reference: string) => SchemaCheck;
  /** The pattern; undefined, with a fault of the schema, if it cannot be made. */
  pattern: (pattern: string, ...steps: string[]) => Pick<RegExp, 'test'> | undefined;
  /** The patterns of `patternProperties` in this schema that can be made. */
  patternsBeside: () => Pick<RegExp, 'test'>[];
  /** The format; undefined, with a fault of the schema, if there is none of the name. */
  format: (name: string) => Format | undefined;
  /** Reports that the keyword's value, or what is at `steps` in it, can be no check; always undefined. */
  refuse: (...steps: string[]) => undefined;
}

/** The kind of a JSON value. */
export function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'number';
    case 'object':
      return value === null ? 'other' : Array.isArray(value) ? 'array' : 'object';
    default:
      return 'other';
  }
}
