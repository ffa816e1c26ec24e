/** The rules of a type that PostgreSQL holds in its companion table: unique values and references, under any concurrency. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inSchema } from '../../../src/entities/companion/table.ts';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import { verifyCompanion } from '../../../src/entities/companion/verify.ts';
import { beginBuilding, companionRows, declareWithRules } from '../../support/companions.ts';
import { rowsOf, type Entity } from '../../support/entities.ts';
import { race, statuses } from '../../support/races.ts';
import { useService, type Answer, type ProblemBody, type TestService } from '../../support/service.ts';

const service = useService();
let cookie: string;
let customer: Companion;

const text = { type: ['string', 'null'] };
const reference = { type: ['string', 'null'], format: 'int64' };

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  customer = await declareWithRules(service(), 'customer', {
    properties: {
      email: text,
      credit: { type: 'string', format: 'decimal' },
      country: text,
      number: { type: 'integer' },
      since: { type: 'string', format: 'date-time' },
      note: {},
      company: text,
    },
    'x-unique': [{ fields: ['email'], fold: true }, { fields: ['credit'] }, { fields: ['country', 'number'] }],
    'x-index': [['since'], ['company', '-number']],
    'x-search': { fields: ['company', 'country'], language: 'english' },
  });
  await declareWithRules(service(), 'order', {
    properties: { customer: reference, billing: { type: 'object', properties: { customer: reference } } },
    'x-references': { customer: { to: 'customer' }, 'billing.customer': { to: 'customer' } },
  });
});

type Body = Entity & ProblemBody;
const create = (name: string, json: unknown, headers = {}, at: TestService = service()): Promise<Answer<Body>> =>
  at.call<Body>('POST', `/rest/entity/${name}`, { cookie, json, headers });
const update = (name: string, key: string, json: object): Promise<Answer<Body>> =>
  service().call<Body>('POST', `/rest/entity/${name}/${key}`, { cookie, json });
const remove = (name: string, key: string, as = cookie): Promise<Answer<Body>> =>
  service().call<Body>('DELETE', `/rest/entity/${name}/${key}`, { cookie: as });
const made = async (name: string, json: object): Promise<string> => {
  const { status, body } = await create(name, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.key;
};
const events = async (key: string): Promise<string[]> => {
  const { rows } = await sql<{ event: string }>`
    select event from audit_event where detail ->> 'key' = ${key} order by id`.execute(service().db);
  return rows.map(({ event }) => event);
};
const rowOf = async (companion: Companion, key: string) => (await companionRows(service(), companion)).find((row) => row['key'] === key);

/** The only fault of a refusal, which says nothing of the table or of values. */
function faultOf({ status, body, text }: Answer<Body>): unknown[] {
  expect(text).not.toMatch(/entity_data|x\d+_|constraint|duplicate key|violates/);
  return [status, body.code, ...(body.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`)];
}

describe('a companion row', () => {
  test('201 — has the values of the fields, folded, exact and searchable', async () => {
    const key = await made('customer', {
      email: 'Ｌara@Example.com',
      credit: '12.50',
      number: 12,
      since: '2026-11-01T12:00:00+02:00',
      company: 'Running Houses',
    });
    const row = await rowOf(customer, key);
    expect(Object.values(row ?? {})).toEqual(expect.arrayContaining(['lara@example.com', '12.50', '12', new Date('2026-11-01T10:00:00Z')]));
    expect(row?.['search']).toBe(`'hous':2A 'houses':4A 'run':1A 'running':3A`);
  });

  test('200 — is written by an update that gives one of its values, and by no other update', async () => {
    const key = await made('customer', { email: 'grace@example.com', company: 'Navy' });
    const first = await rowOf(customer, key);
    expect((await update('customer', key, { note: 'changed' })).status).toBe(200);
    expect(await rowOf(customer, key)).toEqual(first);
    expect((await update('customer', key, { company: 'Navies' })).status).toBe(200);
    const second = await rowOf(customer, key);
    expect(second?.['xmin']).not.toBe(first?.['xmin']);
    expect(second?.['search']).toBe(`'navi':1A 'navies':2A`);
    expect((await update('customer', key, { email: null })).status).toBe(200);
    expect(Object.values((await rowOf(customer, key)) ?? {})).not.toContain('grace@example.com');
  });

  test('204 — goes with its entity', async () => {
    const key = await made('customer', { email: 'gone@example.com' });
    expect(await rowOf(customer, key)).toBeDefined();
    expect((await remove('customer', key)).status).toBe(204);
    expect(await rowOf(customer, key)).toBeUndefined();
  });

  test('201 and 200 — is there for an entity that is created and changed alone: a heavy one, and one with an Idempotency-Key', async () => {
    const large = 'x'.repeat(20_000);
    const heavy = await made('customer', { email: 'heavy@example.com', note: large });
    expect(Object.values((await rowOf(customer, heavy)) ?? {})).toContain('heavy@example.com');
    expect((await update('customer', heavy, { email: 'heavier@example.com' })).status).toBe(200);
    expect(Object.values((await rowOf(customer, heavy)) ?? {})).toContain('heavier@example.com');
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const keyed = await create('customer', { email: 'keyed@example.com' }, headers);
    expect(keyed.status).toBe(201);
    expect(Object.values((await rowOf(customer, keyed.body.key)) ?? {})).toContain('keyed@example.com');
    expect((await create('customer', { email: 'keyed@example.com' }, headers)).body.key).toBe(keyed.body.key);
  });

  test('422 — a text that no index can hold', async () => {
    expect(faultOf(await create('customer', { email: 'x'.repeat(601) }))).toEqual([422, 'validation-failed', '/email too-long']);
  });
});

describe('a unique value', () => {
  test('201 and 409 — composed and decomposed letters are the same, also if the upper case has no composed form', async () => {
    for (const email of ['zoë', 'πρωτεΐνη'].map((name) => `${name}@example.com`)) {
      await made('customer', { email });
      for (const other of [email.normalize('NFD'), email.toUpperCase(), email.toUpperCase().normalize('NFC')])
        expect(faultOf(await create('customer', { email: other }))).toEqual([409, 'unique-conflict', '/email duplicate-value']);
    }
  });

  test('201 and 409 — of twenty concurrent creates over two replicas with one email in different forms one succeeds', async () => {
    const other = await service().replica();
    onTestFinished(() => other.stop());
    const forms = ['unique@example.com', 'UNIQUE@example.com', 'Ｕnique@EXAMPLE.com', 'uniquE@Example.Com'];
    const answers = await race(20, (n) => create('customer', { email: forms[n % 4], race: true }, {}, n % 2 ? other : service()));
    expect(statuses(answers)).toEqual({ 201: 1, 409: 19 });
    for (const answer of answers)
      if (answer.status === 409) expect(faultOf(answer)).toEqual([409, 'unique-conflict', '/email duplicate-value']);
    const winner = answers.find(({ status }) => status === 201)?.body.key ?? '';
    const stored = (await rowsOf(service(), 'customer')).filter(({ fields }) => fields.includes('"race"'));
    expect(stored.map(({ key }) => key)).toEqual([winner]);
    const { rows } =
      await sql`select from audit_event where event = 'entity.created' and (detail ->> 'key')::bigint >= ${winner}::bigint`.execute(
        service().db,
      );
    expect(rows).toHaveLength(1);
  });

  test('201 and 409 — only the guilty of requests that share a statement are refused', async () => {
    await made('customer', { email: 'taken@example.com' });
    const answers = await race(30, (n) => create('customer', { email: n % 10 === 0 ? 'taken@example.com' : `free-${n}@example.com` }));
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, n) => (n % 10 === 0 ? 409 : 201)));
    for (const [n, { body }] of answers.entries())
      if (n % 10 !== 0) expect(Object.values((await rowOf(customer, body.key)) ?? {})).toContain(`free-${n}@example.com`);
  });

  test('409 — an equal decimal, and each field of a rule of two', async () => {
    await made('customer', { credit: '1.50' });
    expect(faultOf(await create('customer', { credit: '1.5' }))).toEqual([409, 'unique-conflict', '/credit duplicate-value']);
    await made('customer', { country: 'FR', number: 1 });
    await made('customer', { country: 'fr', number: 1 });
    await made('customer', { country: 'FR', number: 2 });
    expect(faultOf(await create('customer', { country: 'FR', number: 1 }))).toEqual([
      409,
      'unique-conflict',
      '/country duplicate-value',
      '/number duplicate-value',
    ]);
  });

  test('201 — null and missing values conflict with none', async () => {
    for (const fields of [{ email: null, country: 'DE' }, { country: 'DE' }, { country: 'DE', number: 5 }, { number: 5 }, { number: 5 }])
      expect((await create('customer', fields)).status).toBe(201);
  });

  test('409 — an update to a taken value, and nothing is changed', async () => {
    await made('customer', { email: 'first@example.com' });
    for (const note of ['light', 'x'.repeat(20_000)]) {
      const key = await made('customer', { email: `second-${note.length}@example.com` });
      expect(faultOf(await update('customer', key, { email: 'FIRST@example.com', note }))).toEqual([
        409,
        'unique-conflict',
        '/email duplicate-value',
      ]);
      expect((await rowsOf(service(), 'customer')).find((row) => row.key === key)).toMatchObject({ version: '1' });
      expect(Object.values((await rowOf(customer, key)) ?? {})).toContain(`second-${note.length}@example.com`);
      expect(await events(key)).toEqual(['entity.created']);
    }
  });

  test('201 — is free at once after its entity was deleted or has another one', async () => {
    const key = await made('customer', { email: 'again@example.com' });
    expect((await remove('customer', key)).status).toBe(204);
    const second = await made('customer', { email: 'again@example.com' });
    expect((await update('customer', second, { email: 'other-again@example.com' })).status).toBe(200);
    await made('customer', { email: 'again@example.com' });
  });

  test('409 — with an Idempotency-Key too, which can be used again', async () => {
    const key = await made('customer', { email: 'once@example.com' });
    const headers = { 'idempotency-key': crypto.randomUUID() };
    expect((await create('customer', { email: 'Once@example.com' }, headers)).body.code).toBe('unique-conflict');
    expect((await remove('customer', key)).status).toBe(204);
    expect((await create('customer', { email: 'Once@example.com' }, headers)).status).toBe(201);
  });
});

describe('a reference', () => {
  test('422 — to an entity that does not exist, was deleted or has another name', async () => {
    const gone = await made('customer', {});
    expect((await remove('customer', gone)).status).toBe(204);
    const other = await made('note', {});
    for (const key of ['9223372036854775807', gone, other]) {
      const missing = [422, 'validation-failed', '/customer reference-not-found'];
      expect(faultOf(await create('order', { customer: key }))).toEqual(missing);
      const mine = await made('order', {});
      expect(faultOf(await update('order', mine, { customer: key }))).toEqual(missing);
      expect(faultOf(await create('order', { billing: { customer: key } }))).toEqual([
        422,
        'validation-failed',
        '/billing/customer reference-not-found',
      ]);
    }
    expect((await create('order', { customer: null })).status).toBe(201);
  });

  test('409 — keeps its target from being deleted, and tells how many entities refer to it', async () => {
    const key = await made('customer', {});
    const orders = [
      await made('order', { customer: key }),
      await made('order', { billing: { customer: key } }),
      await made('order', { customer: key, billing: { customer: key } }),
    ];
    const refusal = await remove('customer', key);
    expect(faultOf(refusal)).toEqual([409, 'still-referenced', ' referenced']);
    expect(refusal.body.errors?.[0]?.detail).toContain('called order: 3');
    expect((await rowsOf(service(), 'customer')).map((row) => row.key)).toContain(key);
    expect(await events(key)).toEqual(['entity.created']);
    for (const each of orders) expect((await remove('order', each)).status).toBe(204);
    expect((await remove('customer', key)).status).toBe(204);
  });

  test('409 — tells a caller nothing of entities that the caller may not read (rule 64)', async () => {
    const key = await made('customer', {});
    await made('order', { customer: key });
    const blind = await service().openSession((await service().createUser('bob', { customer: ['delete'] })).id);
    const owner = await service().openSession(
      (await service().createUser('eve', { customer: ['delete', 'read'], order: { actions: ['read', 'create'], condition: 'own' } })).id,
    );
    for (const as of [blind, owner]) expect(faultOf(await remove('customer', key, as))).toEqual([409, 'still-referenced']);
    expect((await service().call('POST', '/rest/entity/order', { cookie: owner, json: { customer: key } })).status).toBe(201);
    expect((await remove('customer', key, owner)).body.errors?.[0]?.detail).toContain('called order: 1');
  });
});

describe('while the companion table is built', () => {
  test('201, 200 and 204 — writes bring a row up to date whether or not it is there', async () => {
    await declareWithRules(service(), 'built', { properties: { email: text, a: {} }, 'x-unique': [{ fields: ['email'] }] });
    const building = await beginBuilding(service(), 'built');
    const present = await made('built', { email: 'a@example.com' });
    const missing = await made('built', { email: 'b@example.com' });
    await sql`delete from ${inSchema(building.table)} where key = ${missing}`.execute(service().db);
    for (const key of [present, missing]) expect((await update('built', key, { a: 1 })).status).toBe(200);
    expect((await companionRows(service(), building)).map((row) => Object.values(row)[1])).toEqual(['a@example.com', 'b@example.com']);
    expect((await create('built', { email: 'a@example.com' })).body.code).toBe('unique-conflict');
    expect((await remove('built', present)).status).toBe(204);
    expect(await companionRows(service(), building)).toHaveLength(1);
  });

  test('409 — a create of many names the items that violate a rule, although nothing can be searched yet, and creates none', async () => {
    const document = { properties: { email: text, boss: reference }, 'x-unique': [{ fields: ['email'] }] };
    await declareWithRules(service(), 'half', { ...document, 'x-references': { boss: { to: 'customer' } } });
    await beginBuilding(service(), 'half');
    await made('half', { email: 'a@example.com' });
    const before = await rowsOf(service(), 'half');
    const bulk = async (items: object[]) => {
      const { status, body } = await service().call<Body>('POST', '/rest/entity/half/bulk', { cookie, json: items });
      return [status, body.code, (body.errors ?? []).map(({ code, pointer }) => `${code} ${pointer}`)];
    };
    const [taken, missing] = [{ email: 'a@example.com' }, '9000000000'];
    expect(await bulk([{ email: 'b' }, taken, { email: 'c' }, { email: 'b' }, { boss: missing }])).toEqual([
      409,
      'unique-conflict',
      ['duplicate-value /1/email', 'duplicate-value /3/email', 'reference-not-found /4/boss'],
    ]);
    expect(await bulk([{ email: 'b' }, { boss: missing }])).toEqual([422, 'validation-failed', ['reference-not-found /1/boss']]);
    const [, , faults] = await bulk(Array.from({ length: 50 }, () => taken));
    expect(faults).toHaveLength(20);
    expect(await rowsOf(service(), 'half')).toEqual(before);
    expect(await bulk([{ email: 'b' }, { email: 'c' }])).toEqual([200, undefined, []]);
  });
});

describe('an index over members of the envelope', () => {
  test('200, 201 and 204 — has them after every way to change an entity, and during a build', async () => {
    const document = {
      properties: { email: text, boss: reference, a: {} },
      'x-unique': [{ fields: ['email'] }],
      'x-index': [['$createdBy', '-$createdAt'], ['$updatedAt']],
      'x-references': { boss: { to: 'member', onDelete: 'set-null' } },
    };
    let members = await declareWithRules(service(), 'member', document);
    const post = async (path: string, json: object, wanted: 200 | 201, headers = {}) => {
      const { status, text: body } = await service().call('POST', `/rest/entity/member${path}`, {
        cookie,
        headers,
        ...(json !== undefined && { json }),
      });
      expect(status, body).toBe(wanted);
    };
    const changeAll = async () => {
      const boss = await made('member', { email: null });
      await post('', { email: null }, 201, { 'idempotency-key': crypto.randomUUID() });
      await post('/bulk', [{ email: null }, { boss }], 200);
      if (members.state === 'ready') {
        await post('/upsert?by=email', { email: 'a@example.com', a: 1 }, 201);
        await post('/upsert?by=email', { email: 'a@example.com', a: 2 }, 200);
      }
      const alone = await made('member', { a: 'x'.repeat(20_000), boss });
      await post(`/${alone}`, { a: 'y'.repeat(20_000) }, 200);
      await post(`/${alone}`, { a: null }, 200);
      expect((await service().call('POST', `/rest/entity/member/${alone}/restore?version=1`, { cookie })).status).toBe(200);
      if (members.state === 'ready') expect((await remove('member', boss)).status).toBe(204);
      const { different, rows, entities } = await verifyCompanion(service().db, 'member', members, undefined);
      expect([different, rows]).toEqual([[], entities]);
    };
    await changeAll();
    members = await beginBuilding(service(), 'member');
    await changeAll();
    const [row] = await companionRows(service(), members);
    expect(Object.values(row ?? {})).toContain('ada');
    await sql`update ${inSchema(members.table)} set ${sql.ref(members.columns.find(({ field }) => field[0] === '$updatedAt')?.name ?? '')} = now()`.execute(
      service().db,
    );
    expect((await verifyCompanion(service().db, 'member', members, undefined)).different.length).toBeGreaterThan(5);
  });
});
