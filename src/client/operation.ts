/**
 * The interface between the generated operations and the client. An operation names its path, parameters and credentials; `http.ts` sends the
 * request. The generator decides the names.
 */
import type { Consistency } from './consistency.ts';
import type { Result } from './result.ts';

/** The options of every call. */
export interface CallOptions {
  /** Aborts the call with a `ClientError` of reason `aborted`. */
  signal?: AbortSignal | undefined;
  /** Time limit of each attempt in milliseconds; overrides the client's. */
  timeoutMs?: number | undefined;
  /** False turns retries off for this call. */
  retry?: false;
}

/** A request as a generated operation describes it. */
export interface OperationRequest extends CallOptions {
  /** The path, with a `{name}` for each member of `path`. */
  url: string;
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | undefined>>;
  headers?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  /** The credentials that the operation accepts; none if undefined. */
  security?: readonly object[];
  bodySerializer?: (body: object) => string;
}

/** A request whose answer is read while it is sent, and perhaps its body too. */
export interface StreamRequest extends Omit<OperationRequest, 'body' | 'bodySerializer'> {
  body?: ReadableStream<Uint8Array<ArrayBuffer>> | Blob;
}

type BodyOf<Responses> = Responses[keyof Responses];
type Send = <Responses>(request: OperationRequest) => RequestResult<Responses>;

export interface Client {
  consistency: Consistency;
  /** Sends the request once, and returns the answer as a stream. Its time limit counts until the answer begins. */
  stream: (method: 'GET' | 'POST', request: StreamRequest) => Promise<Result<ReadableStream<Uint8Array<ArrayBuffer>>>>;
  get: Send;
  head: Send;
  post: Send;
  put: Send;
  delete: Send;
}

export interface TDataShape {
  body?: unknown;
  headers?: unknown;
  path?: unknown;
  query?: unknown;
  url: string;
}

export type ClientMeta = Record<string, unknown>;
export type Options<Data extends TDataShape> = Omit<Data, 'url'> & CallOptions & { headers?: NonNullable<OperationRequest['headers']> };
export type RequestResult<Responses> = Promise<Result<BodyOf<Responses>>>;

/** Marks operations whose body is a form. */
export const urlSearchParamsBodySerializer = {
  bodySerializer: (body: object): string => {
    const fields = Object.entries(body).filter((field): field is [string, string] => field[1] !== undefined);
    return new URLSearchParams(fields).toString();
  },
};

/** The options of a call that changes entities. Each call has an Idempotency-Key, so its repeats take no effect again. */
export interface WriteOptions extends CallOptions {
  /** Replaces the random Idempotency-Key, for a change that must happen once even if the program is started again. 1 to 255 printable characters. */
  idempotencyKey?: string;
}

/** The options, with the key as a header of the request. */
export function withIdempotencyKey({
  idempotencyKey = randomKey(),
  ...options
}: WriteOptions): CallOptions & { headers: { 'Idempotency-Key': string } } {
  return { ...options, headers: { 'Idempotency-Key': idempotencyKey } };
}

/** 128 random bits. Unlike crypto.randomUUID, this works on pages without https too. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
