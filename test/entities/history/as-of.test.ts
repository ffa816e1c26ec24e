/** `GET /rest/entity/{name}/{key}?asOf=`: an entity as it was at a time, in states in which each transaction is whole. */
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { deleteOldTicks, makeTick } from '../../../src/entities/history/ticks.ts';
import type { Action } from '../../../src/rights/vocabulary.ts';
import { declareType, type Entity } from '../../support/entities.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';
import { ageTicks, tickNow } from '../../support/ticks.ts';
import { waitingProcesses } from '../../support/waiting.ts';

const service = useService();
let [ada, bob] = ['', ''];
beforeAll(async () => {
  const all: Action[] = ['create', 'read', 'update', 'delete', 'purge'];
  ada = await service().openSession((await service().createUser('ada', { '*': all })).id);
  bob = await service().openSession((await service().createUser('bob', { note: { actions: all, condition: 'own' } })).id);
});

type Body = Entity & ProblemBody;
const call = (method: string, path: string, rest: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/entity/${path}`, { cookie: ada, ...rest });
const made = async (fields: object, cookie = ada) => (await call('POST', 'note', { json: fields, cookie })).body;
const at = ({ name, key }: Pick<Entity, 'name' | 'key'>) => `${name}/${key}`;
const update = (entity: Entity, json: object) => call('POST', at(entity), { json });
const asOf = (entity: Entity, when: string, rest: Call = {}) => call('GET', `${at(entity)}?asOf=${when}`, rest);
/** Without the time of the change, which a tick of the tests moves. */
const shown = ({ updatedAt: _, ...entity }: Entity) => entity;
const tick = () => tickNow(service());
const timeOf = async (position: string) => {
  const { at: time } = await service().db.selectFrom('feed_tick').where('n', '=', position).select('at').executeTakeFirstOrThrow();
  // The clock of PostgreSQL is finer.
  return new Date(time.getTime() + 1).toISOString();
};

test('200 — the entity as it was, by position and by time, also after its deletion; the place of the answer stays the same', async () => {
  const entity = await made({ price: 1.5 });
  const first = await tick();
  const { body: second } = await update(entity, { price: 2 });
  const changed = await tick();
  await call('DELETE', at(entity));
  const deleted = await tick();
  const then = await asOf(entity, first);
  expect([then.status, shown(then.body), then.headers.get('etag')]).toEqual([200, shown(entity), '"1"']);
  const place = then.headers.get('content-location') ?? '';
  expect(place).toBe(`/rest/entity/note/${entity.key}?asOf=${first}`);
  expect((await service().call('GET', place, { cookie: ada })).text).toBe(then.text);
  const byTime = await asOf(entity, await timeOf(changed));
  expect([shown(byTime.body), byTime.headers.get('content-location')]).toEqual([
    shown(second),
    `/rest/entity/note/${entity.key}?asOf=${changed}`,
  ]);
  expect((await asOf(entity, deleted)).status).toBe(404);
  expect((await asOf(entity, first, { headers: { 'if-none-match': '"1"' } })).status).toBe(304);
});

test('404 — an entity that was created later, and one that was purged since', async () => {
  await made({});
  const before = await tick();
  const entity = await made({ n: 1 });
  const after = await tick();
  expect((await asOf(entity, before)).status).toBe(404);
  expect((await asOf(entity, after)).status).toBe(200);
  expect((await call('DELETE', `${at(entity)}?purge=1`)).status).toBe(204);
  expect((await asOf(entity, after)).status).toBe(404);
});

test('404 — `read` of own entities covers no other user’s, and 403 without `read` (rule 64)', async () => {
  const [own, foreign] = [await made({ n: 1 }, bob), await made({ n: 1 })];
  const position = await tick();
  expect((await asOf(own, position, { cookie: bob })).status).toBe(200);
  expect((await asOf(foreign, position, { cookie: bob })).status).toBe(404);
  const writer = await service().openSession((await service().createUser('writer', { note: ['update'] })).id);
  expect((await asOf(own, position, { cookie: writer })).status).toBe(403);
});

test('410 — before the first state, for a position that is none, and where the version of that time is kept no more', async () => {
  const entity = await made({ n: 1 });
  await update(entity, { n: 2 });
  const position = await tick();
  for (const when of ['2001-01-01T00:00:00Z', String(Number(position) + 1_000)]) {
    const { status, body } = await asOf(entity, when);
    expect([status, body.code]).toEqual([410, 'position-gone']);
  }
  await update(entity, { n: 3 });
  await sql`delete from entity_change where key = ${entity.key}::bigint and version < 3`.execute(service().db);
  expect((await asOf(entity, position)).status).toBe(410);
  // The state is older than the versions of the name are kept.
  await ageTicks(service(), '8 days');
  expect((await asOf(entity, position)).status).toBe(410);
});

test('200 — an entity that has not changed for longer than versions are kept is what it is now', async () => {
  const entity = await made({ n: 1 });
  await sql`update entity_change set at = at - interval '8 days' where key = ${entity.key}::bigint`.execute(service().db);
  await made({});
  expect((await asOf(entity, await tick())).body).toEqual(entity);
});

test('404 and 410 — of an entity without versions, whose type kept them for less before, its present fields are not those of an earlier time', async () => {
  const forget = async ({ key }: Entity) => sql`delete from entity_change where key = ${key}::bigint`.execute(service().db);
  await made({});
  const before = await tick();
  const entity = await made({ n: 1 });
  const created = await tick();
  await forget(entity);
  expect((await asOf(entity, created)).body).toEqual(entity);
  expect((await asOf(entity, before)).status).toBe(404);
  await update(entity, { n: 2 });
  await forget(entity);
  expect((await asOf(entity, created)).body.code).toBe('position-gone');
});

test('400 — what is no time, and other parameters beside it', async () => {
  const entity = await made({});
  const times = [
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '0000-01-01T00:00:00Z',
    '2026-01-01T00:00:00%2B16:00',
  ];
  for (const when of ['yesterday', '0', '2026-11-20', ...times]) expect((await asOf(entity, when)).status, when).toBe(400);
  for (const other of ['version=1', 'fields=n', 'include=n', 'deleted=only'])
    expect((await asOf(entity, `1&${other}`)).status, other).toBe(400);
});

describe('a tick', () => {
  test('is made when changes were committed since the last one, and not otherwise', async () => {
    await made({});
    await tick();
    await expect.poll(makesTick).toBe(false);
    // An id is drawn before the tick, and committed after it. The snapshot of the tick does not list its transaction, since no later one has ended.
    await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`
          insert into entity_change (name, key, version, operation, changed_by, created_at, created_by, fields)
          values ('late', 1, 1, 'created', 'ada', now(), 'ada', '{}')`.execute(trx);
        await tick();
      });
    await ageTicks(service());
    await expect.poll(() => lastSees('late')).toBe(true);
    await expect.poll(makesTick).toBe(false);
  });

  test('shows a transaction under way not at all, and afterwards wholly', async () => {
    const [one, other] = [await made({ n: 0 }), await made({ n: 0 })];
    const operations = [one, other].map(({ name, key }) => ({ op: 'update', name, key, fields: { n: 1 } }));
    let batch: Promise<Answer> | undefined;
    const during = await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity where key = ${other.key}::bigint for update`.execute(trx);
        batch = service().call('POST', '/rest/batch', { cookie: ada, json: { operations } });
        await expect.poll(async () => (await waitingProcesses.execute(service().db)).rows.length).toBeGreaterThan(0);
        // Changes of others come and go.
        await made({});
        return await tick();
      });
    expect((await batch)?.status).toBe(200);
    const after = await tick();
    for (const entity of [one, other]) {
      expect((await asOf(entity, during)).body.fields).toEqual({ n: 0 });
      expect((await asOf(entity, after)).body.fields).toEqual({ n: 1 });
    }
  });

  test('shows two entities that are changed together in the same state, however many writers there are', async () => {
    const [one, other] = [await made({ n: 0 }), await made({ n: 0 })];
    await tick();
    const over = new AbortController();
    const write = async (writer: number) => {
      for (let round = 1; !over.signal.aborted; round++) {
        const operations = [one, other].map(({ name, key }) => ({ op: 'update', name, key, fields: { n: `${writer}-${round}` } }));
        await service().call('POST', '/rest/batch', { cookie: ada, json: { operations } });
      }
    };
    const writers = [1, 2, 3].map(write);
    const positions: string[] = [];
    while (positions.length < 8) {
      await delay(5);
      positions.push(await tick());
    }
    over.abort();
    await Promise.all(writers);
    const states = await Promise.all(
      positions.map(async (position) => [(await asOf(one, position)).body.fields['n'], (await asOf(other, position)).body.fields['n']]),
    );
    for (const [first, second] of states) expect(first).toBe(second);
    expect(new Set(states.map(([first]) => first)).size).toBeGreaterThan(1);
  });

  test('of another database is forgotten, and what was loaded from there counts as there before', async () => {
    const entity = await made({ n: 1 });
    const old = await tick();
    await sql`update feed_tick set snapshot = '900000000000:900000000000:' where n = ${old}::bigint`.execute(service().db);
    await sql`update entity_change set xid = '899999999999' where key = ${entity.key}::bigint`.execute(service().db);
    const position = await tick();
    expect((await asOf(entity, old)).status).toBe(410);
    expect(shown((await asOf(entity, position)).body)).toEqual(shown(entity));
    await update(entity, { n: 2 });
    expect((await asOf(entity, await tick())).body.fields).toEqual({ n: 2 });
    expect(shown((await asOf(entity, position)).body)).toEqual(shown(entity));
  });

  test('is deleted when all versions of its time are, except for the last one before them', async () => {
    const numberOf = async () => (await service().db.selectFrom('feed_tick').select('n').execute()).length;
    const ages = ['9 days', '8 days', '8 days'];
    await made({});
    await tick();
    const before = await numberOf();
    for (const age of ages)
      await sql`
        insert into feed_tick (at, snapshot, last_id, awaited, loaded_to)
        select now() - ${age}::interval, '10:10:', 0, '10', 0`.execute(service().db);
    expect(await deleteOldTicks(service().db, 1_000)).toBe(2);
    expect(await numberOf()).toBe(before + 1);
    await declareType(service(), 'deed', { type: 'object', 'x-history': { keep: 'P1Y' } });
    await sql`update feed_tick set at = at - interval '300 days'`.execute(service().db);
    expect(await deleteOldTicks(service().db, 1_000)).toBe(0);
  });
});

/** Whether a tick is made now. The end of any transaction that was under way in the last one is a reason. */
async function makesTick(): Promise<boolean> {
  await ageTicks(service());
  return await makeTick(service().db);
}

/** Whether the last tick shows the changes of a name. */
async function lastSees(name: string): Promise<boolean> {
  await makeTick(service().db);
  const { rows } = await sql`
    select from entity_change
    where name = ${name} and pg_visible_in_snapshot(xid, (select snapshot from feed_tick order by n desc limit 1))`.execute(service().db);
  return rows.length > 0;
}
