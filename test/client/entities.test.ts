/** Entities through the client, against a real service. */
import { password, useService } from '../support/service.ts';
import { beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { ApiError, resultOf, type Changes, type EntityServiceClient } from '../../src/client/index.ts';
import { createEntity } from '../../generated/client/sdk.gen.ts';
import { clientOf, entity, json, PausingClock, problem, scriptedServer } from '../support/client.ts';

interface Customer {
  company: string;
  city?: string;
  credit: number;
  address?: { street: string; number?: string };
  tags?: string[];
}

const service = useService();
const ada = { company: 'Analytical Engines Ltd', city: 'London', credit: 1000.5 };
let client: EntityServiceClient;
const customers = () => client.entities<Customer>('customer');
/** The error of a call that must fail. */
async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const result = await resultOf(call);
  return result.ok ? expect.fail('the call should have failed') : result.error;
}

beforeAll(async () => {
  await service().createUser('ada');
  client = clientOf(service());
  await client.createSession({ user: 'ada', password });
});

test('an entity is created, read, changed and deleted, and each step uses the version of the one before', async () => {
  const created = await customers().create(ada);
  expect(created).toMatchObject({ name: 'customer', version: 1, createdBy: 'ada', fields: ada });
  expect(created.key).toMatch(/^[1-9]\d*$/);
  expect(await customers().get(created.key)).toEqual(created);
  const moved = await customers().update(created, { city: 'Paris' });
  expect(moved).toMatchObject({ version: 2, fields: { ...ada, city: 'Paris' } });
  const homeless = await customers().update(moved, { city: null, address: { street: 'Rue X' } });
  expect(homeless.fields).toEqual({ company: ada.company, credit: ada.credit, address: { street: 'Rue X' } });
  await customers().delete(homeless);
  expect(await errorOf(customers().get(created.key))).toMatchObject({ code: 'not-found', status: 404 });
});

test('an update of an old version is refused and changes nothing, one by key alone succeeds', async () => {
  const first = await customers().create(ada);
  await customers().update(first, { credit: 1 });
  expect(await errorOf(customers().update(first, { credit: 2 }))).toMatchObject({ code: 'precondition-failed', status: 412 });
  expect(await errorOf(customers().delete(first))).toMatchObject({ code: 'precondition-failed' });
  expect((await customers().get(first.key)).fields.credit).toBe(1);
  expect(await customers().update(first.key, { credit: 3 })).toMatchObject({ version: 3, fields: { credit: 3 } });
  await customers().delete(first.key);
  expect(await errorOf(customers().delete(first.key))).toMatchObject({ code: 'not-found' });
});

test('of twenty concurrent changes none is lost, since each late one reads again', async () => {
  const { key } = await customers().create({ ...ada, credit: 0 });
  const changes = Array.from({ length: 20 }, () => customers().change(key, ({ credit }) => ({ credit: credit + 1 })));
  await Promise.all(changes);
  expect(await customers().get(key)).toMatchObject({ version: 21, fields: { credit: 20 } });
});

describe('a change that always meets a conflict', () => {
  /** A client of a server where every update fails because of another one. */
  async function facing() {
    const clock = new PausingClock();
    const server = await scriptedServer((response, request) =>
      (request.method === 'GET' ? json(200, entity()) : problem(412, 'precondition-failed'))(response, request),
    );
    const retry = { totalMs: 10_000 };
    return { notes: clientOf(server, { clock, retry, credential: { apiKey: 'esk_x' } }).entities('note'), clock };
  }

  test('is given up by time, after random pauses of at most a second', async () => {
    const { notes, clock } = await facing();
    expect(await errorOf(notes.change('1', () => ({})))).toMatchObject({ code: 'precondition-failed' });
    expect(clock.pauses.length).toBeGreaterThan(10);
    expect(clock.pauses.reduce((sum, pause) => sum + pause, 0)).toBeLessThanOrEqual(10_000);
    expect(Math.max(...clock.pauses)).toBeLessThanOrEqual(1_000);
    expect(new Set(clock.pauses).size).toBeGreaterThan(10);
    for (const [index, pause] of clock.pauses.slice(0, 5).entries()) expect(pause).toBeLessThanOrEqual(20 * 2 ** index);
  });

  test('ends when it is aborted', async () => {
    const { notes } = await facing();
    const controller = new AbortController();
    let rounds = 0;
    const change = notes.change('1', () => (++rounds === 3 ? (controller.abort('enough'), {}) : {}), { signal: controller.signal });
    expect(await errorOf(change)).toMatchObject({ reason: 'aborted', cause: 'enough' });
    expect(rounds).toBe(3);
  });
});

test('an entity can be changed after being stored as JSON', async () => {
  const stored = JSON.parse(JSON.stringify(await customers().create(ada))) as Awaited<ReturnType<ReturnType<typeof customers>['get']>>;
  expect((await customers().update(stored, { credit: 5 })).version).toBe(2);
});

test('reload returns the same object until the entity changes, and then the new one', async () => {
  const first = await customers().create(ada);
  expect(await customers().reload(first)).toBe(first);
  await customers().update(first, { credit: 6 });
  expect((await customers().reload(first)).fields.credit).toBe(6);
});

test('keys above 2^53 are exact', async () => {
  expect(await errorOf(customers().get('9007199254740993'))).toMatchObject({ code: 'not-found' });
  expect(await errorOf(customers().get('9223372036854775808'))).toMatchObject({ code: 'invalid-key', status: 400 });
});

test('only optional members can be removed, at any depth, and only declared ones can be set', async () => {
  expectTypeOf<{ city: null }>().toExtend<Changes<Customer>>();
  expectTypeOf<{ company: null }>().not.toExtend<Changes<Customer>>();
  expectTypeOf<{ credit: string }>().not.toExtend<Changes<Customer>>();
  expectTypeOf<{ address: { number: null } }>().toExtend<Changes<Customer>>();
  expectTypeOf<{ address: { street: null } }>().not.toExtend<Changes<Customer>>();
  expectTypeOf<{ tags: null[] }>().not.toExtend<Changes<Customer>>();
  expectTypeOf<{ any: null }>().toExtend<Changes<Record<string, number>>>();

  const housed = await customers().create({ ...ada, address: { street: 'Dorset Street', number: '1' } });
  const changed = await customers().update(housed, { address: { number: null } });
  expect(changed.fields.address).toEqual({ street: 'Dorset Street' });
});

describe('values that JSON cannot represent', () => {
  test.each([
    ['NaN', { credit: Number.NaN }],
    ['Infinity', { credit: Number.POSITIVE_INFINITY }],
    ['a function', { credit: 1, company: () => '' }],
    ['undefined in an array', { tags: [undefined] }],
    ['a Map', { tags: new Map() }],
  ])('%s is a TypeError, since JSON.stringify would change it', async (_what, fields) => {
    await expect(client.entities('customer').create(fields)).rejects.toThrow(TypeError);
  });

  test('a value nested too deeply is a TypeError', async () => {
    let fields = {};
    for (let depth = 0; depth < 100_000; depth += 1) fields = { fields };
    await expect(client.entities('customer').create(fields)).rejects.toThrow(TypeError);
  });

  test.each(['', '.', '..'])('the name %j is a TypeError, since it would be another path', async (name) => {
    await expect(client.entities(name).create({})).rejects.toThrow(TypeError);
    await expect(client.entities('customer').get(name)).rejects.toThrow(TypeError);
  });

  test('a name with a slash is sent as one segment, and the service refuses it', async () => {
    expect(await errorOf(client.entities('a/b').create({}))).toMatchObject({ status: 400, errors: [{ parameter: 'name' }] });
  });
});

describe('an error', () => {
  test('has the code, the status, the pointer of the fault, and the request id', async () => {
    const error = await errorOf(client.entities('customer').create({ account: { number: '\u0000' } }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ kind: 'api', name: 'ApiError', code: 'malformed-request', status: 400 });
    expect(error).toMatchObject({
      errors: [{ pointer: '/account/number', code: 'nul-character' }],
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('has the language of the option locale before there is a session', async () => {
    const error = await errorOf(clientOf(service(), { locale: 'de' }).entities('customer').get('1'));
    expect(error).toMatchObject({ code: 'unauthenticated', title: 'Anmeldung erforderlich' });
  });
});

describe('a client that returns results', () => {
  test('throws nothing, and returns success and refusal with their values', async () => {
    const results = clientOf(service(), { errors: 'result', cookies: client.cookies }).entities<Customer>('customer');
    const created = await results.create(ada);
    expect(created).toMatchObject({ ok: true, status: 201, value: { fields: ada } });
    if (!created.ok) return;
    expect(created.headers.get('Location')).toBe(`/rest/entity/customer/${created.value.key}`);
    expect(await results.delete(created.value)).toMatchObject({ ok: true, status: 204, value: undefined });
    expect(await results.get(created.value.key)).toMatchObject({ ok: false, error: { code: 'not-found' } });
  });

  test('has the same results as the generated operations', async () => {
    const created = await createEntity({ client: client.http, path: { name: 'customer' }, body: { city: 'Rome' } });
    expect(created).toMatchObject({ ok: true, status: 201, value: { fields: { city: 'Rome' } } });
  });
});
