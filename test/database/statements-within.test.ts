/** The statements of a use case in a transaction that has begun. */
import { sql, type Transaction } from 'kysely';
import { expect, test } from 'vitest';
import { builder } from '../../src/database/driver/prepared.ts';
import type { Statements } from '../../src/database/port.ts';
import { statementsWithin } from '../../src/database/statements-within.ts';
import type { Database } from '../../src/database/tables.ts';
import { useService } from '../support/service.ts';

const service = useService();
const divide = (within: Statements, by: number) => within.query(sql<object>`select 1 / ${by}::int`.compile(builder));
/** Fails with 3B001 if the first savepoint is not open. */
const returnToFirst = async (trx: Transaction<Database>) => void (await sql`rollback to savepoint step_1`.execute(trx));
const isNotOpen = { code: '3B001' };

test.for<[string, (within: Statements) => Promise<unknown>]>([
  ['a statement', (within) => divide(within, 1)],
  ['a statement that fails', (within) => expect(divide(within, 0)).rejects.toMatchObject({ code: '22012' })],
  ['a transaction', (within) => within.transaction(() => divide(within, 1))],
  ['a transaction that fails', (within) => expect(within.transaction(() => Promise.reject(new Error('undone')))).rejects.toThrow('undone')],
])('%s leaves no savepoint open', async ([, run]) => {
  const done = service()
    .db.transaction()
    .execute(async (trx) => {
      await run(statementsWithin(trx));
      await returnToFirst(trx);
    });
  await expect(done).rejects.toMatchObject(isNotOpen);
});

test('a transaction has its savepoint open until it ends', async () => {
  const done = service()
    .db.transaction()
    .execute(async (trx) => {
      await statementsWithin(trx).transaction(returnToFirst);
    });
  await expect(done).resolves.toBeUndefined();
});
