import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectPool, type Connection } from '../../src/database/driver/pool.ts';
import { createFirstAdministrator } from '../../src/administration/first-administrator.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const replicas = 4;

let database: TestDatabase;
let connections: Connection[];
beforeAll(async () => {
  database = await createDatabase();
  connections = Array.from({ length: replicas }, () => connectPool(database.url, 1, () => undefined));
});
afterAll(async () => {
  await Promise.all(connections.map(({ close }) => close()));
  await database.drop();
});

test('of four processes that start at once on an empty database, one makes the first administrator, and none fails', async () => {
  // Without a pause in between, so that all four find no user.
  await Promise.all(connections.map(({ pool }) => pool.query('select 1')));
  for (let round = 0; round < 5; round += 1) {
    const made = await Promise.all(connections.map(({ db }) => createFirstAdministrator(db, 'admin', 'a hash that no password has')));
    expect(made.filter(Boolean)).toHaveLength(1);
    const [first] = connections;
    expect((await first?.pool.query('select name from user_account'))?.rows).toEqual([{ name: 'admin' }]);
    expect((await first?.pool.query('select event, user_name, detail from audit_event order by id desc limit 1'))?.rows).toEqual([
      { event: 'user.created', user_name: 'admin', detail: { by: 'first start', via: 'start', actor: 'entity-service' } },
    ]);
    await first?.pool.query('truncate user_account, role, profile cascade');
  }
});
