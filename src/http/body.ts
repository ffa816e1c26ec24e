/**
 * Reads request bodies. Only JSON and forms exist; both are read strictly, and what is wrong with them is told in full. A body for an
 * operation that takes none is read up to 1 KiB and ignored (security rule 73).
 */
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, type Fault } from '../errors.ts';
import { hasLeft } from './client-address.ts';
import { holderOfRequest } from './held-bytes.ts';
import { inTurn } from './turns.ts';
import type { RequestBodyObject } from '../contract/contract.ts';
import { readPairs } from './form.ts';
import { readJson } from './json.ts';

const formType = 'application/x-www-form-urlencoded';
const formLimitBytes = 8_192;
const ignoredBodyLimitBytes = 1_024;
/** A JSON body of more bytes waits for its turn: reading 100 KiB of small objects takes 8 ms. */
const longBytes = 16_384;

/** Under this member a form parser hands on what it may not throw; {@link checkBody} throws in its stead. */
const faultsInForm = Symbol('faults');

/** Teaches `app` to read JSON and form bodies, and takes away all else. */
export async function readBodies(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers();
  app.decorateRequest('bodyText', '');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    const parse = () => {
      const read = readJson(bytes);
      if (!('text' in read)) return done(new Problem('malformed-request', { faults: [read] }));
      request.bodyText = read.text;
      done(null, read.value);
    };
    if (bytes.length <= longBytes) return parse();
    inTurn(holderOfRequest(request), () => (hasLeft(request) ? done(new Problem('malformed-request')) : parse()));
  });
  await app.register(formbody, {
    // The plugin calls this inside an event handler, where a throw would end the process.
    parser: (text) => {
      if (text === '') return undefined as never;
      const { values, faults } = readPairs(text, 'field');
      return faults.length > 0 ? { [faultsInForm]: faults } : { ...values };
    },
  });
  // Glue wants a parser for every type in the document, those of answers included.
  app.addContentTypeParser(['*', 'application/problem+json'], { parseAs: 'buffer' }, (_request, _bytes, done) => done(null, undefined));
}

/**
 * How many bytes of body an operation takes; undefined for as many as any. It is an option of the route because Fastify ignores the limit of
 * a parser.
 */
export function bodyLimitOf(body: RequestBodyObject | undefined): number | undefined {
  if (!body) return ignoredBodyLimitBytes;
  return formType in body.content ? formLimitBytes : undefined;
}

/**
 * A hook that refuses with 400 an announced body that turned out to be empty, and a form that could not be read. Must run between parsing
 * and validation, which would see null.
 */
export function checkBody(request: FastifyRequest, _reply: FastifyReply, done: (problem?: Problem) => void): void {
  if (request.body === undefined && hasBody(request)) return done(missing());
  const faults = (request.body as { [faultsInForm]?: Fault[] } | undefined)?.[faultsInForm];
  done(faults && new Problem('malformed-request', { faults }));
}

/** Has the body read as nothing, whatever type it is announced as, and however wrongly. */
export function ignoreBody({ headers }: FastifyRequest): void {
  delete headers['content-type'];
}

const missing = () => new Problem('malformed-request', { faults: [{ pointer: '', code: 'required' }] });

/** Whether the request announces a body at all. */
function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] !== undefined && headers['content-length'] !== '0');
}

/**
 * Throws 415 unless the body is of one of the media types that `declared` lists, in UTF-8 and not compressed; 400 when there is none and
 * it is not optional. Fastify would skip validation in either case.
 */
export function requireBody(request: FastifyRequest, declared: RequestBodyObject): void {
  // Many clients send a type without a body. Fastify would take it as the promise of one, and validate null in its place.
  if (declared.required !== true && !hasBody(request)) return ignoreBody(request);
  const { 'content-type': contentType, 'content-encoding': encoding } = request.headers;
  if (contentType !== undefined || hasBody(request)) {
    const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
    const foreign = parameters.some((parameter) => !['', 'charset=utf-8', 'charset="utf-8"'].includes(parameter));
    if (!Object.hasOwn(declared.content, type) || foreign || encoding !== undefined) {
      const allowed = Object.keys(declared.content).join(', ');
      throw new Problem('unsupported-media-type', { headers: { 'Accept-Post': allowed }, values: { allowed } });
    }
  }
  if (!hasBody(request)) throw missing();
}

/** Whether the body is announced as a form. */
export function isForm({ headers }: FastifyRequest): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The accepted JSON text of the body, or empty. */
    bodyText: string;
  }
  interface FastifyContextConfig {
    operationId?: string;
  }
}
