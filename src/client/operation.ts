/**
 * What the generated operations need from a client. They name the operation, its place and its credentials; how a request travels is the
 * business of `http.ts`. The names are those that the generator writes.
 */
import type { Result } from './result.ts';

/** What every call takes. */
export interface CallOptions {
  /** Ends the call at once, with a `ClientError` of reason `aborted`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that each attempt may take, instead of the client's. */
  timeoutMs?: number | undefined;
  /** Never repeats the request if false. */
  retry?: false;
}

/** A request as a generated operation hands it over. */
export interface OperationRequest extends CallOptions {
  /** The path, with a `{name}` for each member of `path`. */
  url: string;
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | undefined>>;
  headers?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  /** What the operation takes as credentials; none if it is left out. */
  security?: readonly object[];
  bodySerializer?: (body: object) => string;
}

type BodyOf<Responses> = Responses[keyof Responses];
type Send = <Responses>(request: OperationRequest) => RequestResult<Responses>;

export interface Client {
  get: Send;
  head: Send;
  post: Send;
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

/** Marks operations that take a form. */
export const urlSearchParamsBodySerializer = {
  bodySerializer: (body: object): string => {
    const fields = Object.entries(body).filter((field): field is [string, string] => field[1] !== undefined);
    return new URLSearchParams(fields).toString();
  },
};
