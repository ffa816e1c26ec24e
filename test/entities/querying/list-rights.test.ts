/** Rights count on every page and count of a list, through the condition of the permit. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Action } from '../../../src/rights/vocabulary.ts';
import { keysIn, list, pagesOf, queryBy, seedMany } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const service = useService();
const rows = Array.from({ length: 12 }, (_, n) => ({ n, secret: n % 2 }));
let keys: string[];
let ada: { cookie: string };

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  await service().createUser('bob', { note: { actions: ['read'], condition: 'own' } });
  // The owners take turns: the first row is bob's, the second ada's.
  keys = await seedMany(service(), 'note', rows, 'ada', 'bob');
});

const sessionOf = async (name: string) => {
  const { id } = await service().db.selectFrom('user_account').where('name', '=', name).select('id').executeTakeFirstOrThrow();
  return { cookie: await service().openSession(id) };
};

describe('a grant for own rows', () => {
  test('lists, counts and sorts these alone, on every page in both directions (rule 64)', async () => {
    expect(keysIn(await pagesOf(service(), ada, 'note', {}))).toEqual(keys);
    const bob = await sessionOf('bob');
    const own = keys.filter((_, index) => index % 2 === 0);
    expect(keysIn(await pagesOf(service(), bob, 'note', { limit: 2 }))).toEqual(own);
    expect(keysIn(await pagesOf(service(), bob, 'note', { limit: 2, sort: ['-n'] }))).toEqual(own.toReversed());
    expect(keysIn(await pagesOf(service(), bob, 'note', { limit: 2, filter: { n: { $gt: 3 } } }, queryBy))).toEqual(own.slice(2));
    for (const count of ['exact', 'capped', 'estimated'])
      expect((await list(service(), bob, 'note', { count, filter: { n: { $lt: 6 } } })).body.count).toEqual({ value: 3, kind: 'exact' });
    const last = (await pagesOf(service(), bob, 'note', { limit: 2 })).at(-1);
    const before = (await list(service(), bob, 'note', { limit: 2, cursor: last?.prev ?? '' })).body;
    expect(keysIn([before])).toEqual(own.slice(2, 4));
  });

  test('estimates no count, since statistics are of the rows of all (rule 64)', async () => {
    const { id } = await service().createUser('cara', { crowd: { actions: ['read'], condition: 'own' } });
    await sql`
      insert into entity (name, fields, created_by, updated_by)
      select 'crowd', '{}', case n % 2 when 0 then 'ada' else 'cara' end, 'ada' from generate_series(1, 20_010) as n`.execute(service().db);
    const estimated = async (cookie: string) => (await list(service(), { cookie }, 'crowd', { count: 'estimated', limit: 1 })).body.count;
    expect((await estimated(ada.cookie))?.kind).toBe('estimated');
    expect(await estimated(await service().openSession(id))).toEqual({ value: 10_000, kind: 'capped' });
  });

  test('gives no answer about the rows of others, whatever the filter asks (rule 64)', async () => {
    const bob = await sessionOf('bob');
    const others = keys.filter((_, index) => index % 2 === 1);
    for (const filter of [
      { $key: { $in: others } },
      { $createdBy: 'ada' },
      { secret: 1 },
      { $or: [{ secret: 1 }, { $createdBy: { $ne: 'bob' } }] },
      { $not: { $createdBy: 'bob' } },
    ])
      for (const sort of [[], ['n']])
        expect((await list(service(), bob, 'note', { filter, sort, count: 'exact' })).body).toEqual({
          items: [],
          partial: true,
          next: null,
          prev: null,
          count: { value: 0, kind: 'exact' },
        });
  });
});

describe('a stranger', () => {
  test('403 — without a grant for the name, for names with and without entities (rule 64)', async () => {
    await service().createUser('carl', { memo: ['read'], note: ['create', 'update', 'delete'] });
    const carl = await sessionOf('carl');
    for (const name of ['note', 'nothing']) {
      expect((await list<ProblemBody>(service(), carl, name)).body.code).toBe('forbidden');
      expect((await queryBy<ProblemBody>(service(), carl, name)).body.code).toBe('forbidden');
    }
    expect((await list(service(), carl, 'memo')).status).toBe(200);
  });

  test('401 — without a credential', async () => {
    expect((await service().call('GET', '/rest/entity/note')).status).toBe(401);
    expect((await service().call('POST', '/rest/entity/note/query', { json: {} })).status).toBe(401);
  });
});

test('the scopes of a key narrow lists as well (rule 59)', async () => {
  const { id } = await service().createUser('dora', { '*': ['read'] });
  const keyOf = async (actions: Action[]) => ({
    headers: { 'x-api-key': await service().createKey(id, { scopes: [{ entity: 'note', actions }] }) },
  });
  const reader = await keyOf(['read']);
  expect((await list(service(), reader, 'note')).body.items).toHaveLength(12);
  expect((await list<ProblemBody>(service(), reader, 'memo')).body.code).toBe('insufficient-scope');
  expect((await queryBy<ProblemBody>(service(), await keyOf(['create']), 'note')).body.code).toBe('insufficient-scope');
});

test('a right taken between two pages counts at once: fewer rows, then 403 (rule 62)', async () => {
  const { id } = await service().createUser('eve', { note: ['read'] });
  const eve = { cookie: await service().openSession(id) };
  await seedMany(service(), 'note', [{ n: 100 }], 'eve');
  const { db } = service();
  const role = await db.selectFrom('role').where('name', '=', 'eve').select('id').executeTakeFirstOrThrow();
  const first = (await list(service(), eve, 'note', { limit: 2 })).body;
  const cursor = first.next ?? '';
  expect((await list(service(), eve, 'note', { cursor })).body.items).toHaveLength(11);
  await db.updateTable('role_grant').set({ condition: 'own' }).where('role_id', '=', role.id).execute();
  await service().settle();
  expect((await list(service(), eve, 'note', { cursor })).body.items.map(({ fields }) => fields)).toEqual([{ n: 100 }]);
  await db.deleteFrom('role_grant').where('role_id', '=', role.id).execute();
  await service().settle();
  expect((await list(service(), eve, 'note', { cursor })).status).toBe(403);
});
