/** Which databases `migrateDatabase` accepts. */
import { expect, onTestFinished, test } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { knownMigrations } from '../../src/database/migration-files.ts';
import { AdminCommand } from '../support/admin.ts';
import { createDatabase, openPool } from '../support/database.ts';
import { readDocument, section } from '../support/markdown.ts';
import { dropTables, execute, undoLaterMigrations } from '../support/sql.ts';

/** The files that made the same schema before the first release (decision 92). */
const formerNames = [
  '0001-users-and-rights',
  '0002-sessions-and-keys',
  '0003-entities',
  '0004-attempts-and-audit',
  '0006-idempotency',
  '0007-openid-sign-in',
  '0008-open-session',
  '0009-own-identities',
  '0010-claims-at',
  '0011-faster-merge',
  '0012-refused-addresses',
  '0013-unlinked-claims',
  '0014-grown-tables',
];

/** A database whose table of migrations has `names`. */
async function databaseWith(names: readonly string[]): Promise<string> {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  await setMigrations(database.url, names);
  return database.url;
}

const setMigrations = (url: string, names: readonly string[]) =>
  execute(
    url,
    `delete from kysely_migration;
    insert into kysely_migration (name, timestamp) select unnest(array['${names.join(`','`)}']), '2026-01-01T00:00:00Z'`,
  );

async function namesIn(url: string): Promise<string[]> {
  const pool = openPool(url);
  try {
    return (await pool.query<{ name: string }>('select name from kysely_migration order by name')).rows.map(({ name }) => name);
  } finally {
    await pool.end();
  }
}

test.each([
  ['all', formerNames],
  ['some', formerNames.slice(0, 4)],
])(
  'a database with %s of the migrations from before the first release is refused with what to do, and stays as it is',
  async (_, names) => {
    const url = await databaseWith(names);
    const refused = `an unreleased version made the database (${names.join(', ')}), and no version upgrades it: use an empty database, or keep the data as decision 92 in docs/decisions.md tells`;
    await expect(migrateDatabase(url)).rejects.toThrow(refused);
    const admin = new AdminCommand(url);
    for (const words of [['migrate'], ['migrate', '--check'], ['user', 'list']]) expect(await admin.refusal(words)).toBe(refused);
    const { stdout } = await admin.run(['doctor', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      checks: expect.arrayContaining([{ name: 'migrations', status: 'fail', message: refused }]),
    });
    expect(await namesIn(url)).toEqual(names);
  },
);

test('the statements of decision 92 make this version accept such a database', async () => {
  const url = await databaseWith(formerNames);
  await execute(url, undoLaterMigrations);
  await setMigrations(url, formerNames);
  const [, statements = ''] =
    /```sql\n(.*?)```/s.exec(
      section(readDocument('docs/decisions/database.md'), '## 92. The migrations begin again with the first release'),
    ) ?? [];
  await execute(url, statements);
  expect(await migrateDatabase(url)).toEqual((await knownMigrations()).filter((name) => name > '0011'));
  expect(await new AdminCommand(url).say(['user', 'list'])).toBe('There are no users yet.\n');
});

test('0032 marks the types whose entities may be unfit: those that came into force with `allowUnfit`, and what followed', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  await execute(database.url, dropTables);
  await migrateDatabase(database.url, { upTo: '0031-path-of-statistics' });
  await execute(
    database.url,
    `insert into entity_type_revision (name, document, source, plan, applied_by) values
      ('order', '{}', 'command', '{"steps": []}', 'ada'), ('order', '{}', 'command', '{"allowUnfit": true}', 'ada'),
      ('line', '{}', 'command', '{"steps": []}', 'ada'), ('order', '{}', 'command', '{"isUndone": true}', 'ada')`,
  );
  await migrateDatabase(database.url);
  // An earlier version that runs beside does not say it.
  await execute(
    database.url,
    `insert into entity_type_revision (name, document, source, plan, applied_by) values ('line', '{}', 'command', '{}', 'ada')`,
  );
  const pool = openPool(database.url);
  onTestFinished(() => pool.end());
  const { rows } = await pool.query('select name, may_be_unfit as unfit from entity_type_revision order by revision');
  expect(rows.map(({ name, unfit }: { name: string; unfit: boolean }) => `${name} ${unfit}`)).toEqual([
    'order false',
    'order true',
    'line false',
    'order true',
    'line true',
  ]);
});
