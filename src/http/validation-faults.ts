/** Converts the errors of Ajv into the faults of a problem. */
import type { FastifySchemaValidationError } from 'fastify';
import { Problem, type Fault } from '../errors.ts';

/**
 * The problem for Ajv's errors in `context` (`params`, `querystring`, `headers`, `form` or `body`): 400 for parameters and forms, 422 for
 * JSON, which is well-formed by then.
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
