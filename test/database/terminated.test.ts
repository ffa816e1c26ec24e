/** What becomes of requests whose connection the database ends, as an administrator or a failover does. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { execute } from '../support/sql.ts';
import { useService } from '../support/service.ts';

const service = useService();

test('503 — a connection that is ended in the middle of a statement or while idle ends no process, and the next request is served (rule 90)', async () => {
  const { id } = await service().createUser('ada');
  const key = await service().createKey(id);
  const create = () => service().call('POST', '/rest/entity/note', { headers: { 'x-api-key': key }, json: { text: 'one' } });
  expect((await create()).status).toBe(201);

  const terminate = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`lock table entity in access exclusive mode`.execute(trx);
      locked.resolve();
      await released.promise;
    });
  await locked.promise;
  const waiting = create();
  const waits = sql<{ waiting: boolean }>`select count(*) > 0 as waiting from pg_locks where not granted and relation = 'entity'::regclass`;
  await expect.poll(async () => (await waits.execute(service().db)).rows[0]?.waiting).toBe(true);
  await execute(service().databaseUrl, `${terminate} and wait_event_type = 'Lock'`);
  const ended = await waiting;
  released.resolve();
  await holding;
  expect(ended.status).toBe(503);

  await execute(service().databaseUrl, terminate);
  await expect.poll(async () => (await create()).status).toBe(201);
});
