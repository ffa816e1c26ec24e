/** The parts of a validator and of its reports. */

export type JsonSchema = Record<string, unknown>;

/** An error of one keyword at one place of the value. */
export interface SchemaError {
  keyword: string;
  /** A JSON pointer (RFC 6901) into the value. */
  instancePath: string;
  /** The keyword's value and what it refused, under the names that {@link https://ajv.js.org/api.html#error-parameters Ajv} uses. */
  params: Record<string, unknown>;
  /** The schema that has the keyword. */
  parentSchema?: object;
  /** Of `anyOf` and `oneOf`: the errors of each alternative. */
  alternatives?: SchemaError[][];
}

/** A format of texts or of numbers. */
export interface Format {
  kind: 'string' | 'number';
  fits: (value: never) => boolean;
  /** The order of two values that fit, for `formatMinimum` and its like: negative, 0 or positive; undefined if they have none. */
  compare?: (one: string, other: string) => number | undefined;
}

export interface ValidatorOptions {
  /** Makes a pattern of a schema; undefined if it is none that can be tested. */
  compilePattern: (pattern: string) => Pick<RegExp, 'test'> | undefined;
  formats: ReadonlyMap<string, Format>;
}

/** A part of a schema of which no check can be made: a pattern, a reference without a target, an unknown format. */
export interface SchemaFault {
  /** Member names and array indices from the root of the schema. */
  path: (string | number)[];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON pointer of a path (RFC 6901). */
export function pointerOf(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const step of path) pointer += `/${typeof step === 'number' ? step : step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return pointer;
}
