/**
 * Reads request bodies. Only JSON and forms exist; both are read strictly, and what is wrong with them is told in full. A body for an
 * operation that takes none is read up to 1 KiB and ignored (security rule 73).
 */
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem, type Fault } from '../errors.ts';
import type { RequestBodyObject } from './contract.ts';
import { readPairs } from './form.ts';
import { readJson } from './json.ts';

const formLimitBytes = 8_192;
export const ignoredBodyLimitBytes = 1_024;

/** Under this member a form parser hands on what it may not throw; {@link refuseFormFaults} throws in its stead. */
const faultsInForm = Symbol('faults');

/** Teaches `app` to read JSON and form bodies, and takes away all else. */
export async function readBodies(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers();
  app.decorateRequest('bodyText', '');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (!takesBody(request) || bytes.length === 0) return done(null, undefined);
    const read = readJson(bytes);
    if (!('text' in read)) return done(new Problem('malformed-request', { faults: [read] }));
    request.bodyText = read.text;
    done(null, read.value);
  });
  await app.register(formbody, {
    bodyLimit: formLimitBytes,
    // The plugin calls this inside an event handler, where a throw would end the process.
    parser: (text) => {
      const { values, faults } = readPairs(text, 'field');
      return faults.length > 0 ? { [faultsInForm]: faults } : { ...values };
    },
  });
  // Glue wants a parser for every type in the document, those of answers included.
  app.addContentTypeParser(['*', 'application/problem+json'], { parseAs: 'buffer' }, (_request, _bytes, done) => done(null, undefined));
}

/** Throws 400 when the form could not be read. Must run before validation. */
export function refuseFormFaults({ body }: FastifyRequest): void {
  const faults = (body as { [faultsInForm]?: Fault[] } | undefined)?.[faultsInForm];
  if (faults) throw new Problem('malformed-request', { faults });
}

/** Whether the request announces a body at all. */
export function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] !== undefined && headers['content-length'] !== '0');
}

/**
 * Throws 415 unless the body is of one of the media types that `declared` lists, in UTF-8 and not compressed; 400 when there is none and
 * it is not optional. Fastify would skip validation in either case.
 */
export function requireBody(request: FastifyRequest, declared: RequestBodyObject): void {
  if (declared.required !== true && !hasBody(request)) {
    // Many clients send it without a body. Fastify would take it as the promise of one, and validate null in its place.
    delete request.headers['content-type'];
    return;
  }
  const types = Object.keys(declared.content);
  const unsupported = () => new Problem('unsupported-media-type', { headers: { 'Accept-Post': types.join(', ') } });
  const { 'content-type': contentType, 'content-encoding': encoding } = request.headers;
  if (contentType !== undefined || hasBody(request)) {
    const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
    const foreign = parameters.filter((parameter) => parameter !== '' && parameter !== 'charset=utf-8' && parameter !== 'charset="utf-8"');
    if (!types.includes(type) || foreign.length > 0 || encoding !== undefined) throw unsupported();
  }
  if (!hasBody(request)) throw missing();
}

/** Throws 400 for a body that was announced in chunks and turned out empty. Must run before validation, which would see null. */
export function requireContent(request: FastifyRequest): void {
  if (request.body === undefined && hasBody(request)) throw missing();
}

const missing = () => new Problem('malformed-request', { faults: [{ pointer: '', code: 'required' }] });

function takesBody(request: FastifyRequest): boolean {
  return request.routeOptions.config.takesBody === true;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The accepted JSON text of the body, or empty. */
    bodyText: string;
  }
  interface FastifyContextConfig {
    operationId?: string;
    takesBody?: boolean;
  }
}
