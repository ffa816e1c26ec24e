/** References of a batch that PostgreSQL checks at the end of its transaction. */
import { sql, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { isStillReferenced, violationOf } from '../entities/writing/violations.ts';
import { Problem } from '../problems/errors.ts';
import { problemAt, type BatchOperation, type Create, type Update } from './operations.ts';

const textOf = (operation: Create | Update): string => (operation.op === 'create' ? operation.fields : operation.patch);

/**
 * Lets PostgreSQL check the references that were deferred. Its error has the key that is missing, and so leads to the operation that
 * refers to it.
 */
export async function checkDeferredReferences(trx: Transaction<Database>, operations: readonly BatchOperation[]): Promise<void> {
  try {
    await sql`set constraints all immediate`.execute(trx);
  } catch (error) {
    const [, missing] = /\)=\((-?\d+)\)/.exec((error as { detail?: string }).detail ?? '') ?? [];
    const writes = operations.filter((operation) => operation.op === 'create' || operation.op === 'update');
    const guilty = [...writes.filter((operation) => textOf(operation).includes(`"${missing}"`)), ...writes];
    for (const { index, type } of guilty) {
      const problem = type?.companion && violationOf(type.companion, error);
      if (problem && problem.faults.length > 0) throw problemAt(index, problem.under('/fields'));
    }
    throw isStillReferenced(error) ? new Problem('still-referenced') : error;
  }
}
