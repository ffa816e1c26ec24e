/**
 * Checks values against the contract's schemas, changing none of them: no coercion, no defaults, no removal (security rule 72), and turns
 * what Ajv finds into faults.
 */
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import ajvFormats from 'ajv-formats';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { isInt64 } from '../entities/key.ts';
import { Problem, type Fault } from '../errors.ts';

/** An Ajv that reads OpenAPI 3.1 schemas. */
export function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: false, validateFormats: true });
  // ajv-formats is CommonJS whose types describe the default export as a namespace.
  (ajvFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addVocabulary(['example', 'discriminator', 'xml', 'externalDocs']);
  ajv.addFormat('int64', { type: 'string', validate: isInt64 });
  ajv.addFormat('password', true);
  return ajv;
}

const ajv = createAjv();
/** By the schema: wherever a process serves an operation, it checks with the same. */
const validators = new WeakMap<object, Validator>();

/**
 * The compiler behind Fastify's validation. Glue gives recursive schemas all the same `$id`, which Ajv would refuse, and Fastify leaves the
 * names of headers to a compiler of one's own.
 */
export const compileValidator: FastifySchemaCompiler<Record<string, unknown>> = ({ schema, httpPart }) => {
  const { $id: _, ...anonymous } = schema;
  const validator = validators.get(schema) ?? (httpPart === 'headers' ? compileHeaders(anonymous) : (ajv.compile(anonymous) as Validator));
  validators.set(schema, validator);
  return validator as never;
};

/** Checks headers under the names that Node gives them, and says what is wrong under those that the contract gives them. */
function compileHeaders(schema: HeadersSchema): Validator {
  const validate = ajv.compile(inLowerCase(schema));
  const names = Object.keys(schema.properties ?? {});
  const check: Validator = (headers) => {
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

interface Validator {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null;
}

/** The schema with header names as Node has them. */
function inLowerCase({ properties = {}, required = [], ...schema }: HeadersSchema): HeadersSchema {
  const lower = Object.entries(properties).map(([name, property]) => [name.toLowerCase(), property]);
  return { ...schema, properties: Object.fromEntries(lower), required: required.map((name) => name.toLowerCase()) };
}

interface HeadersSchema extends Record<string, unknown> {
  properties?: Record<string, unknown>;
  required?: string[];
}

/**
 * The problem for what Ajv found in `context` (`params`, `querystring`, `headers`, `form` or `body`): 400 for parameters and forms, 422 for JSON,
 * which is well-formed by then.
 */
export function faultsOf(found: readonly FastifySchemaValidationError[], context: string): Problem {
  const faults = found.map((error) => faultOf(error, context));
  const [first] = faults;
  if (context === 'params' && first?.parameter === 'key') return new Problem('invalid-key', { faults });
  return new Problem(context === 'body' ? 'validation-failed' : 'malformed-request', { faults });
}

function faultOf({ keyword, instancePath, params }: FastifySchemaValidationError, context: string): Fault {
  const member = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'];
  const pointer = typeof member === 'string' ? `${instancePath}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}` : instancePath;
  const where = context === 'body' || context === 'form' ? { pointer } : { parameter: pointer.slice(1) };
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return { ...where, code: 'required' };
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return { ...where, code: 'unknown' };
    case 'type':
      return { ...where, code: 'invalid-type', values: { allowed: String(params['type']) } };
    case 'enum':
      return { ...where, code: 'invalid-value', values: { allowed: (params['allowedValues'] as unknown[]).map(show).join(', ') } };
    case 'const':
      return { ...where, code: 'invalid-value', values: { allowed: show(params['allowedValue']) } };
    case 'minimum':
      return { ...where, code: 'invalid-value', values: { minimum: limit } };
    case 'maximum':
      return { ...where, code: 'invalid-value', values: { maximum: limit } };
    case 'minLength':
      return { ...where, code: 'too-short', values: { minimum: limit } };
    case 'maxLength':
      return { ...where, code: 'too-long', values: { maximum: limit } };
    default:
      return { ...where, code: 'invalid-value' };
  }
}

const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
