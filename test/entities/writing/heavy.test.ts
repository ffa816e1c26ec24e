/**
 * Requests that cost the database much. Each runs in a statement of its own and waits in its user's queue, so that other callers are not
 * delayed (rule 70).
 */
import { sql } from 'kysely';
import { Client } from 'pg';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Admission } from '../../../src/admission/admission.ts';
import { rowsOf, type Entity } from '../../support/entities.ts';
import { useService, type Answer } from '../../support/service.ts';

const service = useService();
let ada: string;
let bob: string;
let carol: string;

beforeAll(async () => {
  const cookieOf = async (name: string) => await service().openSession((await service().createUser(name)).id);
  [ada, bob, carol] = [await cookieOf('ada'), await cookieOf('bob'), await cookieOf('carol')];
});

const write = (cookie: string, path: string, json: object): Promise<Answer<Entity>> =>
  service().call<Entity>('POST', path, { cookie, json });
const pathOf = ({ body }: Answer<Entity>) => `/rest/entity/${body.name}/${body.key}`;

const objects = (count: number) => ({ list: Array.from({ length: count - 1 }, () => ({})) });
const long = { text: 'x'.repeat(20_000) };

/** Calls `work` while no transaction can write entities, and then waits for the result of the function that it returns. */
async function whileLocked<T>(work: (locking: Client) => Promise<() => Promise<T>>): Promise<T> {
  // Neither a connection of the service nor of a pooler.
  const client = new Client({ connectionString: service().databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query('lock table entity in exclusive mode');
  const finish = await work(client);
  await client.query('commit');
  return await finish();
}

const statementsThatWait = async (client: Client): Promise<number> => {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_locks where not granted and relation = 'entity'::regclass and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows[0]?.count ?? 0;
};

/** The transaction that wrote each row, by the row's key. */
async function transactionsOf(name: string): Promise<Map<string, string>> {
  const { rows } = await sql<{ key: string; transaction: string }>`
    select key, xmin::text as transaction from entity where name = ${name}`.execute(service().db);
  return new Map(rows.map(({ key, transaction }) => [key, transaction]));
}

/** Asserts that a transaction of its own wrote each of the heavy answers, and no light one. */
async function expectAlone(heavy: Answer<Entity>[], light: Answer<Entity>[], status: 200 | 201): Promise<void> {
  for (const answer of [...heavy, ...light]) expect(answer.status, answer.text).toBe(status);
  const transactions = await transactionsOf(heavy[0]?.body.name ?? '');
  const of = (answers: Answer<Entity>[]) => new Set(answers.map(({ body }) => transactions.get(body.key)));
  expect(of(heavy).size).toBe(heavy.length);
  expect(of(light).size).toBeLessThan(light.length);
  expect([...of(heavy)].filter((transaction) => of(light).has(transaction))).toEqual([]);
}

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

describe('createEntity', () => {
  test.each([
    ['of 101 objects', objects(101)],
    ['of 20,000 characters', long],
  ])('201 — one %s has a transaction of its own, while others share theirs (rule 70)', async (kind, fields) => {
    const path = `/rest/entity/create-${kind.replaceAll(/\W/g, '-')}`;
    const answers = await whileLocked(async (locking) => {
      const sent = [
        ...many(35, (n) => write(ada, path, { n })),
        ...many(4, () => write(bob, path, fields)),
        ...many(35, (n) => write(ada, path, { n })),
      ];
      await expect.poll(() => statementsThatWait(locking)).toBeGreaterThan(1);
      return () => Promise.all(sent);
    });
    await expectAlone(answers.slice(35, 39), [...answers.slice(0, 35), ...answers.slice(39)], 201);
    expect(answers.slice(35, 39).map(({ body }) => body.fields)).toEqual(many(4, () => fields));
  });

  test('201 — a heavy create with an Idempotency-Key can be repeated like any other (rule 79)', async () => {
    const send = () =>
      service().call<Entity>('POST', '/rest/entity/keyed', { cookie: ada, json: long, headers: { 'idempotency-key': 'k' } });
    const [first, again] = [await send(), await send()];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(await rowsOf(service(), 'keyed')).toHaveLength(1);
  });
});

describe('updateEntity', () => {
  test.each([
    ['a patch of 101 objects', {}, objects(101)],
    ['a patch of 20,000 characters', {}, long],
    ['a small patch of an entity of 20,000 characters, stored in 300 bytes', long, { a: 1 }],
    [
      'a small patch of an entity of 20,000 characters that do not compress',
      { text: many(2_500, () => Math.random().toString(36).slice(2, 10)).join('') },
      { a: 1 },
    ],
  ])('200 — %s has a transaction of its own, while others share theirs (rule 70)', async (kind, fields, patch) => {
    const name = `update-${kind.replaceAll(/\W/g, '-').slice(0, 50)}`;
    const light = await Promise.all(many(70, () => write(ada, `/rest/entity/${name}`, { kept: true })));
    const heavy = await Promise.all(many(4, () => write(bob, `/rest/entity/${name}`, fields)));
    const answers = await whileLocked(async (locking) => {
      const sent = [
        ...light.slice(0, 35).map((one) => write(ada, pathOf(one), { a: 1 })),
        ...heavy.map((one) => write(bob, pathOf(one), patch)),
        ...light.slice(35).map((one) => write(ada, pathOf(one), { a: 1 })),
      ];
      await expect.poll(() => statementsThatWait(locking)).toBeGreaterThan(1);
      return () => Promise.all(sent);
    });
    await expectAlone(answers.slice(35, 39), [...answers.slice(0, 35), ...answers.slice(39)], 200);
    for (const { body } of answers.slice(35, 39)) expect(body).toMatchObject({ version: 2, fields: { ...fields, ...patch } });
  });

  test('200 — one heavy patch of each user runs, of all users two, and small updates overtake them (rule 70)', async () => {
    const { db } = service();
    const make = (cookie: string) => write(cookie, '/rest/entity/turns', {});
    const targets = {
      ada: await Promise.all(many(5, () => make(ada))),
      bob: await make(bob),
      carol: await make(carol),
      free: await make(ada),
    };
    const sent: Promise<Answer<Entity>>[] = [];
    const lockWaits = async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ilike '%json_merge_patch%'`.execute(db);
      return rows[0]?.count;
    };
    await db.transaction().execute(async (trx) => {
      await sql`select from entity where name = 'turns' and key <> ${targets.free.body.key} for update`.execute(trx);
      sent.push(...targets.ada.map((one) => write(ada, pathOf(one), objects(101))));
      await expect.poll(lockWaits).toBe(1);
      expect((await write(ada, pathOf(targets.free), { n: 1 })).status).toBe(200);
      expect(await lockWaits()).toBe(1);
      sent.push(write(bob, pathOf(targets.bob), objects(101)), write(carol, pathOf(targets.carol), objects(101)));
      await expect.poll(lockWaits).toBe(2);
      expect((await write(carol, pathOf(targets.free), { n: 2 })).status).toBe(200);
      expect(await lockWaits()).toBe(2);
    });
    // On a slow machine the first ones may reach the two seconds that a statement waits for a lock.
    const answers = await Promise.all(sent);
    for (const answer of answers) expect([200, 503], answer.text).toContain(answer.status);
    const written = answers.filter(({ status }) => status === 200).map(({ body }) => body.createdBy);
    expect([...new Set(written)].sort()).toEqual(['ada', 'bob', 'carol']);
  });

  test('503 busy — a user whose queue is full is refused and nothing changes; another user is served (rule 70)', async () => {
    const target = await write(ada, '/rest/entity/queue', {});
    const other = await write(bob, '/rest/entity/queue', {});
    const sent = await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity where name = 'queue' and key = ${target.body.key} for update`.execute(trx);

        const sent = many(300, (n) => write(ada, pathOf(target), { ...long, n }));
        // On a busy machine the patch that waits for the row may be answered first: 503 unavailable, after two seconds.
        const refused = await Promise.any(sent.map(async (answer) => ((await answer).text.includes('"busy"') ? answer : Promise.reject())));
        expect([refused.status, refused.body, refused.headers.get('retry-after')]).toMatchObject([503, { code: 'busy' }, '1']);
        expect((await write(bob, pathOf(other), long)).status).toBe(200);
        return sent;
      });
    const answers = await Promise.all(sent);
    const [row] = await rowsOf(service(), 'queue');
    expect(Number(row?.version) - 1).toBe(answers.filter(({ status }) => status === 200).length);
  });

  test('404, 412 and 413 — a heavy patch is refused like any other', async () => {
    const made = await write(ada, '/rest/entity/refused', long);
    const patch = (path: string, json: object, headers: Record<string, string> = {}) =>
      service().call('POST', path, { cookie: ada, json, headers });
    expect((await patch('/rest/entity/refused/1', long)).status).toBe(404);
    for (const json of [long, { a: 1 }]) expect((await patch(pathOf(made), json, { 'if-match': '"2"' })).status).toBe(412);
    const large = (text: string) => ({ [text]: text.repeat(1_000_000) });
    for (const text of ['a', 'b']) expect((await patch(pathOf(made), large(text))).status).toBe(200);
    const refused = await patch(pathOf(made), large('c'));
    expect([refused.status, refused.body.code]).toEqual([413, 'content-too-large']);
    expect((await rowsOf(service(), 'refused'))[0]?.version).toBe('3');
  });
});

describe('a heavy request of a disconnected client', () => {
  test('does not run in its turn, and the requests behind it do (rule 70)', async () => {
    const target = await write(ada, '/rest/entity/left', { n: 0 });
    const leaving = new AbortController();
    const sent = await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity where name = 'left' for update`.execute(trx);
        const first = write(ada, pathOf(target), long);
        const waiting = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        await expect.poll(async () => (await waiting.execute(service().db)).rows[0]?.count).toBe(1);
        const [headers, body] = [{ cookie: ada, 'content-type': 'application/json' }, JSON.stringify(long)];
        const abandoned = fetch(`${service().url}/rest/entity/left`, { method: 'POST', headers, body, signal: leaving.signal });
        // By then the server has read the request, and after the abort it has detected the disconnect.
        for (let n = 0; n < 5; n++) expect((await service().call('GET', '/auth', { cookie: bob })).status).toBe(200);
        leaving.abort();
        await expect(abandoned).rejects.toThrow();
        for (let n = 0; n < 5; n++) expect((await service().call('GET', '/auth', { cookie: bob })).status).toBe(200);
        return { first, last: write(ada, '/rest/entity/left', long) };
      });
    expect((await sent.first).status).toBe(200);
    const last = await sent.last;
    expect(last.status).toBe(201);
    expect((await rowsOf(service(), 'left')).map(({ key }) => key)).toEqual([target.body.key, last.body.key]);
  });
});

describe('getEntity', () => {
  const large = { text: 'x'.repeat(100_000) };

  test('200 and 304 — heavy entities are read while heavy writes wait for rows (rule 70)', async () => {
    const made = await write(ada, '/rest/entity/read', large);
    const blocked = await Promise.all([ada, bob, carol].map((cookie) => write(cookie, '/rest/entity/held', {})));
    const read = (headers: Record<string, string> = {}) => service().call<Entity>('GET', pathOf(made), { cookie: ada, headers });
    const writing = await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity where name = 'held' for update`.execute(trx);
        const writing = [ada, bob, carol].map((cookie, n) => write(cookie, pathOf(blocked[n] ?? made), long));
        const waiting = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        await expect.poll(async () => (await waiting.execute(service().db)).rows[0]?.count).toBe(2);
        expect(await read()).toMatchObject({ status: 200, body: { version: 1, fields: large } });
        expect((await read({ 'if-none-match': '"1"' })).status).toBe(304);
        // Neither write has ended by now.
        expect((await waiting.execute(service().db)).rows[0]?.count).toBe(2);
        return writing;
      });
    await Promise.all(writing);
  });

  test.each([
    ['20,000', long],
    ['100,000', large],
  ])('200 — 100 concurrent reads by one user of an entity of %s characters are all answered (rule 70)', async (_size, fields) => {
    const made = await write(ada, '/rest/entity/crowd', fields);
    const answers = await Promise.all(many(100, () => service().call<Entity>('GET', pathOf(made), { cookie: ada })));
    expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
  });

  test('three heavy reads of a user run, and another user’s read waits for none of them (rule 70)', async () => {
    const admission = new Admission();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const read = (flow: string) =>
      admission.run('heavy-read', { flow }, () => {
        begun.push(flow);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const reads = ['ada', 'ada', 'ada', 'ada', 'ada', 'bob'].map(read);
    await expect.poll(() => begun).toEqual(['ada', 'ada', 'ada', 'bob']);
    ends[0]?.();
    await expect.poll(() => begun).toEqual(['ada', 'ada', 'ada', 'bob', 'ada']);
    ends[1]?.();
    await expect.poll(() => begun.length).toBe(6);
    for (const end of ends) end();
    await Promise.all(reads);
  });

  test('three lists of a user run, and another user’s list waits for none of them (rule 70)', async () => {
    const admission = new Admission();
    const begun: string[] = [];
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const list = (flow: string) =>
      admission.run('list', { flow }, () => {
        begun.push(flow);
        return over;
      });
    const lists = ['ada', 'ada', 'ada', 'ada', 'ada', 'bob', 'carol'].map(list);
    await expect.poll(() => begun).toEqual(['ada', 'ada', 'ada', 'bob']);
    expect(admission.figures.find(({ name }) => name === 'list')).toEqual({ name: 'list', running: 4, limit: 4, waiting: 3, refused: 0 });
    end();
    await Promise.all(lists);
    expect(begun).toHaveLength(7);
  });
});

test('deleteEntity: 204 — of the deletes of a user four wait for a row at once, and another user’s waits for none of them (rule 70)', async () => {
  const [locked, free] = [await write(ada, '/rest/entity/removed', {}), await write(bob, '/rest/entity/removed', {})];
  const remove = (cookie: string, answer: Answer<Entity>) => service().call('DELETE', pathOf(answer), { cookie });
  const client = new Client({ connectionString: service().databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query('select from entity where name = $1 and key = $2 for update', ['removed', locked.body.key]);
  const waiting = many(30, () => remove(ada, locked));
  const deletes = () => service().context.admission.figures.find(({ name }) => name === 'delete');
  await expect.poll(() => deletes()?.running).toBe(4);
  expect(deletes()?.waiting).toBeGreaterThan(0);
  expect((await remove(bob, free)).status).toBe(204);
  await client.query('commit');
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  // Where the machine is slow, some have waited too long for the row.
  expect([204, 404, 503]).toEqual(expect.arrayContaining(statuses));
  await remove(ada, locked);
  expect(await rowsOf(service(), 'removed')).toEqual([]);
});
