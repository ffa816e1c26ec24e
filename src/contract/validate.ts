/** Validates values against the contract's schemas without changing them: no coercion, no defaults, no removal (security rule 72). */
import type { FastifySchemaCompiler } from 'fastify';
import type { SchemaError } from '../json-schema/types.ts';
import { compileSchema as compileJsonSchema } from '../json-schema/validator.ts';
import { formats } from './formats.ts';

/** Checks a value as Fastify expects it; `errors` has those of the latest value that it refused. */
interface RequestValidator {
  (value: unknown): boolean;
  errors?: SchemaError[];
}

/** The patterns of the contract are the service's own, so that V8 may test them. */
const compilePattern = (pattern: string) => new RegExp(pattern, 'u');

/** By schema: all routes of an operation in a process share its validator. */
const validators = new WeakMap<object, RequestValidator>();

/**
 * The compiler of Fastify's validation. Glue gives all recursive schemas the same `$id`. Fastify does not lower the case
 * of header names for a custom compiler.
 */
export const compileValidator: FastifySchemaCompiler<Record<string, unknown>> = ({ schema, httpPart }) => {
  const { $id: _, ...anonymous } = schema;
  const validator = validators.get(schema) ?? (httpPart === 'headers' ? compileHeaders(anonymous) : compileSchema(anonymous));
  validators.set(schema, validator);
  return validator as never;
};

function compileSchema(schema: object): RequestValidator {
  const validator = compileJsonSchema(schema, { compilePattern, formats });
  const validate: RequestValidator = (value) => {
    if (validator.accepts(value)) return true;
    validate.errors = validator.errorsOf(value);
    return false;
  };
  return validate;
}

/** Validates headers under the names of Node.js, and reports faults under the names of the contract. */
function compileHeaders(schema: HeadersSchema): RequestValidator {
  const validate = compileSchema(inLowerCase(schema));
  const names = Object.keys(schema.properties ?? {});
  const check: RequestValidator = (headers) => {
    const fits = validate(headers);
    check.errors = validate.errors ?? [];
    for (const error of check.errors) {
      const name = names.find((candidate) => `/${candidate.toLowerCase()}` === error.instancePath);
      if (name !== undefined) error.instancePath = `/${name}`;
    }
    return fits;
  };
  return check;
}

/** The schema with header names in lower case, as in Node.js. */
function inLowerCase({ properties = {}, required = [], ...schema }: HeadersSchema): HeadersSchema {
  const lower = Object.entries(properties).map(([name, property]) => [name.toLowerCase(), property]);
  return { ...schema, properties: Object.fromEntries(lower), required: required.map((name) => name.toLowerCase()) };
}

interface HeadersSchema extends Record<string, unknown> {
  properties?: Record<string, unknown>;
  required?: string[];
}
