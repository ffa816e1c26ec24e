/** Whether the way to the database keeps the prepared statements of each connection apart. A transaction pooler without support for them does not. */
import { randomUUID } from 'node:crypto';
import { DatabaseError } from 'pg';
import { VerifiedClient } from './driver/verified-client.ts';

/** What a connection says that lost a prepared statement, or found that of another one: invalid_sql_statement_name, duplicate_prepared_statement. */
const statementStates: ReadonlySet<string> = new Set(['26000', '42P05']);
/** How long the second connection waits for one of the pooler, which may have a single one. */
const waitMs = 1_000;
/** Other clients of a pooler can take its connections so that the statements of one attempt meet each on the right one by chance. */
const attempts = 3;

/** The advice to an operator about a pooler without prepared statements, as the end of a sentence about the address. */
export const preparedStatementsAdvice =
  'goes through a pooler that loses prepared statements: use PgBouncer 1.21 or later with max_prepared_statements=200, pool by session, or connect without the pooler';

/** Whether the error says that a prepared statement was lost on the way, so that nothing was done. */
export function lostPreparedStatement(error: unknown): boolean {
  return error instanceof DatabaseError && statementStates.has(error.code ?? '');
}

/** Whether two connections to `url` may each have a prepared statement of one name, also while one of them is in a transaction. */
export async function storesPreparedStatements(url: string): Promise<boolean> {
  const clients = [1, 2].map(() => new VerifiedClient({ connectionString: url, connectionTimeoutMillis: 10_000 }));
  const [one, other] = clients;
  if (!one || !other) throw new Error('two connections are needed');
  try {
    for (const client of clients) {
      client.on('error', () => undefined);
      await client.connect();
    }
    for (let attempt = 0; attempt < attempts; attempt++) await useOneName(one, other);
    return true;
  } catch (error) {
    if (lostPreparedStatement(error)) return false;
    throw error;
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/** Throws the error of a lost statement if the connections lose one of a new name. */
async function useOneName(one: VerifiedClient, other: VerifiedClient): Promise<void> {
  const name = `probe-${randomUUID()}`;
  // A pooler with one connection to the server meets the name twice.
  await one.query({ name, text: 'select $1::int as one', values: [1] });
  await other.query({ name, text: 'select $1::text as other', values: ['1'] });
  // One with several gives the first client another than the one that has its statement.
  await other.query('begin read only');
  await other.query({ name, text: 'select $1::text as other', values: ['1'] });
  const again = one.query({ name, text: 'select $1::int as one', values: [1] });
  again.catch(() => undefined);
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, waitMs);
  await Promise.race([again, late]);
  clearTimeout(timer);
  await other.query('rollback');
  await again;
}
