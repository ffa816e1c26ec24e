/** Every write with an Idempotency-Key takes effect once, even if the client repeats it (security rule 79). Creates are in `idempotency.test.ts`. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import { inSchema } from '../../../src/entities/companion/table.ts';
import { findStoredType } from '../../../src/entity-types/store.ts';
import { declareType, rowsOf, seed, whileWaiting, type Entity } from '../../support/entities.ts';
import { race } from '../../support/races.ts';
import { useService, type Answer, type Call, type TestGrants, type TestService } from '../../support/service.ts';

const service = useService();
let replica: TestService;
let cookie: string;
/** The name of the entities. A test of types has one of its own. */
let name = 'order';
let count = 0;
const newNumber = () => `A-${++count}`;

const text = { type: 'string' };
const type = {
  type: 'object',
  properties: { number: text, state: text, main: { type: ['string', 'null'], format: 'int64' } },
  'x-unique': [{ fields: ['number'] }],
  'x-references': { main: { to: 'order', onDelete: 'set-null' } },
};

beforeAll(async () => {
  const all: TestGrants = { '*': ['create', 'read', 'update', 'delete', 'purge'] };
  cookie = await service().openSession((await service().createUser('ada', all)).id);
  await declareType(service(), 'order', type);
  replica = await service().replica();
});
beforeEach(() => {
  name = 'order';
});
afterAll(async () => {
  await replica.stop();
});

interface Request extends Call {
  method: string;
  path: string;
}

const send = async <T = Entity>({ method, path, ...call }: Request, key?: string, at: TestService = service()): Promise<Answer<T>> =>
  await at.call<T>(method, path, { cookie, ...call, headers: { ...(key !== undefined && { 'idempotency-key': key }), ...call.headers } });
const isReplay = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';
const create = async (fields: object = {}) => (await send({ method: 'POST', path: `/rest/entity/${name}`, json: fields })).body;
const update = ({ key }: Entity, json: object): Request => ({ method: 'POST', path: `/rest/entity/${name}/${key}`, json });
/** The changes of the entities of this test, oldest first. */
const history = async () => {
  const changes = service().db.selectFrom('entity_change').where('name', '=', name).orderBy('id');
  return (await changes.select(['key', 'version', 'operation']).execute()).map(
    ({ key, version, operation }) => `${operation} ${key} ${version}`,
  );
};

/** Requests that each have an effect, and another request that is not the same. */
const writes: Record<string, () => Promise<{ request: Request; other: Request; status: number }>> = {
  update: async () => {
    const entity = await create({ state: 'new' });
    const request = { ...update(entity, { state: 'paid' }), headers: { 'if-match': '"1"' } };
    return { request, other: { ...request, headers: { 'if-match': '"2"' } }, status: 200 };
  },
  'update of a large entity': async () => {
    const request = update(await create({ state: 'x'.repeat(20_000) }), { more: 1 });
    return { request, other: { ...request, json: { more: 2 } }, status: 200 };
  },
  delete: async () => {
    const [one, other] = [await create(), await create()];
    const at = ({ key }: Entity) => ({ method: 'DELETE', path: `/rest/entity/${name}/${key}` });
    return { request: at(one), other: at(other), status: 204 };
  },
  'delete of an entity that others refer to': async () => {
    const main = await create();
    await create({ main: main.key });
    const request = { method: 'DELETE', path: `/rest/entity/${name}/${main.key}` };
    return { request, other: { ...request, headers: { 'if-match': '*' } }, status: 204 };
  },
  restore: async () => {
    const entity = await create({ state: 'new' });
    await send(update(entity, { state: 'paid' }));
    const at = (version: number) => ({ method: 'POST', path: `/rest/entity/${name}/${entity.key}/restore?version=${version}` });
    return { request: at(1), other: at(2), status: 200 };
  },
  'upsert that creates': async () => {
    const request = { method: 'POST', path: `/rest/entity/${name}/upsert?by=number`, json: { number: newNumber(), state: 'new' } };
    return { request, other: { ...request, json: { number: newNumber() } }, status: 201 };
  },
  'upsert that updates': async () => {
    const number = newNumber();
    await create({ number });
    const request = { method: 'POST', path: `/rest/entity/${name}/upsert?by=number`, json: { number, state: 'paid' } };
    return { request, other: { ...request, headers: { 'if-match': '*' } }, status: 200 };
  },
  'bulk create': async () => {
    const request = { method: 'POST', path: `/rest/entity/${name}/bulk`, json: [{ number: newNumber() }, {}] };
    return { request, other: { ...request, json: [{ number: newNumber() }] }, status: 200 };
  },
  batch: async () => {
    const [one, old] = [await create({ state: 'new' }), await create()];
    const operations = [
      { op: 'create', id: 'o', name, fields: { number: newNumber() } },
      { op: 'create', name, fields: { main: { $ref: 'o' } } },
      { op: 'update', name, key: one.key, fields: { state: 'paid' } },
      { op: 'delete', name, key: old.key },
      { op: 'get', name, key: one.key },
    ];
    const request = { method: 'POST', path: '/rest/batch', json: { operations } };
    return { request, other: { ...request, json: { operations: operations.slice(2, 3) } }, status: 200 };
  },
};

describe.for(Object.keys(writes))('%s with an Idempotency-Key', (what) => {
  test('200, 201, 204, 409 and 422 — six at once take effect once; a later repeat gets the same bytes; another request is refused (rule 79)', async () => {
    const prepared = await writes[what]?.();
    if (!prepared) throw new Error(what);
    const { request, other, status } = prepared;
    const before = await history();
    const answers = await race(6, (n) => send(request, what, n % 2 ? replica : service()));
    const done = answers.filter((answer) => answer.status === status);
    const first = done.find((answer) => !isReplay(answer));
    expect(
      done.filter((answer) => !isReplay(answer)),
      answers.map((answer) => answer.text).join(),
    ).toHaveLength(1);
    for (const refused of answers.filter((answer) => answer.status !== status)) {
      expect([refused.status, refused.body]).toEqual([409, expect.objectContaining({ code: 'idempotency-in-progress' })]);
      expect(refused.headers.get('retry-after')).toBe('1');
    }
    const effects = (await history()).slice(before.length);
    expect(effects).not.toEqual([]);
    for (const key of new Set(effects.flatMap((effect) => (effect.startsWith('deleted') ? [] : (effect.split(' ')[1] ?? '')))))
      expect((await send({ method: 'POST', path: `/rest/entity/${name}/${key}`, json: { state: 'changed' } })).status).toBe(200);
    const after = await history();
    for (const at of [service(), replica]) {
      const repeat = await send(request, `"${what}"`, at);
      expect([repeat.status, repeat.text, isReplay(repeat)]).toEqual([status, first?.text, true]);
      for (const header of ['location', 'etag', 'content-type']) expect(repeat.headers.get(header)).toBe(first?.headers.get(header));
    }
    const refused = await send(other, what);
    expect([refused.status, refused.body]).toEqual([422, expect.objectContaining({ code: 'idempotency-key-reused' })]);
    expect(await history()).toEqual(after);
  });
});

describe('a key of any write', () => {
  test('409 — while another request with it is in progress, and 200 after that one has failed (rule 79)', async () => {
    const entity = await create();
    await service()
      .db.transaction()
      .execute(async (trx) => {
        const place = sql`jsonb_build_array('ada', ${name}::text, 'updateEntity', 'slow')::text`;
        await sql`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`.execute(trx);
        const answer = await send(update(entity, { state: 'paid' }), 'slow');
        expect([answer.status, answer.body]).toEqual([409, expect.objectContaining({ code: 'idempotency-in-progress' })]);
      });
    expect((await rowsOf(service(), name)).find(({ key }) => key === entity.key)?.version).toBe('1');
    expect((await send(update(entity, { state: 'paid' }), 'slow')).status).toBe(200);
  });

  test('404, 409, 412 and 422 — a refusal is not stored: the same request takes effect when its cause is gone (rule 79)', async () => {
    const [entity, number] = [await create(), newNumber()];
    const taken = await create({ number });
    const refused: [number, string, Request][] = [
      [409, 'a', update(entity, { number })],
      [412, 'b', { ...update(entity, { state: 'paid' }), headers: { 'if-match': '"2"' } }],
      [422, 'c', update(entity, { state: 1 })],
      [422, 'd', update(entity, { main: '9000000000000000000' })],
      [409, 'e', { method: 'POST', path: `/rest/entity/${name}/bulk`, json: [{}, { number }] }],
      [409, 'f', { method: 'POST', path: '/rest/batch', json: { operations: [{ op: 'create', name, fields: { number } }] } }],
      [404, 'g', { method: 'DELETE', path: `/rest/entity/${name}/9000000000000000000` }],
    ];
    const before = await history();
    for (const [status, key, request] of refused) expect((await send(request, key)).status, key).toBe(status);
    expect(await history()).toEqual(before);
    expect(
      await service()
        .db.selectFrom('idempotency')
        .where('entity', 'in', [name, ''])
        .where('key', 'in', ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
        .select('key')
        .execute(),
    ).toEqual([]);
    await send(update(taken, { number: newNumber() }));
    for (const key of ['a', 'b']) {
      const request = refused.find(([, each]) => each === key)?.[2];
      expect((await send(request as Request, key)).status, key).toBe(200);
    }
  });

  test('200 — belongs to the user, the operation and the name: others have a request of their own (rule 79)', async () => {
    const entity = await create();
    const theirs = { 'x-api-key': await service().createKey((await service().createUser('bob')).id) };
    const mine = update(entity, { state: 'mine' });
    const by = (json: object): Request => ({ ...update(entity, json), cookie: '', headers: theirs });
    expect((await send(mine, 'shared')).body).toMatchObject({ version: 2, updatedBy: 'ada' });
    expect((await send(by({ state: 'theirs' }), 'shared')).body).toMatchObject({ version: 3, updatedBy: 'bob' });
    const restored = await send({ method: 'POST', path: `/rest/entity/${name}/${entity.key}/restore?version=1` }, 'shared');
    expect([restored.body.version, isReplay(restored)]).toEqual([4, false]);
    for (const [request, version] of [
      [mine, 2],
      [by({ state: 'theirs' }), 3],
    ] as const) {
      const repeat = await send(request, 'shared');
      expect([repeat.body.version, isReplay(repeat)]).toEqual([version, true]);
    }
  });

  /** Requests with all that makes two of them the same, and for each member one that has another value of it. */
  const members: Record<string, () => Promise<{ request: Request; others: Record<string, Request> }>> = {
    update: async () => {
      const [one, other] = [await create({ state: 'new' }), await create()];
      const request = { ...update(one, { state: 'paid' }), headers: { 'if-match': '"1"' } };
      return {
        request,
        others: {
          key: { ...request, path: update(other, {}).path },
          'If-Match': { ...request, headers: { 'if-match': '*' } },
          'no If-Match': { ...request, headers: {} },
          body: { ...request, json: { state: 'sent' } },
        },
      };
    },
    restore: async () => {
      const [one, other] = [await create({ state: 'new' }), await create()];
      await send(update(one, { state: 'paid' }));
      const at = ({ key }: Entity, version: number) => `/rest/entity/${name}/${key}/restore?version=${version}`;
      const request = { method: 'POST', path: at(one, 1), headers: { 'if-match': '"2"' }, json: {} };
      return {
        request,
        others: {
          key: { ...request, path: at(other, 1) },
          version: { ...request, path: at(one, 2) },
          'If-Match': { ...request, headers: { 'if-match': '"3"' } },
          'no If-Match': { ...request, headers: {} },
          body: { ...request, json: { state: 'sent' } },
        },
      };
    },
    delete: async () => {
      const [one, other] = [await create(), await create()];
      const at = ({ key }: Entity, query = '') => `/rest/entity/${name}/${key}${query}`;
      const request = { method: 'DELETE', path: at(one), headers: { 'if-match': '"1"' } };
      return {
        request,
        others: {
          key: { ...request, path: at(other) },
          'If-Match': { ...request, headers: { 'if-match': '*' } },
          'no If-Match': { ...request, headers: {} },
          purge: { ...request, path: at(one, '?purge=1') },
        },
      };
    },
    'upsert that updates': async () => {
      const entity = await create({ number: newNumber(), state: 'new' });
      const path = (by: string) => `/rest/entity/${name}/upsert?by=${by}`;
      const request = { method: 'POST', path: path('number'), json: { ...entity.fields, state: 'paid' }, headers: { 'if-match': '"1"' } };
      return {
        request,
        others: {
          by: { ...request, path: path('state') },
          'If-Match': { ...request, headers: { 'if-match': '*' } },
          'no If-Match': { ...request, headers: {} },
          body: { ...request, json: { ...entity.fields, state: 'sent' } },
        },
      };
    },
    'upsert that creates': async () => {
      const path = `/rest/entity/${name}/upsert?by=number`;
      const request = { method: 'POST', path, json: { number: newNumber() }, headers: { 'if-none-match': '*' } };
      return { request, others: { 'no If-None-Match': { ...request, headers: {} }, body: { ...request, json: { number: newNumber() } } } };
    },
    'bulk create': async () => {
      const request = { method: 'POST', path: `/rest/entity/${name}/bulk`, json: [{ state: 'a' }, {}] };
      return { request, others: { order: { ...request, json: request.json.toReversed() } } };
    },
    batch: async () => {
      const operations = [
        { op: 'create', name, fields: { state: 'a' } },
        { op: 'create', name, fields: {} },
      ];
      const request = { method: 'POST', path: '/rest/batch', json: { operations } };
      return {
        request,
        others: {
          order: { ...request, json: { operations: operations.toReversed() } },
          atomic: { ...request, json: { operations, atomic: true } },
        },
      };
    },
  };

  test.each(Object.keys(members))('422 — %s: another request is one that differs in any member (rule 79)', async (what) => {
    const prepared = await members[what]?.();
    if (!prepared) throw new Error(what);
    const { request, others } = prepared;
    const key = `members of ${what}`;
    const first = await send(request, key);
    expect(first.status, first.text).toBeLessThan(300);
    const before = await history();
    for (const [member, other] of Object.entries(others)) {
      const refused = await send(other, key);
      expect([refused.status, refused.body], member).toEqual([422, expect.objectContaining({ code: 'idempotency-key-reused' })]);
    }
    expect(isReplay(await send(request, key))).toBe(true);
    expect(await history()).toEqual(before);
  });

  test('200 — expires after 24 hours by the database’s clock, and not before (rules 4 and 79)', async () => {
    const request = update(await create(), { state: 'paid' });
    const age = (interval: string) =>
      sql`update idempotency set created_at = now() - ${interval}::interval where key = 'day'`.execute(service().db);
    await send(request, 'day');
    await age('23 hours 59 minutes');
    expect((await send(request, 'day')).body.version).toBe(2);
    await send({ ...request, json: { state: 'changed' } });
    await age('24 hours');
    const next = await send(request, 'day');
    expect([next.body.version, isReplay(next)]).toEqual([4, false]);
    const repeat = await send(request, 'day');
    expect([repeat.body.version, isReplay(repeat)]).toEqual([4, true]);
  });

  test('200 — a repeat gets its answer although the type that has changed since refuses the body; a new key is 422 (rule 79)', async () => {
    name = 'typed';
    const batch = { method: 'POST', path: '/rest/batch', json: { operations: [{ op: 'create', name, fields: { state: 'new' } }] } };
    const requests = [update(await create(), { state: 'paid' }), batch];
    for (const request of requests) expect((await send(request, 'typed')).status).toBe(200);
    await declareType(service(), name, { type: 'object', properties: { state: { type: 'integer' } } });
    for (const request of requests) {
      const repeat = await send(request, 'typed');
      expect([repeat.status, isReplay(repeat)], repeat.text).toEqual([200, true]);
      expect((await send(request, 'new')).status).toBe(422);
    }
  });

  test('200 — a request that meets the effect of the first one, whose key it did not see yet, gets the answer of that one (rule 79)', async () => {
    const { db } = service();
    const request = { ...update(await create(), { state: 'paid' }), headers: { 'if-match': '"1"' } };
    await send(request, 'unseen');
    const before = await history();
    const [claim] = await db.deleteFrom('idempotency').where('key', '=', 'unseen').returningAll().execute();
    if (!claim) throw new Error('the key is not stored');
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    let answer: Promise<Answer<Entity>> | undefined;
    await db.transaction().execute(async (trx) => {
      await sql`lock table entity_type in access exclusive mode`.execute(trx);
      answer = send(request, 'unseen');
      // The service itself may read types meanwhile.
      await expect.poll(async () => (await waiting.execute(db)).rows.length).toBeGreaterThanOrEqual(1);
      await trx
        .insertInto('idempotency')
        .values({ ...claim, results: JSON.stringify(claim.results) })
        .execute();
    });
    const repeat = await answer;
    expect([repeat?.status, repeat?.body.version, repeat && isReplay(repeat)]).toEqual([200, 2, true]);
    expect(await history()).toEqual(before);
  });

  /** Writes that have an effect each time, with what makes the next time possible. Those of {@link writes} would be refused the second time. */
  const again: Record<string, () => Promise<{ request: Request; next?: () => Promise<unknown> }>> = {
    update: async () => {
      const entity = await create({ state: 'new' });
      return { request: update(entity, { state: 'paid' }), next: () => send(update(entity, { state: 'new' })) };
    },
    restore: async () => {
      const entity = await create({ state: 'new' });
      const next = () => send(update(entity, { state: 'paid' }));
      await next();
      return { request: { method: 'POST', path: `/rest/entity/${name}/${entity.key}/restore?version=1` }, next };
    },
    'upsert that updates': async () => {
      const entity = await create({ number: newNumber(), state: 'new' });
      const request = { method: 'POST', path: `/rest/entity/${name}/upsert?by=number`, json: { ...entity.fields, state: 'paid' } };
      return { request, next: () => send(update(entity, { state: 'new' })) };
    },
    'upsert that creates': async () => {
      const number = newNumber();
      const request = { method: 'POST', path: `/rest/entity/${name}/upsert?by=number`, json: { number, state: 'new' } };
      const next = async () => {
        const made = (await rowsOf(service(), name)).find(({ fields }) => fields.includes(number));
        await send({ method: 'DELETE', path: `/rest/entity/${name}/${made?.key}` });
      };
      return { request, next };
    },
    delete: async () => {
      name = 'loose';
      const entity = await create();
      const next = () => seed(service(), name, entity.key, {}, 'ada');
      return { request: { method: 'DELETE', path: `/rest/entity/${name}/${entity.key}` }, next };
    },
    'bulk create': async () => ({ request: { method: 'POST', path: `/rest/entity/${name}/bulk`, json: [{}, {}] } }),
    batch: async () => ({ request: { method: 'POST', path: '/rest/batch', json: { operations: [{ op: 'create', name, fields: {} }] } } }),
  };

  test.each(Object.keys(again))(
    '200, 201 and 204 — %s: a write whose key another transaction stores at the last moment has no effect (rule 79)',
    async (what) => {
      const { db } = service();
      const prepared = await again[what]?.();
      if (!prepared) throw new Error(what);
      const { request, next } = prepared;
      const key = `late ${what}`;
      const first = await send(request, key);
      expect(first.status, first.text).toBeLessThan(300);
      const [claim] = await db.deleteFrom('idempotency').where('key', '=', key).returningAll().execute();
      if (!claim) throw new Error('the key is not stored');
      await next?.();
      const before = await history();
      const answer = await whileWaiting(
        service(),
        sql`lock table idempotency in share mode`,
        () => send(request, key),
        (trx) =>
          trx
            .insertInto('idempotency')
            .values({ ...claim, results: JSON.stringify(claim.results) })
            .execute(),
      );
      expect([answer.status, answer.text, isReplay(answer)]).toEqual([first.status, first.text, true]);
      expect(await history()).toEqual(before);
    },
  );

  test('201 — an upsert that finds the table of the type changed runs again with the new one', async () => {
    name = 'moved';
    await declareType(service(), name, { type: 'object', properties: { number: text }, 'x-unique': [{ fields: ['number'] }] });
    const { db } = service();
    const { companion } = await findStoredType(db, name);
    const { table, columns } = companion as Companion;
    const column = columns[0]?.name ?? '';
    const changed = JSON.stringify(companion).replaceAll(`"${column}"`, '"c99"');
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    let answer: Promise<Answer<Entity>> | undefined;
    await db.transaction().execute(async (trx) => {
      await sql`alter table ${inSchema(table)} rename column ${sql.id(column)} to c99`.execute(trx);
      await sql`
        with next as (
          insert into entity_type_revision (name, document, source, plan, applied_by, companion)
          select name, document, source, plan, applied_by, ${changed} from entity_type_revision where name = ${name} returning revision)
        update entity_type set revision = (select revision from next) where name = ${name}`.execute(trx);
      // The transaction is short from here on: the upsert waits for it 2 s at most.
      answer = send({ method: 'POST', path: `/rest/entity/${name}/upsert?by=number`, json: { number: newNumber() } }, 'moved');
      await expect.poll(async () => (await waiting.execute(db)).rows.length).toBe(1);
    });
    expect((await answer)?.status).toBe(201);
  });

  test('200 — an update that waits for a row that another transaction changes takes effect once', async () => {
    const entity = await create();
    let answer: Promise<Answer<Entity>> | undefined;
    await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity where key = ${entity.key} for update`.execute(trx);
        answer = send(update(entity, { state: 'paid' }), 'waits');
        const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        await expect.poll(async () => (await waiting.execute(service().db)).rows.length).toBe(1);
      });
    expect((await answer)?.body).toMatchObject({ version: 2, fields: { state: 'paid' } });
    expect((await history()).slice(-2)).toEqual([`created ${entity.key} 1`, `updated ${entity.key} 2`]);
  });
});

describe('an answer that the history no longer has', () => {
  const forget = () => sql`update entity_change set at = now() - interval '8 days' where name = ${name}`.execute(service().db);

  test('410 — if the entity has changed since, and nothing is written again (rule 79)', async () => {
    const number = newNumber();
    const entity = await create({ number, state: 'new' });
    const requests: [string, Request][] = [
      ['gone 1', update(entity, { state: 'paid' })],
      ['gone 2', { method: 'POST', path: `/rest/entity/${name}/${entity.key}/restore?version=1` }],
      ['gone 3', { method: 'POST', path: `/rest/entity/${name}/upsert?by=number`, json: { number, state: 'sent' } }],
    ];
    for (const [key, request] of requests) expect((await send(request, key)).status, key).toBe(200);
    await forget();
    const last = await send(requests[2]?.[1] as Request, 'gone 3');
    expect([last.status, last.body.fields, isReplay(last)]).toEqual([200, { number, state: 'sent' }, true]);
    await send(update(entity, { state: 'changed' }));
    const before = await history();
    for (const [key, request] of requests) {
      const answer = await send(request, key);
      expect([answer.status, answer.body], key).toEqual([410, expect.objectContaining({ code: 'answer-gone' })]);
    }
    expect(await history()).toEqual(before);
  });

  test('410 and 403 — rights count as they are now: a caller who may no longer reach the entity does not get its values (rules 64 and 79)', async () => {
    const { id } = await service().createUser('carol', { order: ['read', 'update'] });
    const by = await service().openSession(id);
    const request = { ...update(await create({ state: 'secret' }), { more: 1 }), cookie: by };
    expect((await send(request, 'mine')).status).toBe(200);
    expect((await send(request, 'mine')).body.fields).toEqual({ state: 'secret', more: 1 });
    await service().db.updateTable('role_grant').set({ condition: 'own' }).where('entity', '=', name).execute();
    await service().settle();
    const answer = await send(request, 'mine');
    expect([answer.status, answer.text.includes('secret')]).toEqual([410, false]);
    await service().db.deleteFrom('role_grant').where('entity', '=', name).where('action', '=', 'update').execute();
    await service().settle();
    expect((await send(request, 'mine')).status).toBe(403);
  });

  test('200 — a batch tells what it did without the entities that cannot be given again, a bulk all keys (rule 79)', async () => {
    const { key } = await create({ state: 'new' });
    const operations = [
      { op: 'update', name, key, fields: { state: 'paid' } },
      { op: 'create', name, fields: { number: newNumber() } },
    ];
    const batch = { method: 'POST', path: '/rest/batch', json: { operations } };
    const bulk = { method: 'POST', path: `/rest/entity/${name}/bulk`, json: [{ number: newNumber() }] };
    const first = await send<{ results: { status: number; entity: Entity }[] }>(batch, 'all');
    const created = await send(bulk, 'all');
    await forget();
    await send({ method: 'POST', path: `/rest/entity/${name}/${key}`, json: { state: 'changed' } });
    const repeat = await send(batch, 'all');
    expect([isReplay(repeat), repeat.body]).toEqual([true, { results: [{ status: 200 }, first.body.results[1]] }]);
    expect((await send(bulk, 'all')).text).toBe(created.text);
  });
});
