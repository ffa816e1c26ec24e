/** How a call ends, as a value; and the way from there to a thrown error and back. */
import { ApiError, ClientError } from './errors.ts';

/** The service did what was asked. */
export interface Success<T> {
  ok: true;
  /** The answer's body; undefined where the operation has none. */
  value: T;
  status: number;
  headers: Headers;
}

/** It did not: it refused or failed (`ApiError`), or its answer never arrived (`ClientError`). */
export interface Failure {
  ok: false;
  error: ApiError | ClientError;
}

export type Result<T> = Success<T> | Failure;

/** Whether a client's methods throw errors or return results. */
export type ErrorStyle = 'throw' | 'result';

/** What a method of a client of style `S` resolves to. */
export type Outcome<S extends ErrorStyle, T> = S extends 'result' ? Result<T> : T;

/** The value of a success. Throws the error of a failure. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw result.error;
}

/**
 * Takes the error out of a call of a client that throws, for the one place that would rather look at it. What is no error of this package,
 * such as a TypeError for a wrong argument, stays thrown.
 */
export async function resultOf<T>(call: Promise<T>): Promise<{ ok: true; value: T } | Failure> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    if (error instanceof ApiError || error instanceof ClientError) return { ok: false, error };
    throw error;
  }
}

/** The result in the style of a client: as it is, or as a value or a thrown error. */
export function deliver<S extends ErrorStyle, T>(style: S, result: Result<T>): Outcome<S, T> {
  return (style === 'result' ? result : valueOf(result)) as Outcome<S, T>;
}

/** The result with another value in it, if it has one. */
export function mapResult<T, U>(result: Result<T>, change: (value: T) => U): Result<U> {
  return result.ok ? { ...result, value: change(result.value) } : result;
}
