/**
 * Checks values against the contract's schemas, changing none of them: no coercion, no defaults, no removal (security rule 72), and turns
 * what Ajv finds into faults.
 */
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import ajvFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
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

/** The compiler behind Fastify's validation. Glue gives recursive schemas all the same `$id`, which Ajv would refuse. */
export function validatorCompiler(): FastifySchemaCompiler<Record<string, unknown>> {
  const ajv = createAjv();
  return ({ schema: { $id: _, ...schema } }) => ajv.compile(schema) as never;
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
  const missing =
    keyword === 'required' ? params['missingProperty'] : keyword === 'additionalProperties' ? params['additionalProperty'] : undefined;
  const pointer = typeof missing === 'string' ? `${instancePath}/${missing.replaceAll('~', '~0').replaceAll('/', '~1')}` : instancePath;
  const where = context === 'body' || context === 'form' ? { pointer } : { parameter: pointer.slice(1) };
  switch (keyword) {
    case 'required':
      return { ...where, code: 'required' };
    case 'additionalProperties':
      return { ...where, code: 'unknown' };
    case 'type':
      return { ...where, code: 'invalid-type', values: { allowed: String(params['type']) } };
    case 'enum':
      return { ...where, code: 'invalid-value', values: { allowed: (params['allowedValues'] as unknown[]).join(', ') } };
    case 'minLength':
      return { ...where, code: 'too-short', values: { minimum: Number(params['limit']) } };
    case 'maxLength':
      return { ...where, code: 'too-long', values: { maximum: Number(params['limit']) } };
    case 'minimum':
      return { ...where, code: 'invalid-value', values: { minimum: Number(params['limit']) } };
    case 'maximum':
      return { ...where, code: 'invalid-value', values: { maximum: Number(params['limit']) } };
    default:
      return { ...where, code: 'invalid-value' };
  }
}
