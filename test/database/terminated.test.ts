/** What becomes of requests whose connection the database ends, as an administrator or a failover does. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { connectPool } from '../../src/database/driver/pool.ts';
import { connectionWasLost } from '../../src/database/failure.ts';
import { execute } from '../support/sql.ts';
import { useService } from '../support/service.ts';

const service = useService();

test('503 — a connection that ends under a statement or while idle ends no process, and the next request is served (rule 90)', async () => {
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
  const waits = sql<{
    waiting: boolean;
  }>`select count(*) > 0 as waiting from pg_locks where not granted and relation = 'entity'::regclass and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await waits.execute(service().db)).rows[0]?.waiting).toBe(true);
  await execute(service().databaseUrl, `${terminate} and wait_event_type = 'Lock'`);
  const ended = await waiting;
  released.resolve();
  await holding;
  expect(ended.status).toBe(503);

  await execute(service().databaseUrl, terminate);
  await expect.poll(async () => (await create()).status).toBe(201);
});

/** Messages of PostgreSQL's protocol: the caller may come in, and may ask. */
const welcome = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
const refusal = Buffer.from('E\0\0\0\x15SERROR\0C42501\0M\0\0Z\0\0\0\x05I', 'latin1');

test.each<[string, (socket: Socket) => void]>([
  ['closes the connection', (socket) => socket.destroy()],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  ['says nothing', () => undefined],
  ['refuses', (socket) => socket.write(refusal)],
])(
  'a server that lets in and then %s ends no process, is not taken for one that may have written, and keeps no connection (rule 90)',
  async (_what, then) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
      socket.once('data', () => {
        socket.write(welcome);
        socket.on('data', (bytes: Buffer) => void (bytes.includes('Q') && then(socket)));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const { pool, reads, close } = connectPool(`postgres://127.0.0.1:${port}/nowhere`, 8, () => undefined);
    const since = performance.now();
    const failures = await Promise.allSettled([pool.query('select 1'), reads.send({ name: undefined, text: 'select 1', values: [] })]);
    for (const failure of failures) {
      const error: unknown = failure.status === 'rejected' ? failure.reason : 'answered';
      expect(error).toBeInstanceOf(Error);
      expect(connectionWasLost(error)).toBe(false);
    }
    await close();
    expect(performance.now() - since, 'two seconds are for connecting, this included').toBeLessThan(4_000);
    await expect.poll(() => sockets.size).toBe(0);
    server.close();
  },
);
