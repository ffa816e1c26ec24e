/** The statements of a use case as parts of a transaction that has begun. */
import { sql, type Transaction } from 'kysely';
import type { GroupedStatement } from './driver/write-group.ts';
import type { Statements } from './port.ts';
import type { Database } from './tables.ts';

/**
 * Runs every statement in `trx`, on its one connection. A statement that fails undoes itself alone, as it does outside of a transaction, and so does a
 * `transaction`: the use case may go on after it.
 */
export function statementsWithin(trx: Transaction<Database>): Statements {
  let savepoints = 0;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    const savepoint = sql.ref(`step_${++savepoints}`);
    // An open subtransaction takes memory, and all later statements would be nested in it.
    const release = () => sql`release savepoint ${savepoint}`.execute(trx);
    await sql`savepoint ${savepoint}`.execute(trx);
    let result: T;
    try {
      result = await work();
    } catch (error) {
      // A connection that broke has no transaction any more: its own error tells more than that of the rollback.
      await sql`rollback to savepoint ${savepoint}`
        .execute(trx)
        .then(release)
        .catch(() => undefined);
      throw error;
    }
    await release();
    return result;
  };
  const writeRow = <R>(statement: GroupedStatement<R>, row: string) =>
    guarded(async () => (await trx.executeQuery(statement.query({ rows: `[${row}]` }))).rows[0]);
  return {
    db: trx,
    read: async (statement, values) => (await trx.executeQuery(statement.query(values))).rows,
    query: (query) => guarded(async () => (await trx.executeQuery(query)).rows),
    run: (statement, values) => guarded(async () => (await trx.executeQuery(statement.query(values))).rows),
    writeGrouped: writeRow,
    writeAlone: writeRow,
    transaction: (work) => guarded(() => work(trx)),
  };
}
