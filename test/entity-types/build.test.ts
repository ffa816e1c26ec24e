/** Rules and indexes of names that have entities: their companion tables, what is refused, and builds that are interrupted. */
import { sql, type Transaction } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { theService } from '../../src/audit/actor.ts';
import { presentTable } from '../../src/entities/companion/catalogue.ts';
import type { Database } from '../../src/database/tables.ts';
import { applyChange, settleType, type ApplyOptions } from '../../src/entity-types/apply.ts';
import { fillCompanion } from '../../src/entities/companion/fill.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import { Problem } from '../../src/problems/errors.ts';
import { declareType, seed, whileWaiting } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});
let name = '';
let number = 0;
beforeEach(() => {
  name = `name${++number}`;
});
const keyOf = (n: number) => String(number * 1_000_000 + n);
const seedAll = (entities: readonly object[]) =>
  Promise.all(entities.map((fields, index) => seed(service(), name, keyOf(index + 1), fields, 'ada')));
const apply = (document: Record<string, unknown> | null, options: ApplyOptions = {}, called = name) =>
  applyChange(service().store, theService, { name: called, document, source: 'command' }, options);
const storedType = (called = name) => findStoredType(service().db, called);

const text = { type: 'string' };
const key = { type: 'string', format: 'int64' };
const customer = {
  type: 'object',
  properties: { email: text, city: { type: ['string', 'null'] }, credit: { type: 'string', format: 'decimal' } },
};
const rules = { 'x-unique': [{ fields: ['email'], fold: true }], 'x-index': [['city'], ['city', '-credit']] };

/** The rows of the companion table by key, each with the values in the order of the columns. */
async function companionRows(called = name): Promise<unknown[][]> {
  const { companion } = await storedType(called);
  if (!companion) throw new Error('there is no companion table');
  const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(`entity_data.${companion.table}`)} order by key`.execute(
    service().db,
  );
  const columns = ['key', ...companion.columns.map((column) => column.name)];
  return rows.map((row) => columns.map((column) => row[column]));
}

async function refusal(work: Promise<unknown>): Promise<{ code: string; faults: string[] }> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Problem)) throw new Error('it was not refused', { cause: error });
  return { code: error.code, faults: error.faults.map((fault) => `${fault.code} ${fault.pointer ?? ''}`) };
}

const create = (json: object) => service().call<{ key: string }>('POST', `/rest/entity/${name}`, { cookie, json });

/** Puts the document in force, and runs `work` while the build waits for the row of the first entity. */
async function duringBuild<T>(document: Record<string, unknown>, work: () => Promise<T>, options: ApplyOptions = {}) {
  return await service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`select from entity where key = ${keyOf(1)} for update`.execute(trx);
      const building = apply(document, options);
      const outcome = { done: building, refusal: refusal(building) };
      outcome.refusal.catch(() => undefined);
      await expect.poll(async () => (await storedType()).companion?.state).toBe('building');
      await service().settle();
      return { ...outcome, answer: await work() };
    });
}

async function present(called = name) {
  const { companion, id } = await storedType(called);
  return await presentTable(service().db, companion?.table ?? `x${id}`);
}

describe('a type with rules', () => {
  test('has a companion row for each entity that was there before, valid indexes, and statistics of columns that are indexed together', async () => {
    await seedAll([
      { email: 'Ada@example.com', city: 'London', credit: '1.50' },
      { email: 'bob@example.com', city: null },
      { email: 7, city: 'Paris', credit: 'much' },
    ]);
    const { plan } = await apply({ ...customer, ...rules }, { allowUnfit: true });
    expect(plan.steps.map(({ kind, pointer, effect }) => `${effect} ${kind} ${pointer}`)).toEqual([
      'check declare ',
      'build rule /x-unique/0',
      'build rule /x-index/0',
      'build rule /x-index/1',
    ]);
    expect(await companionRows()).toEqual([
      [keyOf(1), 'ada@example.com', 'London', '1.50'],
      [keyOf(2), 'bob@example.com', null, null],
      [keyOf(3), null, 'Paris', null],
    ]);
    const { companion } = await storedType();
    expect(companion?.state).toBe('ready');
    const table = await present();
    const wanted = [...(companion?.uniques ?? []), ...(companion?.indexes ?? [])].map((each) => [each.name, true] as const);
    expect(Object.fromEntries(table?.indexes ?? [])).toEqual(Object.fromEntries(wanted));
    expect(table?.statistics.size).toBe(1);
    const again = await apply({ ...customer, ...rules });
    expect([again.changed, again.plan.steps]).toEqual([false, []]);
  });

  test('without entities has its table at once, in one revision', async () => {
    await declareType(service(), name, { ...customer, ...rules });
    const { rows } = await sql`select from entity_type_revision where name = ${name}`.execute(service().db);
    expect(rows).toHaveLength(1);
    expect((await present())?.indexes.size).toBe(3);
    expect(await companionRows()).toEqual([]);
  });

  test('gets further columns and indexes, and loses those that it does not need any more, without a new table', async () => {
    await seedAll([{ email: 'a@example.com', city: 'London', credit: '2' }]);
    await apply({ ...customer, 'x-index': [['city']] });
    const before = await storedType();
    const { plan } = await apply({ ...customer, 'x-index': [['credit']] });
    expect(plan.steps.map(({ kind, pointer, effect }) => `${effect} ${kind} ${pointer}`)).toEqual([
      'build rule /x-index/0',
      'none no-rule /x-index/0',
    ]);
    const after = await storedType();
    expect(after.companion?.table).toBe(before.companion?.table);
    expect(await companionRows()).toEqual([[keyOf(1), '2']]);
    expect([...((await present())?.columns ?? [])]).toEqual(['key', after.companion?.columns[0]?.name]);
    expect((await apply(customer)).plan.effect).toBe('none');
    expect(await present()).toBeUndefined();
    expect((await storedType()).companion).toBeNull();
  });

  test('converts a column whose field has another type', async () => {
    await seedAll([{ a: 1 }, { a: 'x' }]);
    await apply({ properties: { a: { type: 'number' } }, 'x-index': [['a']] }, { allowUnfit: true });
    expect(await companionRows()).toEqual([
      [keyOf(1), '1'],
      [keyOf(2), null],
    ]);
    const { plan } = await apply({ properties: { a: text }, 'x-index': [['a']] }, { allowUnfit: true });
    expect(plan.effect).toBe('build');
    expect(await companionRows()).toEqual([
      [keyOf(1), null],
      [keyOf(2), 'x'],
    ]);
  });

  test('is searched, also after another choice of fields', async () => {
    await seedAll([{ email: 'ada', city: 'London' }]);
    const found = async (word: string) => {
      const { companion } = await storedType();
      const { rows } = await sql`
        select from ${sql.table(`entity_data.${companion?.table}`)} where search @@ websearch_to_tsquery('simple', ${word})`.execute(
        service().db,
      );
      return rows.length;
    };
    await apply({ ...customer, 'x-search': { fields: ['email'] } });
    expect([await found('ada'), await found('london')]).toEqual([1, 0]);
    await apply({ ...customer, 'x-search': { fields: ['city'] } });
    expect([await found('ada'), await found('london')]).toEqual([0, 1]);
  });

  test('loses its table with its deletion, and its entities stay', async () => {
    await seedAll([{ email: 'a' }]);
    await apply({ ...customer, ...rules });
    const { companion } = await storedType();
    const { digest } = (await refusedPlan()).plan;
    await apply(null, { confirm: digest });
    expect(await presentTable(service().db, companion?.table ?? '')).toBeUndefined();
    const { rows } = await sql`select from entity where name = ${name}`.execute(service().db);
    expect(rows).toHaveLength(1);
  });
});

/** The plan of the deletion. */
async function refusedPlan() {
  const plans: { plan: { digest: string } }[] = [];
  await apply(null, { expect: (_current, plan) => void plans.push({ plan }) }).catch(() => undefined);
  const [first] = plans;
  if (!first) throw new Error('there was no plan');
  return first;
}

describe('entities that do not fit the rules are refused, and the old type stays in force', () => {
  test('two that share a value, whatever its case, with both keys', async () => {
    await seedAll([{ email: 'ada@example.com' }, { email: 'bob@example.com' }, { email: 'ADA@example.com' }, {}, {}]);
    await apply(customer);
    const before = await storedType();
    expect(await refusal(apply({ ...customer, ...rules }, { allowUnfit: true }))).toEqual({
      code: 'type-conflict',
      faults: [`duplicate-value /${keyOf(1)}/email`, `duplicate-value /${keyOf(3)}/email`],
    });
    expect(await storedType()).toEqual(before);
    expect(await present()).toBeUndefined();
  });

  test.each([
    ['decimal', '1.50', '1.5'],
    ['date-time', '2026-11-20T08:00:00Z', '2026-11-20T09:00:00.000+01:00'],
  ])('two that write the same %s in two ways', async (format, one, other) => {
    await seedAll([{ a: one }, { a: other }]);
    const document = { properties: { a: { type: 'string', format } }, 'x-unique': [{ fields: ['a'] }] };
    expect((await refusal(apply(document))).faults).toEqual([`duplicate-value /${keyOf(1)}/a`, `duplicate-value /${keyOf(2)}/a`]);
    expect((await storedType()).revision).toBe('0');
  });

  test('a text that no index can hold', async () => {
    await seedAll([{ city: 'x'.repeat(601) }]);
    expect(await refusal(apply({ ...customer, 'x-index': [['city']] }))).toEqual({
      code: 'type-conflict',
      faults: [`too-long /${keyOf(1)}/city`],
    });
  });

  test('a duplicate that is written after the check: the table and its revision are as before', async () => {
    await seedAll([{ email: 'a' }]);
    await apply({ ...customer, 'x-index': [['city']] });
    const before = await storedType();
    const build = await duringBuild({ ...customer, ...rules, 'x-index': [['city'], ['email']] }, () => create({ email: 'A' }));
    const { status, body, text } = build.answer;
    expect(status, text).toBe(201);
    expect(await build.refusal).toEqual({
      code: 'type-conflict',
      faults: [`duplicate-value /${body.key}/email`, `duplicate-value /${keyOf(1)}/email`],
    });
    const after = await storedType();
    expect(after.type?.document).toEqual(before.type?.document);
    expect(after.companion).toMatchObject({ state: 'ready', columns: before.companion?.columns });
    expect([...((await present())?.indexes ?? [])]).toEqual(before.companion?.indexes.map((each) => [each.name, true]));
  });
});

describe('entities that are written while their type is being built', () => {
  test.each(['created', 'updated'])(
    '409 — one that lacks a newly required field, and is %s then, is named, and the old document stays',
    async (how) => {
      await seedAll([{ email: 'a', city: 'London' }]);
      await apply({ ...customer, 'x-index': [['city']] });
      const { body } = await create({ email: 'b', city: 'Paris' });
      const before = await storedType();
      const update = () => service().call<{ key: string }>('POST', `/rest/entity/${name}/${body.key}`, { cookie, json: { city: null } });
      const wanted = {
        ...customer,
        required: ['city'],
        properties: { ...customer.properties, city: text },
        'x-index': [['city'], ['email']],
      };
      const build = await duringBuild(wanted, how === 'created' ? () => create({ email: 'c' }) : update);
      expect(build.answer.status, build.answer.text).toBe(how === 'created' ? 201 : 200);
      expect(await build.refusal).toEqual({ code: 'type-conflict', faults: [`required /${build.answer.body.key}/city`] });
      const after = await storedType();
      expect([after.type?.document, after.companion?.state]).toEqual([before.type?.document, 'ready']);
      expect([...((await present())?.indexes ?? [])]).toEqual(before.companion?.indexes.map((each) => [each.name, true]));
    },
  );

  // An index over one text has room for 600 characters of it, and one over three for 200 of each.
  const [narrow, wide] = [[['city']], [['city', 'email', '-credit']]];
  test.each([
    ['less', narrow, wide],
    ['more', wide, narrow],
  ])('422 — a text that is too long for the old or the new index, when the new one has %s room for it', async (_room, old, now) => {
    await seedAll([{ city: 'London' }]);
    await apply({ ...customer, 'x-index': old });
    const build = await duringBuild({ ...customer, 'x-index': now }, () => create({ city: 'x'.repeat(400) }));
    expect([build.answer.status, build.answer.body]).toMatchObject([422, { errors: [{ pointer: '/city', code: 'too-long' }] }]);
    expect((await build.done).changed).toBe(true);
    await service().settle();
    expect((await create({ city: 'x'.repeat(400) })).status).toBe(now === narrow ? 201 : 422);
  });
});

describe('a change that waits for the lock of the types', () => {
  /** Lets the changes wait for other writers, and runs `work` with what they have looked at. */
  const whileLooked = <T>(change: () => Promise<T>, work: (trx: Transaction<Database>) => Promise<unknown>) =>
    whileWaiting(service(), sql`lock table entity_type in row share mode`, change, work);
  const insertEntity = (trx: Transaction<Database>, fields: object) =>
    sql`
    insert into entity (name, key, fields, created_by, updated_by) overriding system value
    values (${name}, ${keyOf(1)}, ${JSON.stringify(fields)}, 'ada', 'ada')`.execute(trx);

  test('builds the row of an entity that is created meanwhile, although there was none', async () => {
    const document = { ...customer, 'x-index': [['city']] };
    await whileLooked(
      () => apply(document),
      (trx) => insertEntity(trx, { city: 'London' }),
    );
    expect(await companionRows()).toEqual([[keyOf(1), 'London']]);
  });

  test('409 — is refused for an entity that is created meanwhile and does not fit', async () => {
    await seed(service(), name, keyOf(2), { city: 'Paris' }, 'ada');
    const outcome = await whileLooked(
      () => refusal(apply({ ...customer, required: ['city'] })),
      (trx) => insertEntity(trx, { email: 'a' }),
    );
    expect(outcome).toEqual({ code: 'type-conflict', faults: [`required /${keyOf(1)}/city`] });
    expect((await storedType()).revision).toBe('0');
  });

  test('422 — one of two types that would delete each other’s entities in a circle', async () => {
    const [one, other] = [`${name}-one`, `${name}-other`];
    for (const called of [one, other]) await apply({ type: 'object' }, {}, called);
    const cascade = (to: string) => ({ properties: { main: key }, 'x-references': { main: { to, onDelete: 'cascade' } } });
    const outcomes = await whileLooked(
      () => Promise.allSettled([apply(cascade(other), {}, one), apply(cascade(one), {}, other)]),
      async (trx) => {
        const waiting = sql`select from pg_locks where relation = 'entity_type'::regclass and not granted and database = (select oid from pg_database where datname = current_database())`;
        await expect.poll(async () => (await waiting.execute(trx)).rows.length).toBe(2);
      },
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { code: 'validation-failed', faults: [{ pointer: '/x-references/main/onDelete', code: 'not-supported' }] } },
    ]);
  });
});

describe('references', () => {
  const order = (onDelete = 'restrict', to = 'nobody') => ({
    properties: { customer: key },
    'x-references': { customer: { to, onDelete } },
  });

  test('422 — of a name that is not declared, and the pointer leads to it', async () => {
    expect(await refusal(apply(order()))).toEqual({ code: 'validation-failed', faults: ['reference-not-found /x-references/customer/to'] });
    expect((await storedType()).revision).toBe('0');
  });

  test('409 — entities that refer to none are named, and to those of another name', async () => {
    const target = `target${number}`;
    await declareType(service(), target, { type: 'object' });
    await seedAll([{ customer: keyOf(500) }, { customer: keyOf(501) }, { customer: keyOf(1) }, {}]);
    await seed(service(), target, keyOf(500), {}, 'ada');
    expect(await refusal(apply(order('restrict', target)))).toEqual({
      code: 'type-conflict',
      faults: [`reference-not-found /${keyOf(2)}/customer`, `reference-not-found /${keyOf(3)}/customer`],
    });
  });

  test('give their target a table of its keys, hold in PostgreSQL, and the table goes with the last reference', async () => {
    const target = `target${number}`;
    await declareType(service(), target, { type: 'object' });
    await seed(service(), target, keyOf(500), {}, 'ada');
    await seedAll([{ customer: keyOf(500) }]);
    await apply(order('restrict', target));
    expect(await companionRows(target)).toEqual([[keyOf(500)]]);
    expect([...((await present())?.references.values() ?? [])]).toEqual([true]);
    const { companion } = await storedType();
    const dangling = sql`insert into ${sql.table(`entity_data.${companion?.table}`)} values (1, 2)`.execute(service().db);
    await expect(dangling).rejects.toMatchObject({ code: '23503', constraint: companion?.references[0]?.name });
    const deletion = apply(null, {}, target);
    expect((await refusal(deletion)).code).toBe('confirmation-required');
    await apply({ properties: { customer: key } });
    expect(await present(target)).toBeUndefined();
  });

  test('409 — a type that others refer to is not deleted, and the refusal names them', async () => {
    const target = `target${number}`;
    await declareType(service(), target, { type: 'object' });
    await apply(order('restrict', target));
    let digest = '';
    const expectPlan: ApplyOptions['expect'] = (_current, plan) => void (digest = plan.digest);
    expect((await refusal(apply(null, { expect: expectPlan }, target))).code).toBe('confirmation-required');
    const error: unknown = await apply(null, { confirm: digest }, target).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'type-conflict', faults: [{ pointer: '', code: 'referenced', values: { types: name } }] });
    expect((await storedType(target)).type).toBeDefined();
  });

  test('422 — cascades in a circle, and of more than four types', async () => {
    expect(await refusal(apply(order('cascade', name)))).toEqual({
      code: 'validation-failed',
      faults: ['not-supported /x-references/customer/onDelete'],
    });
    await apply(order('restrict', name));
    const chain = [0, 1, 2, 3, 4, 5].map((n) => `chain${number}.${n}`);
    await apply({ type: 'object' }, {}, chain[0]);
    for (const n of [1, 2, 3, 4]) await apply(order('cascade', chain[n - 1]), {}, chain[n]);
    expect((await refusal(apply(order('cascade', chain[4]), {}, chain[5]))).faults).toEqual(['too-deep /x-references/customer/onDelete']);
    await apply(order('restrict', chain[4]), {}, chain[5]);
    // Two types may refer to each other, as long as deletions do not go round.
    expect((await refusal(apply(order('cascade', chain[4]), {}, chain[0]))).faults).toEqual([
      'not-supported /x-references/customer/onDelete',
    ]);
    await apply(order('restrict', chain[4]), {}, chain[0]);
    expect((await storedType(chain[0])).companion?.references).toHaveLength(1);
  });
});

describe('a build whose process ends', () => {
  const document = { ...customer, ...rules };
  const killAt = (phase: string): ApplyOptions => ({
    onProgress: (progress) => {
      if (progress.phase !== phase) return;
      throw new KillError();
    },
  });
  /** As the end of the connection: neither a refusal nor a failure of a statement. */
  class KillError extends Error {}

  test.each(['rows', 'indexes'])('at the phase %s: the same change goes on, and needs no other preparation', async (phase) => {
    await seedAll([{ email: 'a', city: 'London' }, { email: 'b' }]);
    await apply(customer);
    await expect(apply(document, killAt(phase))).rejects.toThrow(KillError);
    const half = await storedType();
    expect([half.type?.document, half.companion?.state]).toEqual([customer, 'building']);
    expect((await apply(document)).changed).toBe(true);
    const { companion, type } = await storedType();
    expect([type?.document, companion?.state]).toEqual([document, 'ready']);
    expect(await companionRows()).toHaveLength(2);
    expect([...((await present())?.indexes.values() ?? [])]).toEqual([true, true, true]);
  });

  test('and leaves an invalid index: the next build drops it first', async () => {
    await seedAll([{ email: 'a' }, { email: 'b' }]);
    await expect(apply(document, killAt('indexes'))).rejects.toThrow(KillError);
    const { companion } = await storedType();
    const [unique] = companion?.uniques ?? [];
    const table = sql.table(`entity_data.${companion?.table}`);
    const column = sql.ref(unique?.columns[0] ?? '');
    // What CREATE INDEX CONCURRENTLY leaves behind when it fails.
    await sql`update ${table} set ${column} = 'same'`.execute(service().db);
    await expect(
      sql`create unique index concurrently ${sql.ref(unique?.name ?? '')} on ${table} (${column})`.execute(service().db),
    ).rejects.toMatchObject({ code: '23505' });
    expect((await present())?.indexes.get(unique?.name ?? '')).toBe(false);
    await apply(document);
    expect((await present())?.indexes.get(unique?.name ?? '')).toBe(true);
    expect((await companionRows()).map(([, email]) => email)).toEqual(['a', 'b']);
  });

  test('is cleaned up: the old type has no trace of it, and a name without a type has none again', async () => {
    await seedAll([{ email: 'a' }]);
    await expect(apply(document, killAt('indexes'))).rejects.toThrow(KillError);
    const { companion, type, revision } = await storedType();
    expect([companion?.state, type]).toEqual(['building', undefined]);
    expect(revision).not.toBe('0');
    await settleType(service().store, theService, name);
    expect((await storedType()).revision).toBe('0');
    expect(await presentTable(service().db, companion?.table ?? '')).toBeUndefined();

    await apply({ ...customer, 'x-search': { fields: ['city'] } });
    const before = await storedType();
    await expect(apply({ ...document, 'x-search': { fields: ['email'] } }, killAt('indexes'))).rejects.toThrow(KillError);
    await settleType(service().store, theService, name);
    const after = await storedType();
    expect(after.type?.document).toEqual(before.type?.document);
    expect(after.companion).toMatchObject({ state: 'ready', columns: [], search: before.companion?.search });
    expect([...((await present())?.columns ?? [])]).toEqual(['key', 'search']);
  });
});

describe('of a thousand types', () => {
  const indexed = { ...customer, 'x-index': [['city']] };
  /** Types until there are `count`, as if other processes had declared them. */
  const fillers = (count: number) => sql`
    with present as (select count(*)::int as present from entity_type),
    made as (
      insert into entity_type_revision (name, document, source, plan, applied_by)
      select 'filler' || present + n, '{}', 'command', '{}', 'ada' from present, generate_series(1, ${count}::int - present) as n
      returning name, revision)
    insert into entity_type (name, revision) select name, revision from made`;
  afterEach(() => sql`delete from entity_type where name like 'filler%'`.execute(service().db));

  test('409 — the last one is built with its entities, and the next one is refused before its entities are read', async () => {
    await seedAll([{ email: 'a', city: 'London' }]);
    const [next, nextAtOnce] = [`${name}-next`, `${name}-at-once`];
    await seed(service(), next, keyOf(2), { city: 'Paris' }, 'ada');
    await fillers(999).execute(service().db);
    expect((await apply(indexed)).changed).toBe(true);
    expect((await storedType()).companion?.state).toBe('ready');
    const phases: string[] = [];
    const onProgress: ApplyOptions['onProgress'] = ({ phase }) => void phases.push(phase);
    const full = { code: 'type-conflict', faults: ['too-many-values '] };
    expect(await refusal(apply(indexed, { onProgress }, next))).toEqual(full);
    expect(await refusal(apply({ type: 'object' }, { onProgress }, nextAtOnce))).toEqual(full);
    expect(phases).toEqual([]);
    for (const refused of [next, nextAtOnce]) expect((await storedType(refused)).revision).toBe('0');
    // A type that is there already is changed, and one that is deleted leaves its place.
    expect((await apply({ ...indexed, 'x-index': [['city'], ['email']] })).changed).toBe(true);
    const digests: string[] = [];
    await apply(null, { expect: (_current, { digest }) => void digests.push(digest) }).catch(() => undefined);
    expect((await apply(null, { confirm: digests[0] })).changed).toBe(true);
    expect((await apply(indexed, {}, next)).changed).toBe(true);
  });

  test('409 — a new one for which the last place is taken while its entities are read', async () => {
    await seedAll([{ email: 'a', city: 'London' }]);
    await fillers(999).execute(service().db);
    const phases: string[] = [];
    const onProgress: ApplyOptions['onProgress'] = ({ phase }) => void phases.push(phase);
    const declare = () => refusal(apply(indexed, { onProgress }));
    const outcome = await whileWaiting(service(), fillers(1_000), declare, async () => undefined);
    expect(new Set(phases)).toEqual(new Set(['check']));
    expect(outcome).toEqual({ code: 'type-conflict', faults: ['too-many-values '] });
    expect((await storedType()).revision).toBe('0');
  });
});

test.each([
  ['a check', { ...customer, required: ['email'] }],
  ['a build', { ...customer, 'x-index': [['email']] }],
])('409 — %s of more entities than may be read, before the first is read, and as many as may be are read', async (_what, document) => {
  await seedAll([{ email: 'a' }, { email: 'b' }, { email: 'c' }]);
  const phases: string[] = [];
  const outcome = await refusal(apply(document, { onProgress: ({ phase }) => void phases.push(phase), limit: 2 }));
  expect(outcome).toEqual({ code: 'type-conflict', faults: ['too-many-values '] });
  expect(phases).toEqual([]);
  expect((await storedType()).revision).toBe('0');
  expect((await apply(document, { limit: 3 })).changed).toBe(true);
});

test('two processes that apply the same document at once build it once', async () => {
  await seedAll(Array.from({ length: 50 }, (_, n) => ({ email: `${n}` })));
  const other = await service().replica();
  onTestFinished(() => other.stop());
  const document = { ...customer, ...rules };
  const applied = await Promise.all(
    [service(), other, service(), other].map(({ store }) =>
      applyChange(store, theService, { name, document, source: 'command' }, { allowUnfit: true }),
    ),
  );
  expect(applied.filter(({ changed }) => changed)).toHaveLength(1);
  expect(await companionRows()).toHaveLength(50);
});

test('a process waits for the build of another one, and tells so', async () => {
  await seedAll([{ email: 'a' }]);
  const waited: string[] = [];
  const document = { ...customer, ...rules };
  const { both } = await service()
    .db.transaction()
    .execute(async (trx) => {
      // The build waits for this entity.
      await sql`select from entity where name = ${name} for update`.execute(trx);
      const first = apply(document);
      await expect.poll(async () => (await storedType()).companion?.state).toBe('building');
      const second = apply(document, { onWait: (each) => waited.push(each) });
      await expect.poll(() => waited).toEqual([name]);
      return { both: Promise.all([first, second]) };
    });
  expect((await both).map(({ changed }) => changed)).toEqual([true, false]);
});

test('503 — a change of a type that is being built longer than the caller waits', async () => {
  await seedAll([{ email: 'a' }]);
  await apply(customer);
  const titled = { ...customer, title: 'Customer' };
  const { built, refused } = await service()
    .db.transaction()
    .execute(async (trx) => {
      // The build waits for this entity.
      await sql`select from entity where name = ${name} for update`.execute(trx);
      const build = apply({ ...customer, ...rules });
      await expect.poll(async () => (await storedType()).companion?.state).toBe('building');
      const refusals = [await refusal(apply(titled, { waitMs: 0 })), await refusal(apply({ ...customer, ...rules }, { waitMs: 0 }))];
      return { built: build, refused: refusals.map(({ code }) => code) };
    });
  expect(refused).toEqual(['busy', 'busy']);
  expect((await built).changed).toBe(true);
  expect((await apply({ ...titled, ...rules }, { waitMs: 0 })).changed).toBe(true);
});

test('a batch of rows that waits for a lock is given up with its keys after three attempts, and written once the lock is free', async () => {
  await apply({ ...customer, ...rules });
  await seedAll([{ email: 'ada@example.com' }, { email: 'bob@example.com' }]);
  const { companion } = await storedType();
  if (!companion) throw new Error('there is no companion table');
  const fill = () => service().store.runLong((db) => fillCompanion(db, name, companion, () => undefined, { limitMs: 50 }));
  const error: unknown = await service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`lock table ${sql.table(`entity_data.${companion.table}`)} in exclusive mode`.execute(trx);
      return await fill().catch((reason: unknown) => reason);
    });
  expect(error).toMatchObject({ code: 'busy', cause: { message: expect.stringContaining(`the keys ${keyOf(1)} to ${keyOf(2)} in time`) } });
  expect(await companionRows()).toEqual([]);
  expect(await fill()).toEqual([]);
  expect(await companionRows()).toHaveLength(2);
});
