import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore, type PostgresStore } from '../../src/database/port.ts';
import { createFirstAdministrator } from '../../src/administration/first-administrator.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const replicas = 4;

let database: TestDatabase;
let stores: PostgresStore[];
beforeAll(async () => {
  database = await createDatabase();
  stores = Array.from({ length: replicas }, () => openStore(database.url, 1, () => undefined));
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

test('of four processes that start at once on an empty database, one creates the first administrator, and none fails', async () => {
  // Opens the four connections first, so that all four find no user.
  await Promise.all(stores.map(({ db }) => sql`select 1`.execute(db)));
  for (let round = 0; round < 5; round += 1) {
    const made = await Promise.all(stores.map((store) => createFirstAdministrator(store, 'admin', 'a hash that no password has')));
    expect(made.filter(Boolean)).toHaveLength(1);
    const [first] = stores;
    if (!first) throw new Error('no store');
    expect((await sql`select name from user_account`.execute(first.db)).rows).toEqual([{ name: 'admin' }]);
    expect((await sql`select event, user_name, detail from audit_event order by id desc limit 1`.execute(first.db)).rows).toEqual([
      { event: 'user.created', user_name: 'admin', detail: { by: 'first start', via: 'start', actor: 'entity-service' } },
    ]);
    await sql`truncate user_account, role, profile cascade`.execute(first.db);
  }
});

test('with its role, grants and profile from before, the first administrator gets them, and what they lack', async () => {
  const [store] = stores;
  if (!store) throw new Error('no store');
  expect(await createFirstAdministrator(store, 'admin', 'a hash that no password has')).toBe(true);
  const rights = async () =>
    (
      await sql`
        select user_account.name, profile.name as profile, role.name as role, array_agg(action order by action) as actions
        from user_account join user_profile on user_account.id = user_id join profile on profile.id = profile_id
        join profile_role using (profile_id) join role on role.id = profile_role.role_id join role_grant on role.id = role_grant.role_id
        where is_default and entity = '*' group by 1, 2, 3`.execute(store.db)
    ).rows;
  const before = await rights();
  expect(before).toHaveLength(1);
  await sql`delete from user_account`.execute(store.db);
  await sql`delete from role_grant where action = 'read'`.execute(store.db);
  expect(await createFirstAdministrator(store, 'admin', 'a hash that no password has')).toBe(true);
  expect(await rights()).toEqual(before);
});
