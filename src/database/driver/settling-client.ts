/**
 * A connection whose answers leave the heap with the young objects. node-postgres makes the callback of a promise where it assigns it. So V8 makes it among the
 * old objects, where it keeps the rows alive until the next collection of the whole heap. After a hundred such answers V8 makes the rows of all connections
 * among the old objects, for the life of the process (decision 59).
 */
import { VerifiedClient } from './verified-client.ts';

export type Callback<R> = (error: Error | undefined | null, result: R) => void;

/** A query class of its own, such as pg-cursor or pg-copy-streams. It reports to its owner, and runs for as long as the owner reads or writes. */
export interface Submittable {
  submit: (connection: unknown) => unknown;
}

export function isSubmittable(query: unknown): query is Submittable {
  return typeof query === 'object' && query !== null && 'submit' in query && typeof query.submit === 'function';
}

/** A promise, and the callback that settles it. */
export function settledCallback<R>(): { promise: Promise<R>; callback: Callback<R> } {
  const { promise, resolve, reject } = Promise.withResolvers<R>();
  const callback: Callback<R> = (error, result) => {
    if (error) reject(error);
    else resolve(result);
  };
  return { promise, callback };
}

export class SettlingClient extends VerifiedClient {
  // TypeScript cannot repeat the overloads of node-postgres. A submittable is returned, as node-postgres does.
  override query(...args: unknown[]): never {
    const isSettled = typeof args.at(-1) === 'function' || isSubmittable(args[0]);
    const { promise, callback } = isSettled ? {} : settledCallback();
    const returned = (super.query as (...args: unknown[]) => unknown).apply(this, callback ? [...args, callback] : args);
    return (promise ?? returned) as never;
  }
}
