import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { connect } from '../../src/database/connect.ts';
import { createDatabase } from '../support/database.ts';

test('a statement planned while its table is empty goes by the index, and so stays quick when the table grows before it is planned again', async () => {
  const database = await createDatabase();
  await using opened = new AsyncDisposableStack();
  opened.defer(() => database.drop());
  const { db, close } = connect(database.url, 4, () => undefined);
  opened.defer(close);
  // As autovacuum does, after which PostgreSQL no longer takes an empty table for one that it knows nothing of.
  await sql`analyze`.execute(db);
  const planOf = async (condition: ReturnType<typeof sql>) => {
    const { rows } = await sql<Record<string, string>>`explain select * from ${condition}`.execute(db);
    return rows.map((row) => Object.values(row)[0]).join('\n');
  };
  for (const condition of [
    sql`session where user_id = 1 and revoked_at is null`,
    sql`session where token_hash = ''`,
    sql`user_account where name = 'ada'`,
    sql`login_attempt where kind = 'account' and subject = ''`,
    sql`role_grant where role_id = 1`,
    sql`entity where name = 'customer' and key = 1`,
  ]) {
    const plan = await planOf(condition);
    expect(plan).toMatch(/Index/);
    expect(plan).not.toMatch(/Seq Scan/);
  }
});
