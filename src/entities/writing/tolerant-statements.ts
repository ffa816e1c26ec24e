/** Runs statements on many rows, of which those that violate a rule are left out. */
import { sql, type Transaction } from 'kysely';
import type { Companion } from '../companion/layout.ts';
import type { Database } from '../../database/tables.ts';
import type { Problem } from '../../problems/errors.ts';
import { violationOf } from './violations.ts';
import { statementParts } from './statement-parts.ts';

/** A row, and the JSON text that the statement gets for it. */
export interface StatementRow<R> {
  row: R;
  text: string;
}

export interface Refused<R> {
  row: R;
  problem: Problem;
}

type TolerantStatement<R> = (some: readonly StatementRow<R>[]) => Promise<void>;

/**
 * Runs the statement on all rows but those that violate a rule of the companion table, which it returns. With `maximum` such rows it ends, and the others do not
 * run.
 */
export async function runTolerantly<R>(
  trx: Transaction<Database>,
  layout: Companion | undefined,
  rows: readonly StatementRow<R>[],
  statement: TolerantStatement<R>,
  maximum = Infinity,
): Promise<Refused<R>[]> {
  const refused: Refused<R>[] = [];
  for (const some of statementParts(rows, ({ text }) => text)) {
    if (refused.length >= maximum) break;
    if (layout) refused.push(...(await runHalved(trx, layout, some, statement, maximum - refused.length)));
    else await statement(some);
  }
  return refused;
}

/** Halves the rows until each part violates no rule, or is one row. */
async function runHalved<R>(
  trx: Transaction<Database>,
  layout: Companion,
  rows: readonly StatementRow<R>[],
  statement: TolerantStatement<R>,
  maximum: number,
): Promise<Refused<R>[]> {
  const [first] = rows;
  if (!first) return [];
  await sql`savepoint part`.execute(trx);
  try {
    await statement(rows);
    await sql`release savepoint part`.execute(trx);
    return [];
  } catch (error) {
    const problem = violationOf(layout, error);
    if (!problem) throw error;
    await sql`rollback to savepoint part`.execute(trx);
    await sql`release savepoint part`.execute(trx);
    if (rows.length === 1) return [{ row: first.row, problem }];
  }
  const middle = Math.ceil(rows.length / 2);
  const before = await runHalved(trx, layout, rows.slice(0, middle), statement, maximum);
  if (before.length >= maximum) return before;
  return [...before, ...(await runHalved(trx, layout, rows.slice(middle), statement, maximum - before.length))];
}
