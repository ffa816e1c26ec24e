/** Requests whose writes share a statement. The server answers, audits and refuses each one separately. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { storedValue } from '../../../src/entities/companion/columns.ts';
import { inSchema } from '../../../src/entities/companion/table.ts';
import { declareWithRules } from '../../support/companions.ts';
import { rowsOf, type Entity } from '../../support/entities.ts';
import { useService, type Answer } from '../../support/service.ts';

const service = useService();
let ada: string;
let cookies: string[];

beforeAll(async () => {
  ada = (await service().createUser('ada')).id;
  const grace = (await service().createUser('grace')).id;
  cookies = [await service().openSession(ada), await service().openSession(grace)];
});

const write = (path: string, json: object, cookie = cookies[0] ?? ''): Promise<Answer<Entity>> =>
  service().call<Entity>('POST', path, { cookie, json });

/** Blocks all writes until two statements wait, so that requests gather behind these. Returns the answers. */
async function gathered(write: () => Promise<Answer<Entity>>[]): Promise<Answer<Entity>[]> {
  const { db } = service();
  const waiting = sql<{
    count: string;
  }>`select count(*) from pg_locks where not granted and relation = 'entity'::regclass and database = (select oid from pg_database where datname = current_database())`;
  return await Promise.all(
    await db.transaction().execute(async (trx) => {
      await sql`lock table entity in exclusive mode`.execute(trx);
      const answers = write();
      await expect.poll(async () => Number((await waiting.execute(trx)).rows[0]?.count)).toBeGreaterThan(1);
      return answers;
    }),
  );
}

/** The number of transactions that wrote the present rows called `name`. */
async function transactionsOf(name: string): Promise<number> {
  const { rows } = await sql<{ count: string }>`select count(distinct xmin::text) from entity where name = ${name}`.execute(service().db);
  return Number(rows[0]?.count);
}

const auditedKeys = async (event: string, entity: string): Promise<Map<string, string | null>> => {
  const { rows } = await sql<{ key: string; user: string | null }>`
    select detail ->> 'key' as key, user_name as user from audit_event
    where event = ${event} and detail ->> 'entity' = ${entity}`.execute(service().db);
  return new Map(rows.map(({ key, user }) => [key, user]));
};

describe('createEntity', () => {
  test('201 — a hundred at once: each gets the entity that it requested, under its own user, and one audit event (rule 85)', async () => {
    const answers = await gathered(() => Array.from({ length: 100 }, (_, n) => write('/rest/entity/many', { n }, cookies[n % 2])));
    for (const [n, { status, body }] of answers.entries()) {
      expect(status).toBe(201);
      expect(body).toMatchObject({ name: 'many', fields: { n }, createdBy: n % 2 ? 'grace' : 'ada' });
    }
    const rows = await rowsOf(service(), 'many');
    expect(new Map(rows.map(({ key, fields }) => [key, JSON.parse(fields) as object]))).toEqual(
      new Map(answers.map(({ body }) => [body.key, body.fields])),
    );
    expect(await auditedKeys('entity.created', 'many')).toEqual(new Map(answers.map(({ body }) => [body.key, body.createdBy])));
    expect(await transactionsOf('many')).toBeLessThan(100);
  });

  test.each([
    ['creates', 'p1', false],
    ['creates with an Idempotency-Key', 'p2', true],
  ])(
    '201 — %s that need a lock of another transaction, for a reference or a unique value, hold up no other create',
    async (_, name, isKeyed) => {
      const { db } = service();
      const properties = { code: { type: 'string' } };
      const { table, columns } = await declareWithRules(service(), name, { properties, 'x-unique': [{ fields: ['code'] }] });
      const [code] = columns;
      if (!code) throw new Error('the companion table has no column');
      const references = { 'x-references': { parent: { to: name, onDelete: 'cascade' } } };
      await declareWithRules(service(), `${name}-line`, { properties: { parent: { type: 'string', format: 'int64' } }, ...references });
      const parents = await Promise.all(['locked', 'changed', 'free'].map((text) => write(`/rest/entity/${name}`, { code: text })));
      const [locked = '', changed = '', free = ''] = parents.map(({ body }) => body.key);
      const locks = (n: number, path: string, json: object) =>
        service().call<Entity>('POST', path, {
          cookie: cookies[0],
          json,
          ...(isKeyed && { headers: { 'idempotency-key': `${path} ${n}` } }),
        });
      const { waiting } = await db.transaction().execute(async (trx) => {
        await sql`select from ${inSchema(table)} where key = ${locked} for update`.execute(trx);
        await sql`update ${inSchema(table)} set ${sql.ref(code.name)} = ${storedValue(code, sql`'taken'`)} where key = ${changed}`.execute(
          trx,
        );
        const waiting: Promise<Answer<Entity>>[] = [];
        const others: Promise<Answer<Entity>>[] = [];
        for (let n = 0; n < 20; n++) {
          waiting.push(locks(n, `/rest/entity/${name}-line`, { parent: locked }), locks(n, `/rest/entity/${name}`, { code: 'taken' }));
          others.push(write(`/rest/entity/${name}-line`, { parent: free }), write(`/rest/entity/${name}`, { code: `own ${n}` }));
          others.push(write('/rest/entity/unrelated', { n }));
        }
        // The transaction has its locks until all of these are answered.
        for (const { status } of await Promise.all(others)) expect(status).toBe(201);
        return { waiting };
      });
      const answers = await Promise.all(waiting);
      expect(answers.map(({ status }) => status)).toEqual(answers.map((_, n) => (n % 2 ? 409 : 201)));
    },
  );
});

describe('updateEntity', () => {
  test('200 — of a hundred entities at once each gets its own patch, and one audit event (rule 85)', async () => {
    const made = await Promise.all(Array.from({ length: 100 }, () => write('/rest/entity/apart', { kept: true })));
    const answers = await gathered(() => made.map(({ body }, n) => write(`/rest/entity/apart/${body.key}`, { n }, cookies[n % 2])));
    for (const [n, { status, body }] of answers.entries()) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ key: made[n]?.body.key, version: 2, fields: { kept: true, n }, updatedBy: n % 2 ? 'grace' : 'ada' });
    }
    expect(await auditedKeys('entity.updated', 'apart')).toEqual(new Map(answers.map(({ body }) => [body.key, body.updatedBy])));
    expect(await transactionsOf('apart')).toBeLessThan(100);
  });

  test('200 — fifty concurrent patches of one entity are all applied', async () => {
    const { body } = await write('/rest/entity/one', {});
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => write(`/rest/entity/one/${body.key}`, { [`m${n}`]: n })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const [row] = await rowsOf(service(), 'one');
    expect(row?.version).toBe('51');
    expect(Object.keys(JSON.parse(row?.fields ?? '') as object)).toHaveLength(50);
  });

  test('200 — only the request for a locked entity waits', async () => {
    const [locked, free] = await Promise.all([write('/rest/entity/lock', {}), write('/rest/entity/lock', {})]);
    let waiting: Promise<Answer<Entity>> | undefined;
    await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity where name = 'lock' and key = ${locked.body.key} for update`.execute(trx);
        let answered = false;
        waiting = write(`/rest/entity/lock/${locked.body.key}`, { a: 1 }).finally(() => {
          answered = true;
        });
        const others = await Promise.all(Array.from({ length: 5 }, (_, n) => write(`/rest/entity/lock/${free.body.key}`, { n })));
        expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
        expect(answered).toBe(false);
      });
    expect((await waiting)?.status).toBe(200);
  });
});
