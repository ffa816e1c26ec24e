/**
 * Checks every answer of every service in this process against openapi.yaml: the status is declared, the required headers are there, the
 * body fits. It also records the pairs of operation and status for `coverage-reporter.ts`.
 */
import { channel } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operationsOf, readContract, resolveReference, type Operation, type ResponseObject } from '../../src/contract/contract.ts';
import { createAjv } from './ajv.ts';

/** The directory where `coverage-reporter.ts` reads the recorded pairs; empty outside the suite. */
const coverageFile = process.env['CONTRACT_COVERAGE_FILE'];

const { document } = readContract();
const operations = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));
const ajv = createAjv();
// Ajv compiles the whole document to reach a schema inside it.
ajv.addVocabulary(Object.keys(document));
ajv.addSchema({ $id: 'openapi.yaml', ...document });

/** The faults of `value` by the schema at a JSON pointer into openapi.yaml, URI-encoded (`#/components/schemas/Entity`). */
export function misfits(pointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(`openapi.yaml${pointer}`);
  if (!validate) throw new Error(`openapi.yaml: no schema at ${pointer}`);
  return validate(value) === true ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** Statuses that a request can get before its operation is known, as the document's description says. */
const beforeOperation = new Set([405, 408, 414, 431]);

export interface SeenAnswer {
  status: number;
  /** Whether it answers HEAD of an operation that is GET, and so has no content. */
  isHead?: boolean;
  headers: Record<string, number | string | string[] | undefined>;
  body: string;
}

/** The faults of an answer of the operation; empty when there are none. */
export function violations(operationId: string, answer: SeenAnswer): string[] {
  const operation = operations.get(operationId);
  if (!operation) return [`${operationId} is not in openapi.yaml`];
  if (beforeOperation.has(answer.status)) return [];
  const declared = operation.responses[answer.status];
  const label = `${operationId} ${answer.status}`;
  if (!declared) return [`${label}: status is not declared`];
  const inBody = answer.isHead === true ? [] : bodyViolations(operation, declared, answer);
  return [...headerViolations(declared, answer), ...inBody].map((fault) => `${label}: ${fault}`);
}

function headerViolations(declared: ResponseObject, { headers }: SeenAnswer): string[] {
  return Object.entries(declared.headers ?? {}).flatMap(([name, reference]) => {
    const { required, schema } = resolveReference(document, reference);
    const value = headers[name.toLowerCase()];
    if (value === undefined) return required ? [`header ${name} is missing`] : [];
    if (typeof schema['pattern'] === 'string' && !new RegExp(schema['pattern']).test(String(value)))
      return [`header ${name} is ${String(value)}`];
    return [];
  });
}

function bodyViolations(operation: Operation, declared: ResponseObject, { status, headers, body }: SeenAnswer): string[] {
  const contentType = String(headers['content-type'] ?? '').split(';')[0] ?? '';
  if (!declared.content || operation.method === 'head') return body === '' ? [] : ['a body that is not declared'];
  // `x-problem-page`: a browser gets the problem as a page.
  const isProblemPage = operation.answersProblemPages && status >= 400 && contentType === 'text/html';
  if (isProblemPage) return [];
  if (!(contentType in declared.content)) return [`content type ${contentType || 'none'} is not declared`];
  const pointer = ['paths', operation.path, operation.method, 'responses', String(status)];
  const response = pointer.reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], document);
  const base =
    typeof response === 'object' && response && '$ref' in response ? String(response.$ref) : `#/${pointer.map(escape).join('/')}`;
  return misfits(`${base}/content/${escape(contentType)}/schema`, /\bjson$/.test(contentType) ? JSON.parse(body) : body);
}

const escape = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Faults found since the process began; `service.ts` fails tests because of them. */
export const found: string[] = [];

const bodies = new WeakMap<FastifyReply, string>();

function watch(app: FastifyInstance): void {
  app.addHook('onSend', async (_request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    bodies.set(reply, typeof payload === 'string' ? payload : '');
  });
  // A later onSend sets the session's cookie, so the headers are complete only now.
  app.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const { operationId } = request.routeOptions.config;
    if (operationId === undefined) return;
    try {
      const isHead = request.method === 'HEAD' && operations.get(operationId)?.method !== 'head';
      const answer = { status: reply.statusCode, headers: reply.getHeaders(), body: bodies.get(reply) ?? '', isHead };
      found.push(...violations(operationId, answer));
    } catch (error) {
      // Fastify would only log a thrown error.
      found.push(`${operationId} ${reply.statusCode}: ${String(error)}`);
    }
    if (coverageFile) appendFileSync(coverageFile, `${operationId} ${reply.statusCode}\n`);
  });
}

// Fastify announces every instance before any route is registered.
channel('fastify.initialization').subscribe((message) => watch((message as { fastify: FastifyInstance }).fastify));
