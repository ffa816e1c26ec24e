/** The result of a call as a value, and conversions between results and thrown errors. */
import { ApiError, ClientError } from './errors.ts';

export interface Success<T> {
  ok: true;
  /** The answer's body; undefined where the operation has none. */
  value: T;
  status: number;
  headers: Headers;
}

/** A failure: the service answered with a problem (`ApiError`), or its answer did not arrive (`ClientError`). */
export interface Failure {
  ok: false;
  error: ApiError | ClientError;
}

export type Result<T> = Success<T> | Failure;

/** Whether a client's methods throw errors or return results. */
export type ErrorStyle = 'throw' | 'result';

/** The type that a method of a client of style `S` resolves to. */
export type Outcome<S extends ErrorStyle, T> = S extends 'result' ? Result<T> : T;

/** The value of a success. Throws the error of a failure. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw result.error;
}

/**
 * Turns a call of a client that throws into a result. Errors of other kinds, such as a TypeError for a wrong argument, are still thrown.
 */
export async function resultOf<T>(call: Promise<T>): Promise<{ ok: true; value: T } | Failure> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    if (error instanceof ApiError || error instanceof ClientError) return { ok: false, error };
    throw error;
  }
}

/** The result in the style of a client: unchanged, or as a value or a thrown error. */
export function deliverResult<S extends ErrorStyle, T>(style: S, result: Result<T>): Outcome<S, T> {
  return (style === 'result' ? result : valueOf(result)) as Outcome<S, T>;
}

/** The result with its value mapped; a failure unchanged. */
export function mapResult<T, U>(result: Result<T>, change: (value: T) => U): Result<U> {
  return result.ok ? { ...result, value: change(result.value) } : result;
}
