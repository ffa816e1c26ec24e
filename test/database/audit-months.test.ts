/** What migration 0023 does to an audit trail that is one table. application-role.test.ts has its rights. */
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { execute, undoLaterMigrations } from '../support/sql.ts';

test('the events of an earlier version stay with their ids as the first partition, and further ones follow (rule 85)', async () => {
  const url = await createDatabaseUntilDone();
  await execute(url, undoLaterMigrations);
  await migrateDatabase(url, { upTo: '0017-entity-history' });
  const insert = (at: string) => `insert into audit_event (at, event, outcome) values (${at}, 'logout', 'ok')`;
  await execute(url, `${insert(`'2020-02-29'`)}; ${insert(`now() + interval '40 days'`)}`);
  await migrateDatabase(url);
  await execute(url, `${insert('clock_timestamp()')}; ${insert(`now() + interval '80 days'`)}`);
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const { rows } = await client.query(
    `select id, tableoid = 'entity_data.audit_first'::regclass as "inFirst" from audit_event where event = 'logout' order by id`,
  );
  expect(rows).toEqual([
    { id: '1', inFirst: true },
    { id: '2', inFirst: true },
    { id: '3', inFirst: true },
    { id: '4', inFirst: false },
  ]);
  await expect(client.query('delete from entity_data.audit_first')).rejects.toThrow('audit_event is append only');
});
