import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { rowsOf, seed, type Entity } from '../../support/entities.ts';
import { Decimal, exactly, objectText } from '../../support/exact-json.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';

const service = useService({ BODY_LIMIT_BYTES: '65536' });
let cookie: string;

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

const create = async (fields: object | string): Promise<Entity> => {
  const raw = typeof fields === 'string' ? fields : JSON.stringify(fields);
  const answer = await service().call<Entity>('POST', '/rest/entity/note', {
    cookie,
    raw,
    headers: { 'content-type': 'application/json' },
  });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const at = ({ name, key }: Entity) => `/rest/entity/${name}/${key}`;
const read = async (entity: Entity): Promise<Answer<Entity>> => await service().call<Entity>('GET', at(entity), { cookie });
const update = <T = Entity>(entity: Entity, call: Call): Promise<Answer<T>> => service().call<T>('POST', at(entity), { cookie, ...call });
const ifMatch = (tag: string) => ({ 'if-match': tag });

type Json = null | boolean | Decimal | number | string | Json[] | { [name: string]: Json };

const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);

/** RFC 7396 section 2, in TypeScript. */
function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, mergePatch(result.get(name), value));
  }
  return Object.fromEntries(result);
}

/** The patch with a member of `before` added, if there is one: otherwise few patches would replace, merge or remove anything. */
function touching(before: string, patch: string, choice: number): string {
  const name = Object.keys(JSON.parse(before) as object)[choice];
  if (name === undefined || Object.hasOwn(JSON.parse(patch) as object, name)) return patch;
  const value = choice % 2 ? 'null' : '{"a":null,"b":0.10}';
  return patch.replace('{', () => `{${JSON.stringify(name)}:${value}${patch.includes(':') ? ',' : ''}`);
}

describe('updateEntity', () => {
  test('200 — given members change, null removes, all others stay; version, ETag and times advance', async () => {
    const entity = await create({ city: 'London', credit: 1, address: { street: 'a', zip: 'b' } });
    const answer = await update(entity, { json: { credit: null, address: { zip: null, house: 7 }, note: 'new' } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('etag')).toBe('"2"');
    const { updatedAt, ...rest } = answer.body;
    expect(rest).toEqual({
      name: 'note',
      key: entity.key,
      version: 2,
      createdAt: entity.createdAt,
      createdBy: 'ada',
      updatedBy: 'ada',
      fields: { city: 'London', address: { street: 'a', house: 7 }, note: 'new' },
    });
    expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(entity.updatedAt));
    expect((await read(entity)).body).toEqual(answer.body);
  });

  test('200 — any patch of any fields is merged as in RFC 7396, and digit for digit (rule 70)', async () => {
    await fc.assert(
      fc.asyncProperty(objectText, objectText, fc.nat(3), async (before, patch, choice) => {
        const text = touching(before, patch, choice);
        const entity = await create(before);
        const answer = await update(entity, { raw: text, headers: { 'content-type': 'application/json' } });
        expect(answer.status, `${text}\n${answer.text}`).toBe(200);
        const { fields } = exactly((await read(entity)).text) as { fields: unknown };
        expect(fields).toEqual(mergePatch(exactly(before) as Json, exactly(text) as Json));
      }),
      { numRuns: 120 },
    );
  });

  test('200 — If-Match with the present version, as proxies change it too, in a list, or any (rule 78)', async () => {
    const entity = await create({});
    const proxied = ['W/"6"', '"7-gzip"', 'W/"8-br"', '"9--gzip"', '"10;zstd"', '"1", W/"11"'];
    for (const tag of ['"1"', '"9", "2"', ', "3" ,', '*', 'W/"5", "5"', ...proxied]) {
      const answer = await update(entity, { json: { tag }, headers: ifMatch(tag) });
      expect(answer.status, tag).toBe(200);
    }
    expect((await read(entity)).body.version).toBe(12);
  });

  test('412 — If-Match with other versions only, weak ones included, and nothing changes (rule 78)', async () => {
    const entity = await create({ a: 1 });
    for (const tag of [
      '"2"',
      'W/"2"',
      '"2-gzip"',
      '"1-x"',
      '"1-"',
      '"1-gzip-gzip"',
      '"-gzip"',
      '"01"',
      '"1.0"',
      '""',
      '"x"',
      '"0"',
      '"-1"',
      '"9223372036854775808"',
      `"${'1'.repeat(40)}"`,
      '"2", W/"3"',
    ]) {
      const answer = await update<ProblemBody>(entity, { json: { a: 2 }, headers: ifMatch(tag) });
      expect(answer.status, tag).toBe(412);
      expect(answer.body.code).toBe('precondition-failed');
    }
    expect((await read(entity)).body).toEqual(entity);
  });

  test('400 — an If-Match that is not a list of tags, and nothing changes', async () => {
    const entity = await create({ a: 1 });
    for (const tag of ['1', '"1', "'1'", 'w/"1"', '"1" "2"', '*, "1"', '', ',', `"${'1'.repeat(1_100)}"`]) {
      const answer = await update<ProblemBody>(entity, { json: { a: 2 }, headers: ifMatch(tag) });
      expect(answer.status, tag).toBe(400);
      expect(answer.body.errors?.[0]?.parameter).toMatch(/^if-match$/i);
    }
    expect((await read(entity)).body).toEqual(entity);
  });

  test('412 and 200 — of twenty updates with one ETag exactly one succeeds (rule 78: no lost update)', async () => {
    const entity = await create({ winner: null });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, winner) => update(entity, { json: { winner }, headers: ifMatch('"1"') })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(19);
    expect((await read(entity)).body).toEqual(won[0]?.body);
  });

  test('200 — twenty clients read, add one and write under If-Match until it succeeds, and no addition is lost (rule 89)', async () => {
    const entity = await create({ count: 0 });
    const addOne = async () => {
      for (;;) {
        const present = await read(entity);
        const json = { count: Number(present.body.fields['count']) + 1 };
        const { status } = await update(entity, { json, headers: ifMatch(present.headers.get('etag') ?? '') });
        if (status === 200) return;
        expect(status).toBe(412);
      }
    };
    await Promise.all(Array.from({ length: 20 }, addOne));
    expect((await read(entity)).body).toMatchObject({ version: 21, fields: { count: 20 } });
  });

  test('200 — concurrent unguarded updates of different members are all applied (rule 89)', async () => {
    const entity = await create({});
    await Promise.all(Array.from({ length: 30 }, (_, index) => update(entity, { json: { [`m${index}`]: index } })));
    const { body } = await read(entity);
    expect(body.version).toBe(31);
    expect(Object.keys(body.fields)).toHaveLength(30);
  });

  test('200 — keys are exact: no adjacent key is changed (rule 68)', async () => {
    const keys = ['9007199254740992', '9007199254740993', '9223372036854775806', '9223372036854775807'];
    for (const key of keys) await seed(service(), 'exact', key, { i: key }, 'ada');
    const answer = await service().call<Entity>('POST', '/rest/entity/exact/9007199254740993', { cookie, json: { changed: 1 } });
    expect(answer.body).toMatchObject({ key: '9007199254740993', version: 2 });
    await service().call('POST', '/rest/entity/exact/9223372036854775807', { cookie, json: { changed: 1 } });
    expect((await rowsOf(service(), 'exact')).map(({ key, version }) => [key, version])).toEqual(
      keys.map((key, index) => [key, index % 2 ? '2' : '1']),
    );
  });

  test('404 — a missing entity, also under If-Match: *, and nothing is created', async () => {
    for (const headers of [{}, ifMatch('*'), ifMatch('"1"')]) {
      const answer = await service().call('POST', '/rest/entity/nowhere/1', { cookie, json: {}, headers });
      expect(answer.status).toBe(404);
    }
    expect(await rowsOf(service(), 'nowhere')).toEqual([]);
  });

  test('422 — a patch that is not an object, which RFC 7396 would allow', async () => {
    const entity = await create({ a: 1 });
    for (const raw of ['null', '[]', '"a"', '0']) {
      const answer = await update<ProblemBody>(entity, { raw, headers: { 'content-type': 'application/json' } });
      expect(answer.status, raw).toBe(422);
      expect(answer.body.errors).toMatchObject([{ pointer: '', code: 'invalid-type' }]);
    }
    expect((await read(entity)).body).toEqual(entity);
  });

  test('413 — a merge whose result a create would refuse, and nothing changes', async () => {
    const entity = await create({});
    let present = entity;
    for (let index = 0; index < 10; index++) {
      const answer = await update(entity, { json: { [`m${index}`]: 'x'.repeat(60_000) } });
      if (answer.status !== 200) {
        expect(answer.status).toBe(413);
        expect(answer.body).toMatchObject({ code: 'content-too-large' });
        expect((await read(entity)).body).toEqual(present);
        return;
      }
      present = answer.body;
    }
    throw new Error('it grew without end');
  });

  test('200 — updatedAt never goes back within an entity, nor does the history, whatever the order of transactions', async () => {
    const entity = await create({ n: 0 });
    // As if the change before was made by a transaction that began later.
    const later = '2100-01-01T00:00:00.000Z';
    await sql`update entity set updated_at = ${later} where key = ${entity.key}`.execute(service().db);
    const alone = 'x'.repeat(20_000);
    for (const json of [{ n: 1 }, { alone }, { n: 2 }]) expect((await update(entity, { json })).body.updatedAt).toBe(later);
    const restored = await service().call<Entity>('POST', `/rest/entity/${entity.name}/${entity.key}/restore?version=1`, { cookie });
    expect(restored.body.updatedAt).toBe(later);
    const { body } = await service().call<{ items: { updatedAt: string }[] }>('GET', `/rest/entity/${entity.name}/${entity.key}/history`, {
      cookie,
    });
    expect(body.items.map(({ updatedAt }) => updatedAt)).toEqual([later, later, later, later, entity.updatedAt]);
  });

  test('200 — is audited, and a refused update is not (rule 85)', async () => {
    const entity = await create({ a: 1 });
    await update(entity, { json: { a: 2 }, headers: ifMatch('"7"') });
    await update(entity, { json: { a: 'nobody must read this' } });
    const events = await service().db.selectFrom('audit_event').where('event', '=', 'entity.updated').selectAll().execute();
    const ours = events.filter(({ detail }) => detail['key'] === entity.key);
    expect(ours).toMatchObject([{ outcome: 'ok', user_name: 'ada', detail: { entity: 'note', key: entity.key, version: 2 } }]);
    expect(JSON.stringify(ours)).not.toContain('nobody');
  });
});
