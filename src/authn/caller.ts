/** The sender of one request for use cases, independent of the web framework. */
import type { Origin } from '../network/origin.ts';
import type { Principal } from '../rights/principal.ts';

export interface CookieAttributes {
  path: string;
  httpOnly: boolean;
  secure: boolean;
  sameSite: 'lax' | 'strict' | 'none';
  /** In seconds; 0 deletes the cookie, undefined keeps it until the browser closes. */
  maxAge?: number;
}

/** The cookies of a request and of its answer. */
export interface Cookies {
  /** The `Cookie` header as the client sent it; undefined without one. */
  readonly header: string | undefined;
  /** Adds a `Set-Cookie` header to the answer, also if the answer becomes a problem. Only operations of the Auth API may call it. */
  set(name: string, value: string, attributes: CookieAttributes): void;
}

/** A log whose lines carry the id of the request. */
export interface CallerLog {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface Caller {
  readonly origin: Origin;
  /** Undefined until the request is authenticated, and where an operation needs no credential. */
  readonly principal: Principal | undefined;
  readonly cookies: Cookies;
  readonly log: CallerLog;
  /** Whether no answer of the work can reach the client: it has closed its connection, or was answered at the time limit. */
  readonly hasLeft: boolean;
}
