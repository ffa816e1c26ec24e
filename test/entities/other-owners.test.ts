/** A caller with grants for own rows only, on every path by which a request reaches a row: small, heavy, grouped and of a declared type. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Action } from '../../src/rights/vocabulary.ts';
import { rowsOf, seed, type Entity } from '../support/entities.ts';
import { useService, type Answer, type Call } from '../support/service.ts';

const directory = await mkdtemp(join(tmpdir(), 'entity-types-'));
afterAll(() => rm(directory, { recursive: true }));
await writeFile(join(directory, 'typed.json'), JSON.stringify({ type: 'object', properties: { a: { type: 'integer' } } }));

const service = useService({ ENTITY_TYPES_DIR: directory });
let bob: string;
beforeAll(async () => {
  const grants = { '*': { actions: ['create', 'read', 'update', 'delete'] as Action[], condition: 'own' as const } };
  bob = await service().openSession((await service().createUser('bob', grants)).id);
  await service().createUser('ada');
});

const call = (method: string, path: string, rest: Call = {}) => service().call<Entity>(method, path, { cookie: bob, ...rest });
const heavy = { text: 'x'.repeat(100_000) };

/** The paths of two rows with the same fields, bob's and ada's; `theirs` reads ada's row. */
async function pair(name: string, fields: object) {
  const keys = { bob: '1', ada: '2' };
  await seed(service(), name, keys.bob, fields, 'bob');
  await seed(service(), name, keys.ada, fields, 'ada');
  const theirs = async () => (await rowsOf(service(), name)).find(({ key }) => key === keys.ada);
  return { mine: `/rest/entity/${name}/${keys.bob}`, other: `/rest/entity/${name}/${keys.ada}`, theirs };
}

describe.each([
  ['a small entity', 'small', {}, { a: 1 }],
  ['a heavy entity', 'large', heavy, { a: 1 }],
  ['a heavy patch of an entity', 'patch', {}, heavy],
  ['an entity of a declared type', 'typed', {}, { a: 1 }],
])('%s', (_kind, name, fields, patch) => {
  test('200, 204 and 404 — an owner reads, updates and deletes own rows, and no row of another owner (rule 64)', async () => {
    const { mine, other, theirs } = await pair(name, fields);
    const before = await theirs();
    expect(before?.version).toBe('1');
    const each = [
      ['GET', {}, 200],
      ['POST', { json: patch }, 200],
      ['POST', { json: { ...patch, again: true }, headers: { 'if-match': '*' } }, 200],
      ['DELETE', { headers: { 'if-match': '"3"' } }, 204],
    ] as const;
    for (const [method, rest, status] of each) {
      expect((await call(method, mine, rest)).status, method).toBe(status);
      const refused = await call(method, other, rest);
      expect(refused, method).toMatchObject({ status: 404, body: { code: 'not-found' } });
      expect(refused.text).not.toMatch(/\bada\b/);
    }
    expect((await call('DELETE', other)).status).toBe(404);
    expect(await theirs()).toEqual(before);
    const { rows } = await sql`select from audit_event where detail ->> 'entity' = ${name} and detail ->> 'key' = '2'`.execute(
      service().db,
    );
    expect(rows).toEqual([]);
  });
});

test('200 and 404 — in one statement, updates of own rows succeed and those of other owners’ rows change nothing (rule 64)', async () => {
  const { db } = service();
  for (let key = 1; key <= 40; key++) await seed(service(), 'shared', String(key), {}, key % 2 ? 'bob' : 'ada');
  const waiting = sql<{
    count: string;
  }>`select count(*) from pg_locks where not granted and relation = 'entity'::regclass and database = (select oid from pg_database where datname = current_database())`;
  const answers = await Promise.all<Answer<Entity>>(
    await db.transaction().execute(async (trx) => {
      await sql`lock table entity in exclusive mode`.execute(trx);
      const sent = Array.from({ length: 40 }, (_, n) => call('POST', `/rest/entity/shared/${n + 1}`, { json: { a: 1 } }));
      await expect.poll(async () => Number((await waiting.execute(trx)).rows[0]?.count)).toBeGreaterThan(1);
      // The service has answered this later request, so it has received updates that wait for the next statement.
      expect((await call('GET', '/rest/entity/shared/1')).status).toBe(200);
      return sent;
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, n) => (n % 2 ? 404 : 200)));
  const changed = sql<{ owner: string; version: string; transactions: string }>`
    select created_by as owner, version, count(distinct xmin::text) as transactions from entity where name = 'shared' group by 1, 2 order by 1`;
  const [ada, mine] = (await changed.execute(db)).rows;
  expect(ada).toMatchObject({ owner: 'ada', version: '1' });
  expect(mine).toMatchObject({ owner: 'bob', version: '2' });
  // At least two of the updates were written by one transaction.
  expect(Number(mine?.transactions)).toBeLessThan(20);
});
