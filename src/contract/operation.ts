/**
 * The input and the result of a handler, derived from the generated types. An undeclared status, a missing header or a wrong body does not
 * compile. Handlers throw refusals as Problems.
 */
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { components, operations } from '../../generated/api.ts';
import type { operations as table } from '../../generated/operations.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';

/** The schemas of the contract, by name. */
export type Schemas = components['schemas'];

export type OperationId = keyof operations & keyof typeof table;

type Content<T> = T extends { content: infer C } ? C[keyof C] : undefined;
type Member<T, K extends string> = T extends { [P in K]?: infer V } ? ([V] extends [undefined] ? undefined : NonNullable<V>) : undefined;
/** The headers that the handler must return; `sessions/fastify-session.ts` writes the cookie. */
type Headers<R> = R extends { headers: infer H }
  ? { [K in keyof H as string extends K ? never : K extends 'Set-Cookie' ? never : K]: H[K] }
  : object;
type Responses<O extends OperationId> = operations[O]['responses'];
/** The statuses a handler may return; problems are thrown. */
type SuccessStatus<O extends OperationId> = Extract<keyof Responses<O>, 200 | 201 | 204 | 303 | 304 | 307>;

/** A body that is already JSON text, of a value of type `T`: sent without parsing or serialisation. */
export class JsonText<T> {
  readonly text: string;
  declare readonly value: T;

  constructor(text: string) {
    this.text = text;
  }
}

/** A body that is made while it is sent: UTF-8 text of the media type. */
export class StreamedText {
  readonly type: string;
  readonly stream: Readable;

  constructor(type: string, stream: Readable) {
    this.type = type;
    this.stream = stream;
  }
}

type Body<C> = C | JsonText<C> | (C extends string ? StreamedText : never);
type Answer<S, R> = { status: S } & (Content<R> extends undefined ? { body?: never } : { body: Body<Content<R>> }) &
  (object extends Headers<R> ? { headers?: Headers<R> } : { headers: Headers<R> });

export interface Input<O extends OperationId> {
  params: Member<operations[O]['parameters'], 'path'>;
  query: Partial<NonNullable<Member<operations[O]['parameters'], 'query'>>>;
  /** Header parameters under their names in lower case, as in Node.js. */
  headers: { [K in keyof NonNullable<Member<operations[O]['parameters'], 'header'>> as Lowercase<K & string>]?: string };
  /** Undefined if the contract makes the body optional and the client sent none. */
  body: Content<Member<operations[O], 'requestBody'>> | (operations[O] extends { requestBody: object } ? never : undefined);
  /** The JSON text from which `body` was parsed, exactly as accepted; empty if the operation takes no JSON. */
  bodyText: string;
  principal: (typeof table)[O]['caller'] extends 'principal' ? Principal : undefined;
  /** The sender of the request, for use cases; `request` and `reply` are for handlers alone. */
  caller: Caller;
  request: FastifyRequest;
  reply: FastifyReply;
}

export type Output<O extends OperationId> = { [S in SuccessStatus<O>]: Answer<S, Responses<O>[S]> }[SuccessStatus<O>];
export type Handler<O extends OperationId> = (input: Input<O>) => Promise<Output<O>>;
export type Handlers = { [O in OperationId]: Handler<O> };
