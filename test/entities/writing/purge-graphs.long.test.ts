/** A purge in portions of entities that refer back: to the purged one, to each other, and in circles (decision 273). */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import { addReferrers, declareWithRules } from '../../support/companions.ts';
import { whileWaiting, type Entity } from '../../support/entities.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';

const service = useService();
const tables = new Map<string, Companion>();
let [ada, officer] = ['', ''];
const reference = { type: ['string', 'null'], format: 'int64' };

async function declare(name: string, references: Record<string, object>, more = {}) {
  const fields = Object.fromEntries(Object.keys(references).map((field) => [field, reference]));
  tables.set(name, await declareWithRules(service(), name, { properties: { ...fields, n: {} }, 'x-references': references, ...more }));
}

beforeAll(async () => {
  ada = await service().openSession((await service().createUser('ada')).id);
  officer = await service().openSession((await service().createUser('officer', { album: ['delete', 'purge'] })).id);
  const parent = { to: 'album', onDelete: 'set-null' };
  await declare('album', { parent });
  const track = { album: { to: 'album', onDelete: 'cascade' }, prev: { to: 'track', onDelete: 'set-null' }, next: { to: 'track' } };
  await declare('track', track, { 'x-soft-delete': true });
  await declare('album', { parent, first: { to: 'track', onDelete: 'set-null' } });
});

type Body = Entity & ProblemBody;
const made = async (name: string, json: object = {}): Promise<string> => {
  const { status, body, text } = await service().call<Body>('POST', `/rest/entity/${name}`, { cookie: ada, json });
  expect(status, text).toBe(201);
  return body.key;
};
const tableOf = (name: string): Companion => {
  const table = tables.get(name);
  if (!table) throw new Error(`${name} is not declared`);
  return table;
};
const add = (name: string, field: string, target: string, count: number): Promise<string[]> =>
  addReferrers(service(), tableOf(name), { name, field, target, count });
/** Lets each entity refer to the one in the same place of `targets`, without a new version. */
async function link(name: string, field: string, keys: readonly string[], targets: readonly string[]): Promise<void> {
  const { table, columns } = tableOf(name);
  const column = columns.find((each) => each.field[0] === field)?.name ?? '';
  await sql`
    with pairs as materialized (select * from unnest(${keys}::bigint[], ${targets}::bigint[]) as pair (key, target)),
    fields as (
      update entity set fields = fields || jsonb_build_object(${field}::text, target::text) from pairs where (name, entity.key) = (${name}, pairs.key)
    ) update ${sql.table(`entity_data.${table}`)} as row set ${sql.ref(column)} = target from pairs where row.key = pairs.key`.execute(
    service().db,
  );
}
const remove = (key: string, rest: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>('DELETE', `/rest/entity/album/${key}`, { cookie: officer, ...rest });
const purge = (key: string, rest: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>('DELETE', `/rest/entity/album/${key}?purge=1`, { cookie: officer, ...rest });
const faultsOf = ({ status, body }: Answer<Body>) => [status, ...(body.errors ?? []).map(({ code }) => code)];
interface Row {
  key: string;
  fields: object;
  version: string;
}
const rowsIn = async (table: 'entity' | 'entity_trash', keys: readonly string[]): Promise<Row[]> => {
  const { rows } = await sql<Row>`
    select key, fields, version from ${sql.table(table)} where key = any(${keys}::bigint[]) order by key`.execute(service().db);
  return rows;
};
/** The operations in the history of the entities, each with the number of times. */
const operationsOn = async (keys: readonly string[]) => {
  const { rows } = await sql<{ operation: string; count: number; keys: number }>`
    select operation, count(*)::int as count, count(distinct key)::int as keys from entity_change
    where key = any(${keys}::bigint[]) group by operation order by operation`.execute(service().db);
  return rows.map(({ operation, ...numbers }) => [operation, numbers.count, numbers.keys]);
};

/** Purges the album, and expects its tracks in the trash as they were, each with one change. */
async function expectPurge(album: string, tracks: readonly string[], rest: Call = {}): Promise<void> {
  const before = await rowsIn('entity', tracks);
  let answer = await purge(album, rest);
  // On a slow machine it takes more than five seconds.
  while (answer.status === 503 && faultsOf(answer).includes('partly-done')) answer = await purge(album, rest);
  expect(answer.status, answer.text).toBe(204);
  expect(await rowsIn('entity', [album, ...tracks])).toEqual([]);
  expect(await rowsIn('entity_trash', tracks)).toEqual(before);
  expect(await operationsOn(tracks)).toEqual([['deleted', tracks.length, tracks.length]]);
  expect((await operationsOn([album])).slice(-2)).toEqual([
    ['deleted', 1, 1],
    ['purged', 1, 1],
  ]);
}

describe('deleteEntity', () => {
  test.for([1_000, 1_001])('204 — an entity that refers to itself, and %i others to it', async (number) => {
    const album = await made('album');
    await link('album', 'parent', [album], [album]);
    const others = await add('album', 'parent', album, number);
    if (number > 1_000) expect(faultsOf(await remove(album))).toEqual([409, 'too-many-referrers']);
    expect((await purge(album)).status).toBe(204);
    expect(await rowsIn('entity', [album])).toEqual([]);
    expect(await rowsIn('entity', others)).toEqual(others.map((key) => ({ key, fields: { parent: null }, version: '2' })));
  });

  test('204 — a deletion counts each of 700 once that go with it and refer to one another, and 409 for 1,001', async () => {
    for (const [number, status] of [
      [700, 204],
      [1_001, 409],
    ] as const) {
      const album = await made('album');
      const tracks = await add('track', 'album', album, number);
      await link('track', 'prev', tracks.slice(1), tracks.slice(0, -1));
      expect((await remove(album)).status).toBe(status);
      expect(await rowsIn('entity', tracks)).toHaveLength(status === 204 ? 0 : number);
    }
  });

  test.for([0, 750, 1_499])(
    '204 — the entity refers to the one in place %i of 1,500 that are deleted along, and If-Match has its version',
    async (place) => {
      const album = await made('album');
      const tracks = await add('track', 'album', album, 1_500);
      await link('album', 'first', [album], [tracks[place] ?? '']);
      await expectPurge(album, tracks, { headers: { 'if-match': '"1"' } });
      expect(await operationsOn([album])).not.toContainEqual(expect.arrayContaining(['updated']));
    },
  );

  test.for(['prev', 'next'])('204 — 1,500 that are deleted along refer to each other in a row by `%s`', async (field) => {
    for (const isBackwards of [false, true]) {
      const album = await made('album');
      const tracks = await add('track', 'album', album, 1_500);
      const row = isBackwards ? tracks.toReversed() : tracks;
      await link('track', field, row.slice(1), row.slice(0, -1));
      await expectPurge(album, tracks);
    }
  });

  test('204 — 2,200 that refer to each other in pairs, and 1,100 that change beside them', async () => {
    const album = await made('album');
    const tracks = await add('track', 'album', album, 2_200);
    await link('track', 'next', tracks, [...tracks.slice(1_100), ...tracks.slice(0, 1_100)]);
    const albums = await add('album', 'parent', album, 1_100);
    await expectPurge(album, tracks);
    expect(await rowsIn('entity', albums)).toEqual(albums.map((key) => ({ key, fields: { parent: null }, version: '2' })));
  });

  test('204 and 409 — a circle of 1,000 among 1,500, and one of 1,001, of which nothing is deleted', async () => {
    const [album, other] = [await made('album'), await made('album')];
    const [tracks, others] = [await add('track', 'album', album, 1_500), await add('track', 'album', other, 2_600)];
    const circle = (keys: readonly string[], number: number) =>
      link('track', 'prev', keys.slice(0, number), [...keys.slice(1, number), keys[0] ?? '']);
    await circle(tracks, 1_000);
    await expectPurge(album, tracks);
    await circle(others, 1_001);
    const before = await rowsIn('entity', others);
    expect(faultsOf(await purge(other))).toEqual([409, 'too-many-referrers']);
    expect(await rowsIn('entity', [...others])).toEqual(before);
    expect(await operationsOn(others)).toEqual([]);
  });

  test.for([
    [401, 'logged out', 'unauthenticated', []],
    [403, 'without the right to purge', 'forbidden', ['purge']],
    [403, 'without the right to delete', 'forbidden', ['delete']],
  ] as const)('%i — a caller who is %s between two portions goes no further (rules 14 and 62)', async ([status, how, code, taken]) => {
    const user = await service().createUser(`user ${how}`, { album: ['delete', 'purge'] });
    const cookie = await service().openSession(user.id);
    const album = await made('album');
    const tracks = await add('track', 'album', album, 2_001);
    const locked = sql`select from entity where key = ${tracks.at(-1)}::bigint for update`;
    const end = async () => {
      if (how === 'logged out') expect((await service().call('HEAD', '/auth?logout=1', { cookie })).status).toBe(204);
      else
        await sql`
          delete from role_grant using role where role_id = role.id and role.name = ${`user ${how}`} and action = any(${taken}::text[])`.execute(
          service().db,
        );
      await service().settle();
    };
    const answer = await whileWaiting(service(), locked, () => purge(album, { cookie }), end);
    expect([answer.status, answer.body.code], answer.text).toEqual([status, code]);
    expect(answer.body.errors?.[0]?.detail).not.toContain('goes on');
    expect(await rowsIn('entity', tracks)).toHaveLength(1_001);
    expect((await purge(album)).status).toBe(204);
  });
});
