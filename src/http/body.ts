/**
 * Reads request bodies. Only JSON and forms are accepted. Both are read strictly, and all their faults are reported. If an operation takes
 * no body, up to 1 KiB is read and ignored (security rule 73).
 */
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../problems/errors.ts';
import type { Fault } from '../problems/faults.ts';
import { hasLeft } from '../network/client-address.ts';
import { holderOfRequest } from '../admission/held-bytes.ts';
import type { Ledger } from '../admission/ledger.ts';
import { inTurn } from '../admission/turns.ts';
import { readPairs } from './form.ts';
import { jsonLimits, largeJsonLimits, readJson } from '../json/json.ts';

/** The body that an operation of the contract takes, by its media types. */
interface DeclaredBody {
  required?: boolean;
  content: Readonly<Record<string, unknown>>;
}

const formType = 'application/x-www-form-urlencoded';
const formLimitBytes = 8_192;
const ignoredBodyLimitBytes = 1_024;
const largeBodyLimitBytes = 4_194_304;
/** Of a body that is read while it arrives. */
export const streamedBodyLimitBytes = 67_108_864;
/** A longer JSON body waits for its turn: reading 100 KiB of small objects takes 8 ms. */
const longBytes = 16_384;

/** The member in which a form parser stores faults, because it must not throw; {@link checkBody} throws them. */
const faultsInForm = Symbol('faults');

/** Lets `app` parse JSON and form bodies, and removes all other parsers. The time for long ones is counted in the ledger. */
export async function readBodies(app: FastifyInstance, ledger: Ledger): Promise<void> {
  app.removeAllContentTypeParsers();
  app.decorateRequest('bodyText', '');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    const parse = () => readJson(bytes, request.routeOptions.config.takesLargeBody ? largeJsonLimits : jsonLimits);
    const end = (read: ReturnType<typeof parse>) => {
      if (!('text' in read)) return done(new Problem('malformed-request', { faults: [read] }));
      request.bodyText = read.text;
      done(null, read.value);
    };
    if (bytes.length <= longBytes) return end(parse());
    const holder = holderOfRequest(request);
    inTurn(holder, () => (hasLeft(request) ? done(new Problem('malformed-request')) : end(ledger.time(holder, parse))));
  });
  await app.register(formbody, {
    // The plugin calls this inside an event handler, where a throw would end the process.
    parser: (text) => {
      if (text === '') return undefined as never;
      const { values, faults } = readPairs(text, 'field');
      return faults.length > 0 ? { [faultsInForm]: faults } : { ...values };
    },
  });
  app.addContentTypeParser(['application/x-ndjson', 'text/csv'], (request, payload, done) => {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced <= streamedBodyLimitBytes) return done(null, payload);
    // The rest of the body must not be read as another request.
    done(new Problem('content-too-large', { values: { limit: streamedBodyLimitBytes }, headers: { Connection: 'close' } }));
  });
  // Glue requires a parser for every type in the document, including those of answers.
  app.addContentTypeParser(['*', 'application/problem+json'], { parseAs: 'buffer' }, (_request, _bytes, done) => done(null, undefined));
}

/**
 * The limit of an operation's body in bytes; undefined for `defaultLimit`. A large one has 4 MiB at least. It is an option of the route because Fastify ignores the limit
 * of a parser. Where an operation takes a form, JSON has the form's limit too.
 */
export function bodyLimitOf(
  body: DeclaredBody | undefined,
  { takesLargeBody, streamsBody }: { takesLargeBody: boolean; streamsBody: boolean },
  defaultLimit: number,
): number | undefined {
  if (!body) return ignoredBodyLimitBytes;
  if (streamsBody) return streamedBodyLimitBytes;
  if (takesLargeBody) return Math.max(largeBodyLimitBytes, defaultLimit);
  return formType in body.content ? formLimitBytes : undefined;
}

/**
 * A hook that refuses with 400 an announced body that is empty, and a form that could not be read. It must run between parsing and
 * validation, because validation would get null.
 */
export function checkBody(request: FastifyRequest, _reply: FastifyReply, done: (problem?: Problem) => void): void {
  if (request.body === undefined && hasBody(request)) return done(missing());
  const faults = (request.body as { [faultsInForm]?: Fault[] } | undefined)?.[faultsInForm];
  done(faults && new Problem('malformed-request', { faults }));
}

/** Lets the body be ignored, whatever its declared content type, even a malformed one. */
export function ignoreBody({ headers }: FastifyRequest): void {
  delete headers['content-type'];
}

const missing = () => new Problem('malformed-request', { faults: [{ pointer: '', code: 'required' }] });

/** Whether the request's headers announce a body. */
function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] !== undefined && headers['content-length'] !== '0');
}

/** The parameters of media types that change nothing, in lower case. */
const acceptedParameters = ['', 'charset=utf-8', 'charset="utf-8"'];
/** Of CSV, whose first row is a header (RFC 4180, section 3). */
const csvParameters = ['header=present', 'header="present"'];

/**
 * Throws 415 unless the body has one of the media types that `declared` lists, in UTF-8 and uncompressed; 400 if a required body is
 * missing. Fastify would skip validation in both cases.
 */
export function requireBody(request: FastifyRequest, declared: DeclaredBody): void {
  // Many clients send a content type without a body. Fastify would expect a body then, and validate null instead.
  if (declared.required !== true && !hasBody(request)) return ignoreBody(request);
  const { 'content-type': contentType, 'content-encoding': encoding } = request.headers;
  if (contentType !== undefined || hasBody(request)) {
    const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
    const accepted = type === 'text/csv' ? [...acceptedParameters, ...csvParameters] : acceptedParameters;
    const foreign = parameters.some((parameter) => !accepted.includes(parameter));
    if (!Object.hasOwn(declared.content, type) || foreign || encoding !== undefined) {
      const allowed = Object.keys(declared.content).join(', ');
      throw new Problem('unsupported-media-type', { headers: { 'Accept-Post': allowed }, values: { allowed } });
    }
  }
  if (!hasBody(request)) throw missing();
}

/** The problem of a body that was read and has these faults: 400 for a form, 422 for JSON, which is well-formed by then. */
export function invalidBody(request: FastifyRequest, faults: Fault[]): Problem {
  return new Problem(isForm(request) ? 'malformed-request' : 'validation-failed', { faults });
}

/** Whether the body's content type is that of a form. */
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
    /** Whether the operation takes more than the limits of other JSON bodies. */
    takesLargeBody?: boolean;
    /** Whether the answer may take longer than others once it has begun. */
    streamsAnswer?: boolean;
    /** Whether the handler reads the body itself, while it arrives. */
    streamsBody?: boolean;
  }
}
