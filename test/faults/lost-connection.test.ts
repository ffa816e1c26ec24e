/** A connection to PostgreSQL that ends while a query or a transaction is in progress on it (security rules 77 and 90). */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { found } from '../support/contract.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { rowsOf, type Entity } from '../support/entities.ts';
import { Proxy } from '../support/proxy.ts';
import { TestService, type Answer, type Call } from '../support/service.ts';

let database: TestDatabase;
let proxy: Proxy;
let service: TestService;
/** A service on the same database without the proxy, to read the outcome. */
let witness: TestService;
let cookie: string;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await Proxy.open(database.url);
  const drop = async () => undefined;
  witness = await TestService.start({}, { url: database.url, drop });
  // One connection besides the one for notifications, so that a test knows which one it breaks. Its clock stands still, so that cache
  // entries do not expire.
  const clock = { wall: () => Date.now(), steady: () => 0 };
  service = await TestService.start({ DATABASE_POOL_SIZE: '1' }, { url: proxy.urlOf(database.url), drop }, clock);
  cookie = await witness.openSession((await witness.createUser('ada')).id);
});

afterEach(async () => {
  expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
  await proxy.restore();
});

afterAll(async () => {
  await service.close();
  await proxy.close();
  await witness.close();
  await database.drop();
});

const call = <T = { code: string }>(method: string, path: string, options: Call = {}) =>
  service.call<T>(method, path, { cookie, ...options });
const create = async (): Promise<Entity> => (await call<Entity>('POST', '/rest/entity/note', { json: { a: 1 } })).body;
const rowOf = async ({ key }: Entity) => (await rowsOf(witness, 'note')).find((row) => row.key === key);

function expectUnknown(answer: Answer<{ code: string }>): void {
  expect(answer.status, answer.text).toBe(503);
  expect(answer.body.code).toBe('outcome-unknown');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
}

describe('a connection that breaks when a write has reached the database', () => {
  test('503 — outcome-unknown: the entity was created, and the answer does not deny it', async () => {
    await create();
    const before = (await rowsOf(witness, 'note')).length;
    proxy.loseAnswerTo('entity.insert');
    expectUnknown(await call('POST', '/rest/entity/note', { json: { a: 2 } }));
    await expect.poll(async () => (await rowsOf(witness, 'note')).length).toBe(before + 1);
  });

  test('503 — outcome-unknown: a repeat with the same Idempotency-Key returns the entity, the only row (rules 77 and 79)', async () => {
    await call('POST', '/rest/entity/keyed', { json: { a: 1 }, headers: { 'idempotency-key': 'warm' } });
    const keyed = { json: { a: 2 }, headers: { 'idempotency-key': 'lost' } };
    proxy.loseAnswerTo('entity.insert-keyed');
    expectUnknown(await call('POST', '/rest/entity/keyed', keyed));
    await expect.poll(async () => (await rowsOf(witness, 'keyed')).length).toBe(2);
    const again = await call<Entity>('POST', '/rest/entity/keyed', keyed);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect((await rowsOf(witness, 'keyed')).map(({ key }) => key)).toContain(again.body.key);
    expect(await rowsOf(witness, 'keyed')).toHaveLength(2);
  });

  test('503 — outcome-unknown: the entity was changed, and its ETag shows it', async () => {
    const entity = await create();
    await call('POST', `/rest/entity/note/${entity.key}`, { json: { a: 1.5 } });
    proxy.loseAnswerTo('entity.update');
    expectUnknown(await call('POST', `/rest/entity/note/${entity.key}`, { json: { a: 2 }, headers: { 'if-match': '"2"' } }));
    await expect.poll(() => rowOf(entity)).toMatchObject({ version: '3' });
    const again = await call('POST', `/rest/entity/note/${entity.key}`, { json: { a: 2 }, headers: { 'if-match': '"2"' } });
    expect(again.status, 'a repeat with the old ETag changes nothing').toBe(412);
  });

  test('503 — outcome-unknown: the entity was deleted', async () => {
    const entity = await create();
    proxy.loseAnswerTo('entity.delete');
    expectUnknown(await call('DELETE', `/rest/entity/note/${entity.key}`));
    await expect.poll(() => rowOf(entity)).toBe(undefined);
    expect((await call('DELETE', `/rest/entity/note/${entity.key}`)).status).toBe(404);
  });

  test('503 — unavailable: a read whose connection breaks, since its outcome does not matter', async () => {
    const entity = await create();
    await call('GET', `/rest/entity/note/${entity.key}`);
    proxy.loseAnswerTo('entity.find');
    const answer = await call('GET', `/rest/entity/note/${entity.key}`);
    expect(answer.status).toBe(503);
    expect(answer.body.code).toBe('unavailable');
    expect((await call('GET', `/rest/entity/note/${entity.key}`)).status).toBe(200);
  });
});

describe('a backend that the operator terminates', () => {
  /** Ends the backends of the service that wait for a lock; returns their number. */
  const terminate = async (): Promise<number> => {
    const ended = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and wait_event_type = 'Lock'`.execute(witness.db);
    return ended.rows.length;
  };

  test('503 — while a write waits on it: nothing has changed, the process lives, and the next request is served (rule 90)', async () => {
    const entity = await create();
    let answer: Promise<Answer<{ code: string }>> | undefined;
    await witness.db.transaction().execute(async (trx) => {
      await trx.selectFrom('entity').where('key', '=', entity.key).select('key').forUpdate().execute();
      answer = call('POST', `/rest/entity/note/${entity.key}`, { json: { a: 2 } });
      await expect.poll(terminate).toBe(1);
      expectUnknown(await answer);
    });
    expect(await rowOf(entity)).toMatchObject({ version: '1' });
    expect((await call('POST', `/rest/entity/note/${entity.key}`, { json: { a: 2 } })).status).toBe(200);
  });

  test('503 — while a transaction is open on it: all of it is rolled back, and the process lives (rule 90)', async () => {
    const other = await witness.openSession((await witness.createUser('bob')).id);
    const before = await witness.db.selectFrom('session').select(['id', 'token_hash']).orderBy('id').execute();
    await witness.db.transaction().execute(async (trx) => {
      await trx.selectFrom('session').select('id').forUpdate().execute();
      const answer = service.call('POST', '/auth/refresh', { cookie: other });
      await expect.poll(terminate).toBe(1);
      expect((await answer).status).toBe(503);
    });
    expect(await witness.db.selectFrom('session').select(['id', 'token_hash']).orderBy('id').execute()).toEqual(before);
    expect((await service.call('POST', '/auth/refresh', { cookie: other })).status).toBe(200);
  });

  test('does not interrupt the service while it is idle, or when it receives the notifications (rule 90)', async () => {
    const entity = await create();
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
      witness.db,
    );
    await expect.poll(async () => (await call('GET', `/rest/entity/note/${entity.key}`)).status).toBe(200);
    await expect.poll(async () => (await witness.call('GET', '/health/ready')).status).toBe(200);
  });
});

describe('a statement that fails', () => {
  test('503 — leaves its connection in the pool: while statements fail, no request waits for a new connection', async () => {
    const connection = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(service.db)).rows[0]?.pid;
    const entity = await create();
    const before = await connection();
    await witness.db.transaction().execute(async (trx) => {
      await trx.selectFrom('entity').where('key', '=', entity.key).select('key').forUpdate().execute();
      const answer = call('POST', `/rest/entity/note/${entity.key}`, { json: { a: 2 } });
      const cancel = sql`select pg_cancel_backend(pid) from pg_stat_activity where pid = ${before} and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await cancel.execute(witness.db)).rows.length).toBe(1);
      expect((await answer).body.code).toBe('unavailable');
    });
    expect(await connection()).toBe(before);
  });
});

describe('a pool that is exhausted', () => {
  test('503 — for a request that has waited two seconds for a connection; requests succeed again when one is free', async () => {
    const { principals, store } = service.context;
    const isCached = async () => {
      const { hits } = principals;
      return (await call('GET', '/auth')).status === 200 && principals.hits > hits;
    };
    await expect.poll(isCached).toBe(true);
    await store.db.connection().execute(async () => {
      expect((await call('GET', '/auth')).status, 'a cached caller needs no connection').toBe(200);
      principals.forget('all');
      const answer = await call('GET', '/rest/entity/note/1', { headers: { 'x-api-key': `esk_${'x'.repeat(10)}` } });
      expect(answer.status, 'requests that need no database are still served').toBe(401);
      const waiting = await call('GET', '/auth');
      expect(waiting.status).toBe(503);
      expect(waiting.body.code).toBe('unavailable');
    });
    expect((await call('GET', '/auth')).status).toBe(200);
  });
});
