/** A clock has ended the query. The same one may succeed later, so it is no refusal (decision 223). */
import { exceededStatementTime } from '../../database/failure.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';

/** Runs a part of a query. If PostgreSQL ends it because it took too long, throws 503 `busy` with a fault at `place`. */
export async function withinTimeLimit<T>(place: Omit<Fault, 'code' | 'values'>, statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    if (!exceededStatementTime(error)) throw error;
    const headers = { 'Retry-After': '2' };
    throw new Problem('busy', { faults: [{ ...place, code: 'time-limit' }], headers, cause: error });
  }
}
