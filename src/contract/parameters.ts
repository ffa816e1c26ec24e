/**
 * Query parameters, read as strictly as forms: unknown, repeated and badly encoded ones are refused (rule 69). The validator checks their
 * values.
 */
import type { FastifyRequest } from 'fastify';
import { Problem } from '../problems/errors.ts';
import { maximumFaults, type Fault } from '../problems/faults.ts';
import type { Operation } from './contract.ts';
import { expectedOneOf } from '../problems/expected.ts';
import { readPairs } from '../http/form.ts';
import { parameterPlace } from '../problems/pointer.ts';
import { dryRunOf } from '../http/prefer.ts';

const faultsInQuery = Symbol('faults');

/** Fastify's `querystringParser`. It must not throw, so the result contains the faults. */
export function readQuery(text: string): Record<string, unknown> {
  if (text === '') return Object.create(null) as Record<string, never>;
  const { values, faults } = readPairs(text, 'parameter');
  return faults.length > 0 ? Object.defineProperty(values, faultsInQuery, { value: faults }) : values;
}

/** The names of the query parameters that the operation declares; undefined if it always ignores undeclared ones. */
export function queryParametersOf({ parameters, ignoresUnknownParameters }: Operation): ReadonlySet<string> | undefined {
  return ignoresUnknownParameters === true
    ? undefined
    : new Set(parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name));
}

/**
 * Whether the operation must refuse `Prefer: dry-run`, which it does not know and may ignore by RFC 7240 section 2. A caller who asks for a dry run
 * must not find that it was a change.
 */
export function refusesDryRun({ method, parameters }: Operation): boolean {
  return method !== 'get' && !parameters.some(({ name }) => name === 'Prefer');
}

/** Throws 400 for the preference `dry-run`. */
export function refuseDryRun({ headers }: FastifyRequest): void {
  if (dryRunOf(String(headers['prefer'] ?? '')) !== undefined)
    throw new Problem('malformed-request', { faults: [{ parameter: 'Prefer', code: 'not-supported' }] });
}

/**
 * Throws 400 for a query that cannot be decoded, that repeats a parameter, or that has a parameter outside `declared`, if given. With the
 * parameter `unless` in the query, undeclared ones are ignored.
 */
export function refuseUnknownParameters(request: FastifyRequest, declared: ReadonlySet<string> | undefined, unless?: string): void {
  const query = request.query as Record<string, unknown> & { [faultsInQuery]?: Fault[] };
  const faults = [...(query[faultsInQuery] ?? [])];
  const isChecked = declared && (unless === undefined || !Object.hasOwn(query, unless));
  const unknown = isChecked ? Object.keys(query).filter((name) => !declared.has(name)) : [];
  if (declared && unknown.length > 0) {
    const names = [...readPairs(/\?(.*)$/s.exec(request.raw.url ?? '')?.[1] ?? '', 'parameter').names];
    const expected = expectedOneOf(declared);
    for (const name of unknown.slice(0, Math.max(0, maximumFaults - faults.length))) {
      faults.push({ ...parameterPlace(name, names.indexOf(name) + 1), code: 'unknown', ...expected });
    }
  }
  if (faults.length > 0) throw new Problem('malformed-request', { faults });
}
