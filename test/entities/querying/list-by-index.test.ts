/** Lists of a type with indexes, through the front door. The limits of lists are lowered, so that few entities reach them. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inSchema } from '../../../src/entities/companion/table.ts';
import { listLimits } from '../../../src/entities/querying/access-path.ts';
import { declareIndexed } from '../../support/companion.ts';
import { faultsIn, keysIn, list, pagesOf, seedMany, type ListQuery } from '../../support/lists.ts';
import { declareType } from '../../support/entities.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const text = { type: ['string', 'null'] };
const customer = { type: 'object', properties: { city: text, email: text, n: { type: 'number' }, note: text } };
const service = useService();
const usual = { ...listLimits };
const rows = Array.from({ length: 12 }, (_, n) => ({ city: n % 3 === 0 ? 'London' : 'Paris', email: `User${n}@x`, n, note: `n${n % 2}` }));
let ada: { cookie: string };
let bob: { cookie: string };
let keys: string[];

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  const own = { '*': { actions: ['read' as const], condition: 'own' as const } };
  bob = { cookie: await service().openSession((await service().createUser('bob', own)).id) };
  keys = await seedMany(service(), 'customer', rows, 'ada', 'bob');
  await seedMany(service(), 'plain', rows, 'ada', 'bob');
  const rules = { 'x-index': [['city', '-n'], ['n']], 'x-unique': [{ fields: ['email'], fold: true }] };
  await declareIndexed(service(), 'customer', { ...customer, ...rules });
  await declareType(service(), 'plain', customer);
  Object.assign(listLimits, { rows: 5, rowsWithFields: 3, candidates: 5 });
});
afterAll(() => void Object.assign(listLimits, usual));

const found = async (query: ListQuery, name = 'customer') =>
  keysIn(await pagesOf(service(), ada, name, query)).map((key) => keys.indexOf(key));
const refused = async (query: ListQuery, caller = ada, name = 'customer') => {
  const answer = await list<ProblemBody>(service(), caller, name, query);
  return [answer.status, answer.body.code, ...faultsIn(answer), answer.body.errors?.[0]?.detail];
};
const sizes = async (query: ListQuery) => (await pagesOf(service(), ada, 'customer', query)).map(({ items }) => items.length);

describe('a list by an index', () => {
  test('200 — covered: full pages in the order of the index, and of its reverse', async () => {
    expect(await found({ sort: ['-n'], limit: 5 })).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(await sizes({ sort: ['-n'], limit: 5 })).toEqual([5, 5, 2]);
    expect(await found({ filter: { city: 'Paris' }, sort: ['n'], limit: 3 })).toEqual([1, 2, 4, 5, 7, 8, 10, 11]);
    expect(await found({ sort: ['city', '-n'], limit: 7 })).toEqual([9, 6, 3, 0, 11, 10, 8, 7, 5, 4, 2, 1]);
  });

  test('200 — few candidates: all tests and all orders, in one page', async () => {
    expect(await found({ filter: { city: 'London', note: 'n1' }, sort: ['-$updatedAt'] })).toEqual([9, 3]);
    expect(await found({ filter: { $or: [{ n: 3 }, { city: 'London', n: { $gt: 7 } }] }, sort: ['note'] })).toEqual([3, 9]);
  });

  test('200 — a walk: short pages until the end, each entity once', async () => {
    expect(await found({ filter: { note: 'n1' }, sort: ['n'] })).toEqual([1, 3, 5, 7, 9, 11]);
    expect(await sizes({ filter: { note: 'n1' }, sort: ['n'] })).toEqual([1, 2, 1, 2, 0]);
    expect(await sizes({ filter: { city: { $ne: 'x' } }, sort: ['n'] })).toEqual([5, 5, 2]);
  });

  test('200 — a part of a text by its index, with capitals and signs as they are, and by a walk where it does not help', async () => {
    const texts = ['Steam & Sons', 'steam 100%_', 'mainstream', 'a\\b steam', 'teams', 'other', 'Großsteamé'];
    const seeded = await seedMany(
      service(),
      'part',
      texts.map((note, n) => ({ note, n })),
      'ada',
    );
    await declareIndexed(service(), 'part', { ...customer, 'x-index': [['n'], { field: 'note', substring: true }] });
    const found = async (part: string, sort: string[]) =>
      keysIn(await pagesOf(service(), ada, 'part', { filter: { note: { $contains: part } }, sort })).map((key) => seeded.indexOf(key));
    expect(await found('steam', ['city'])).toEqual([1, 3, 6]);
    expect(await found('Steam', ['city'])).toEqual([0]);
    expect(await found('eam 100%_', ['city'])).toEqual([1]);
    expect(await found('a\\b ste', ['city'])).toEqual([3]);
    expect(await found('roßs', ['city'])).toEqual([6]);
    expect(await found('steam_', ['city'])).toEqual([]);
    // Six entities are more than the limit of five, so the index of the sort is walked.
    expect(await found('eam', ['-n'])).toEqual([6, 4, 3, 2, 1, 0]);
    expect(await refused({ filter: { note: { $contains: 'eam' } }, sort: ['city'] }, ada, 'part')).toMatchObject({
      0: 422,
      1: 'query-too-expensive',
      2: 'sort needs-index',
    });
    expect(await refused({ filter: { note: { $contains: 'ea' } }, sort: ['city'] }, ada, 'part')).toMatchObject({
      0: 422,
      1: 'query-too-expensive',
      2: 'sort needs-index',
    });
    expect((await list(service(), ada, 'part', { filter: { note: { $contains: 'steam' } }, count: 'exact' })).body.count).toEqual({
      value: 3,
      kind: 'exact',
    });
  });

  test('200 — a unique text that is compared without regard to case finds the exact text alone', async () => {
    expect(await found({ filter: { email: 'User3@x' }, sort: ['note'] })).toEqual([3]);
    expect(await found({ filter: { email: 'user3@X' }, sort: ['note'] })).toEqual([]);
  });

  test.each([
    ['date-time', ['2026-01-01T10:00:00Z', '2026-01-01T12:00:00+02:00', '2026-01-01T10:00:00.000Z'], '2026-01-01T11:00:00Z'],
    ['decimal', ['1.5', '1.50', '1.500'], '2'],
    ['int64', ['7', '7'], '8'],
    ['date', ['2026-01-01', '2026-01-01'], '2026-01-02'],
  ])('200 — a value that a list of %s has twice, also in two spellings, finds each entity once', async (format, spellings, other) => {
    const called = `spelt-${format}`;
    const [one = ''] = spellings;
    const all = [one, other, one, spellings[1], other].map((value, n) => ({ value, n, note: `n${n}` }));
    const seeded = await seedMany(service(), called, all, 'ada');
    const properties = { ...customer.properties, value: { type: 'string', format } };
    await declareIndexed(service(), called, { type: 'object', properties, 'x-index': [['value', 'n']] });
    for (const sort of [['n'], ['-n'], ['value', 'n'], ['note'], []])
      for (const filter of [{ value: { $in: spellings } }, { $or: spellings.map((value) => ({ value })) }]) {
        const keys = keysIn(await pagesOf(service(), ada, called, { filter, sort, limit: 2 }));
        expect(
          keys.map((key) => seeded.indexOf(key)).toSorted((a, b) => a - b),
          JSON.stringify([filter, sort]),
        ).toEqual([0, 2, 3]);
        expect((await list(service(), ada, called, { filter, sort, count: 'exact' })).body.count).toEqual({ value: 3, kind: 'exact' });
      }
  });

  test('200 — counts are those of the filter', async () => {
    for (const filter of [{}, { city: 'London' }, { city: 'London', note: 'n1' }, { note: 'n1' }, { n: { $gt: 4 } }]) {
      const count = async (name: string, kind: string) => (await list(service(), ada, name, { filter, count: kind, limit: 1 })).body.count;
      for (const kind of ['capped', 'exact', 'estimated']) expect(await count('customer', kind)).toEqual(await count('plain', kind));
    }
  });

  test('422 — a sort without an index, with the fields of one that would serve', async () => {
    const detail = 'This needs an index. Fields: city, n. Access path: sort of the primary key, at most 5 rows.';
    expect(await refused({ sort: ['city', 'n'] })).toEqual([422, 'query-too-expensive', 'sort needs-index', detail]);
    expect(await refused({ filter: { city: 'Paris' }, sort: ['-note'] })).toMatchObject({ 2: 'sort needs-index', 3: /-note/ });
  });

  test('200 — own entities are listed by the indexes that begin with the creator, and by no other (rule 64)', async () => {
    const own = await seedMany(service(), 'own', rows, 'ada', 'bob');
    await declareIndexed(service(), 'own', {
      ...customer,
      'x-index': [['$createdBy', 'city', '-n'], ['$createdBy', '-$createdAt'], ['n']],
    });
    const found = async (query: ListQuery) => keysIn(await pagesOf(service(), bob, 'own', query)).map((key) => own.indexOf(key));
    expect(await found({ filter: { city: 'Paris' }, sort: ['-n'], limit: 2 })).toEqual([10, 8, 4, 2]);
    expect(await found({ sort: ['city', '-n'] })).toEqual([6, 0, 10, 8, 4, 2]);
    expect(await found({ sort: ['-$createdAt'], limit: 2 })).toEqual([8, 2, 6, 10, 0, 4]);
    expect((await list(service(), bob, 'own', { filter: { city: 'Paris' }, count: 'exact' })).body.count).toEqual({
      value: 4,
      kind: 'exact',
    });
    // Of the twelve entities six are own.
    listLimits.candidates = 6;
    expect(await found({ sort: ['n'] })).toEqual([0, 2, 4, 6, 8, 10]);
    listLimits.candidates = 5;
    expect(await refused({ sort: ['n'] }, bob, 'own')).toEqual([
      422,
      'query-too-expensive',
      'sort needs-index',
      'This needs an index. Fields: $createdBy, n.',
    ]);
  });

  test('422 — the access path is named to a caller of all rows, and not to one of own rows (rule 161)', async () => {
    await seedMany(service(), 'shown', rows, 'ada', 'bob');
    const refusal = [422, 'query-too-expensive', 'sort needs-index'];
    const path = ' Access path: sort of the primary key, at most 5 rows.';
    expect(await refused({ sort: ['n'] }, ada, 'shown')).toEqual([...refusal, `This needs an index. Fields: n.${path}`]);
    expect(await refused({ sort: ['n'] }, bob, 'shown')).toEqual([...refusal, 'This needs an index. Fields: $createdBy, n.']);
  });

  test('422 — no alternative of a filter makes a list of own rows count those of another creator (rule 64)', async () => {
    await seedMany(service(), 'counted', rows, 'ada', 'bob');
    await declareIndexed(service(), 'counted', { ...customer, 'x-index': [['$createdBy', 'city']] });
    const by = (creator: string) => ({ $or: ['Paris', 'London'].map((city) => ({ $createdBy: creator, city })) });
    expect((await list(service(), ada, 'counted', { filter: by('nobody'), sort: ['n'] })).status).toBe(200);
    for (const creator of ['ada', 'nobody'])
      expect((await refused({ filter: by(creator), sort: ['n'] }, bob, 'counted')).slice(0, 2)).toEqual([422, 'query-too-expensive']);
  });

  test('422 — own entities are listed as those of a name without indexes, whatever others have (rule 64)', async () => {
    expect(keysIn(await pagesOf(service(), bob, 'customer', { filter: { n: { $gt: 4 } } })).map((key) => keys.indexOf(key))).toEqual([
      6, 8, 10,
    ]);
    const queries = [{ sort: ['n'] }, { filter: { city: 'nowhere' }, sort: ['n'] }, { filter: { email: 'nobody' }, sort: ['note'] }];
    for (const query of queries) {
      expect(await refused(query, bob)).toEqual(await refused(query, bob, 'plain'));
      expect((await refused(query, bob))[0]).toBe(422);
      expect((await list(service(), ada, 'customer', query)).status).toBe(200);
    }
  });

  test('200 — while an index is built, lists read what was complete before', async () => {
    const { db } = service();
    const built = await declareIndexed(service(), 'plain', { ...customer, 'x-index': [['n']] });
    const building = (complete: unknown) =>
      sql`
      with next as (
        insert into entity_type_revision (name, document, source, plan, applied_by, companion)
        select name, document, source, plan, applied_by, ${JSON.stringify({ ...built, state: 'building', complete })}
        from entity_type_revision where name = 'plain' order by revision desc limit 1 returning revision)
      update entity_type set revision = (select revision from next) where name = 'plain'`.execute(db);
    for (const [complete, status] of [
      [built, 200],
      [null, 422],
    ] as const) {
      await building(complete);
      await service().settle();
      expect((await list(service(), ada, 'plain', { sort: ['n'] })).status).toBe(status);
    }
  });

  test('200 — when the table is dropped before the process knows, the list is read by the new type', async () => {
    const { db } = service();
    const [key] = await seedMany(service(), 'volatile', rows.slice(0, 1), 'ada');
    const { table } = await declareIndexed(service(), 'volatile', { ...customer, 'x-index': [['n']] });
    const keysByN = async () => keysIn([(await list(service(), ada, 'volatile', { sort: ['n'] })).body]);
    expect(await keysByN()).toEqual([key]);
    await sql`alter table entity_type disable trigger entity_type_changed`.execute(db);
    await sql`delete from entity_type where name = 'volatile'`.execute(db);
    await sql`alter table entity_type enable trigger entity_type_changed`.execute(db);
    await sql`drop table ${inSchema(table)}`.execute(db);
    expect(await keysByN()).toEqual([key]);
  });
});
