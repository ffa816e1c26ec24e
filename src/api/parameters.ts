/**
 * Query parameters, read as strictly as forms: unknown, repeated and badly encoded ones are refused (design, section 5). Their values are
 * checked by the validator.
 */
import type { FastifyRequest } from 'fastify';
import { Problem, type Fault } from '../errors.ts';
import type { Operation } from './contract.ts';
import { readPairs } from './form.ts';

const faultsInQuery = Symbol('faults');

/** Fastify's `querystringParser`: must not throw, so what is wrong travels with the result. */
export function readQuery(text: string): Record<string, unknown> {
  const { values, faults } = readPairs(text, 'parameter');
  return faults.length > 0 ? Object.defineProperty(values, faultsInQuery, { value: faults }) : values;
}

/** Throws 400 for a query that cannot be decoded, repeats a parameter, or has one that `operation` does not declare. */
export function refuseUnknownParameters(request: FastifyRequest, operation: Operation): void {
  const query = request.query as Record<string, unknown> & { [faultsInQuery]?: Fault[] };
  const declared = operation.parameters.filter((parameter) => parameter.in === 'query');
  const unknown = Object.keys(query)
    .filter((name) => !declared.some((parameter) => parameter.name === name))
    .map((parameter): Fault => ({ parameter, code: 'unknown' }));
  const faults = [...(query[faultsInQuery] ?? []), ...unknown];
  if (faults.length > 0) throw new Problem('malformed-request', { faults });
}
