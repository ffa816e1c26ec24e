/** 409 `unique-conflict` names the other entity to a caller whose grants and scopes of `read` cover it, and to no other (rule 154). */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { namingConflict } from '../../../src/entities/writing/conflict-name.ts';
import { UniqueConflict } from '../../../src/entities/writing/violations.ts';
import { declareWithRules } from '../../support/companions.ts';
import type { Entity } from '../../support/entities.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';
import { fullRights } from '../../../src/rights/field-view.ts';

const service = useService();
const all = ['create', 'read', 'update', 'delete'] as const;
let ada: Call;
let reader: Call;
let owner: Call;
let creator: Call;
let scoped: Call;
let [serial, taken, owned] = [0, '', ''];

const send = <T = Entity & ProblemBody>(path: string, json: object | undefined, as: Call): Promise<Answer<T>> =>
  service().call<T>('POST', path, { ...as, ...(json && { json }) });
const create = (json: object, as = ada) => send('/rest/entity/tag', json, as);
const made = async (json: object, as = ada): Promise<string> => {
  const { status, body, text } = await create(json, as);
  expect(status, text).toBe(201);
  return body.key;
};
const fresh = () => `fresh ${++serial}`;
const detailOf = ({ status, body }: Answer<ProblemBody>) => {
  const [fault, ...others] = body.errors ?? [];
  return [status, body.code, fault?.pointer, fault?.detail, others.length];
};
const refused = (pointer: string, key?: string) => [
  409,
  'unique-conflict',
  pointer,
  `Another entity has this value.${key === undefined ? '' : ` Its key is ${key}.`}`,
  0,
];

beforeAll(async () => {
  await declareWithRules(service(), 'tag', {
    properties: { mark: { type: 'string' }, n: { type: 'integer' }, day: { type: 'string', format: 'date' } },
    'x-unique': [{ fields: ['mark'], fold: true }, { fields: ['n', 'day'] }],
    'x-soft-delete': { keep: 'P7D' },
  });
  const adaId = (await service().createUser('ada')).id;
  ada = { cookie: await service().openSession(adaId) };
  reader = { cookie: await service().openSession((await service().createUser('bea', { tag: [...all] })).id) };
  const own = { actions: [...all], condition: 'own' as const };
  owner = { cookie: await service().openSession((await service().createUser('eve', { tag: own })).id) };
  creator = { cookie: await service().openSession((await service().createUser('cy', { tag: ['create', 'update'] })).id) };
  scoped = { headers: { 'x-api-key': await service().createKey(adaId, { scopes: [{ entity: 'tag', actions: ['create'] }] }) } };
  taken = await made({ mark: 'taken' });
  owned = await made({ mark: 'owned' }, owner);
});

describe('a create', () => {
  test.each([
    ['names the entity to a reader of all', () => reader, 'Taken', () => taken],
    ['names an own entity to a reader of own ones', () => owner, 'OWNED', () => owned],
    ['does not name the entity of another user to a reader of own ones', () => owner, 'taken', () => undefined],
    ['names nothing to a caller without read', () => creator, 'taken', () => undefined],
    ['names nothing to a key whose scopes lack read', () => scoped, 'taken', () => undefined],
  ])('409 — %s', async (_what, as, mark, key) => {
    expect(detailOf(await create({ mark }, as()))).toEqual(refused('/mark', key()));
    const headers = { ...as().headers, 'idempotency-key': crypto.randomUUID() };
    expect(detailOf(await create({ mark }, { ...as(), headers }))).toEqual(refused('/mark', key()));
  });

  test('409 — each field of a rule of two names it', async () => {
    const key = await made({ mark: fresh(), n: 1, day: '2026-11-26' });
    const { body } = await create({ mark: fresh(), n: 1, day: '2026-11-26' });
    const detail = `Another entity has this value. Its key is ${key}. These fields are unique together: n, day.`;
    expect(body.errors?.map(({ pointer, detail: text }) => [pointer, text])).toEqual([
      ['/n', detail],
      ['/day', detail],
    ]);
  });
});

describe('other writes', () => {
  test.each([
    ['light', 'light', {}],
    ['heavy', 'x'.repeat(20_000), {}],
    ['light with an Idempotency-Key', 'light', { 'idempotency-key': crypto.randomUUID() }],
  ])('409 — an update that is %s', async (_what, note, headers) => {
    const key = await made({ mark: fresh() }, owner);
    const update = (mark: string, as: Call) =>
      send(`/rest/entity/tag/${key}`, { mark, note }, { ...as, headers: { ...as.headers, ...headers } });
    expect(detailOf(await update('taken', reader))).toEqual(refused('/mark', taken));
    expect(detailOf(await update('owned', owner))).toEqual(refused('/mark', owned));
    expect(detailOf(await update('taken', owner))).toEqual(refused('/mark'));
  });

  test('409 — an update of one field of a rule of two, whose other one stays', async () => {
    const other = await made({ mark: fresh(), n: 7, day: '2026-11-26' });
    const key = await made({ mark: fresh(), n: 8, day: '2026-11-26' });
    const { body } = await send(`/rest/entity/tag/${key}`, { n: 7 }, ada);
    expect(body.errors?.map(({ detail }) => detail)).toEqual(
      Array(2).fill(`Another entity has this value. Its key is ${other}. These fields are unique together: n, day.`),
    );
  });

  test('409 — an upsert that the caller may not make of the entity, and one that meets another rule', async () => {
    const { id } = await service().createUser('fay', null);
    await service().createProfile(id, 'fay', { tag: { actions: ['create', 'update'], condition: 'own' }, '*': ['read'] }, true);
    const fay = { cookie: await service().openSession(id) };
    const upsert = (json: object, as: Call) => send('/rest/entity/tag/upsert?by=mark', json, as);
    expect(detailOf(await upsert({ mark: 'taken' }, fay))).toEqual(refused('/mark', taken));
    expect(detailOf(await upsert({ mark: 'taken' }, owner))).toEqual(refused('/mark'));
    const other = await made({ mark: fresh(), n: 20, day: '2026-11-26' });
    const { body } = await upsert({ mark: fresh(), n: 20, day: '2026-11-26' }, reader);
    expect(body.errors?.[0]?.detail).toContain(`Its key is ${other}.`);
  });

  test('409 — a restore from the trash', async () => {
    const mark = fresh();
    const key = await made({ mark }, owner);
    expect((await service().call('DELETE', `/rest/entity/tag/${key}`, owner)).status).toBe(204);
    const second = await made({ mark });
    const restore = (as: Call) => send(`/rest/entity/tag/${key}/restore`, undefined, as);
    expect(detailOf(await restore(reader))).toEqual(refused('/mark', second));
    expect(detailOf(await restore(owner))).toEqual(refused('/mark'));
  });

  test('409 — a batch, whose operation to blame is one of several creates, or an update', async () => {
    const key = await made({ mark: fresh() }, owner);
    const creates = ['', 'taken', ''].map((mark) => ({ op: 'create', name: 'tag', fields: { mark: mark || fresh() } }));
    const batch = (operations: object[], as: Call) => send('/rest/batch', { operations }, as);
    expect(detailOf(await batch(creates, reader))).toEqual(refused('/operations/1/fields/mark', taken));
    expect(detailOf(await batch(creates, owner))).toEqual(refused('/operations/1/fields/mark'));
    const updates = [{ op: 'update', name: 'tag', key, fields: { mark: 'taken' } }];
    expect(detailOf(await batch(updates, reader))).toEqual(refused('/operations/0/fields/mark', taken));
    const mark = fresh();
    const twice = [1, 2].map(() => ({ op: 'create', name: 'tag', fields: { mark } }));
    expect(detailOf(await batch(twice, reader)), 'the other entity is not there after the batch').toEqual(
      refused('/operations/1/fields/mark'),
    );
  });

  test('200 — a batch that is not atomic', async () => {
    const operations = [{ op: 'create', name: 'tag', fields: { mark: 'taken' } }];
    const { body } = await send<{ results: { problem: ProblemBody }[] }>('/rest/batch', { atomic: false, operations }, reader);
    expect(body.results[0]?.problem.errors?.[0]?.detail).toContain(`Its key is ${taken}.`);
  });
});

describe('the statement that finds the other entity', () => {
  /** Runs the create and, before the statement, `meanwhile`. Returns how many statements there were, and the answer. */
  const statementsOf = async (as: Call, mark: string, meanwhile = async () => {}) => {
    const { store } = service().context;
    const query = store.query.bind(store);
    let count = 0;
    store.query = async (compiled) => {
      count++;
      await meanwhile();
      return await query(compiled);
    };
    try {
      return { count, answer: detailOf(await create({ mark }, as)), counted: () => count };
    } finally {
      store.query = query;
    }
  };

  test('409 — runs once for a caller who may read the entity and for one who may not', async () => {
    for (const as of [reader, owner, creator, scoped]) expect((await statementsOf(as, 'taken')).counted()).toBe(1);
  });

  test('409 — the entity that is gone by then is not named', async () => {
    const mark = fresh();
    const key = await made({ mark });
    const remove = async () => expect((await service().call('DELETE', `/rest/entity/tag/${key}`, ada)).status).toBe(204);
    expect((await statementsOf(reader, mark, remove)).answer).toEqual(refused('/mark'));
    await made({ mark });
  });

  test('the table of a type that is gone names nothing', async () => {
    const query = () => sql`select 1 from entity_data.gone`.execute(service().db).then(() => []);
    const layout = { table: 'gone', columns: [], indexes: [], uniques: [], substrings: [], references: [], search: undefined, next: 1 };
    const permit = { entity: 'tag', userName: 'ada', findable: () => fullRights };
    const write = { layout: { ...layout, state: 'ready' }, values: {}, permit } as unknown as UniqueConflict['write'];
    const conflict = new UniqueConflict(write, { name: 'gone_u1', columns: [] });
    await expect(namingConflict({ query }, () => Promise.reject(conflict))).rejects.toBe(conflict);
  });
});
