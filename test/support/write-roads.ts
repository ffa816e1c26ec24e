/** Every road on which a request changes entities, with each kind of credential, and the rows of `entity_change` that it leaves. */
import { sql } from 'kysely';
import { beforeAll, expect } from 'vitest';
import { declareType, type Entity } from './entities.ts';
import type { TestIssuer } from './issuer.ts';
import type { Call, ProblemBody, TestService } from './service.ts';

export const kinds = ['session', 'key', 'token'] as const;
export type Kind = (typeof kinds)[number];
export interface ChangeRow {
  operation: string;
  changed: string[] | null;
  before: string | null;
  credential: string | null;
  request: string | null;
  /** Of the audit event of the same change. */
  requestOfEvent: string | null;
}

/** The columns of the row about the change itself. */
export const wholeOf = ({ operation, changed, before }: ChangeRow) => [operation, changed, before];
export type Expected = ReturnType<typeof wholeOf>[];

export interface Road {
  /** The entities that the request finds, more than 12 hours old. */
  given?: () => Promise<Entity>;
  run: (given: Entity, as: Call) => Promise<unknown>;
  rows: Expected;
}

const created: Expected = [['created', null, null]];
export const retitled: Expected = [['updated', ['title'], '{"title": "a"}']];

/** Declares the types and makes the callers of the roads before the tests of a file, whose service trusts `corp`. */
export function useWriteRoads(service: () => TestService, corp: TestIssuer) {
  const callers = new Map<Kind, { call: Call; credential: string }>();
  let cookie: string;

  beforeAll(async () => {
    const { id } = await service().createUser('ada', { '*': ['create', 'read', 'update', 'delete', 'purge'] });
    await service().link(corp, 'alice', 'ada');
    cookie = await service().openSession(id);
    const key = await service().createKey(id);
    const { accessToken } = await corp.signIn('alice');
    const only = async (table: 'session' | 'api_key') =>
      (await service().db.selectFrom(table).where('user_id', '=', id).select('id').executeTakeFirstOrThrow()).id;
    callers.set('session', { call: { cookie }, credential: `session:${await only('session')}` });
    callers.set('key', { call: { headers: { 'x-api-key': key } }, credential: `key:${await only('api_key')}` });
    callers.set('token', { call: { headers: { authorization: `Bearer ${accessToken}` } }, credential: `token:${corp.url}:web` });
    const part = { type: ['string', 'null'], format: 'int64' };
    await declareType(service(), 'item', {
      type: 'object',
      properties: { number: { type: 'string' } },
      'x-unique': [{ fields: ['number'] }],
      'x-soft-delete': true,
    });
    await declareType(service(), 'piece', {
      type: 'object',
      properties: { part },
      'x-references': { part: { to: 'item', onDelete: 'set-null' } },
    });
    await declareType(service(), 'crumb', {
      type: 'object',
      properties: { part },
      'x-references': { part: { to: 'item', onDelete: 'cascade' } },
    });
  });

  let last = 0;
  const unique = () => `N-${++last}`;
  const long = 'x'.repeat(20_000);

  async function send(method: string, path: string, call: Call): Promise<Entity> {
    const { status, body, text } = await service().call<Entity & ProblemBody>(method, `/rest/${path}`, call);
    expect(status, text).toBeLessThan(300);
    return body;
  }
  const create = (name: string, json: object) => send('POST', `entity/${name}`, { cookie, json });

  /** Moves the time of the last change of all entities to `before` now. */
  const age = (before: string) =>
    sql`with trashed as (update entity_trash set updated_at = now() - ${before}::interval)
    update entity set updated_at = now() - ${before}::interval`.execute(service().db);

  const lastId = async () =>
    (await sql<{ id: string }>`select coalesce(max(id), 0) as id from entity_change`.execute(service().db)).rows[0]?.id ?? '0';
  async function rowsSince(id: string): Promise<ChangeRow[]> {
    const { rows } = await sql<ChangeRow>`
    select operation, changed, before::text as before, credential, request::text as request, (
        select request_id from audit_event where event = 'entity.' || operation and detail ->> 'key' = key::text and detail ->> 'version' = version::text
        order by audit_event.id desc limit 1
      ) as "requestOfEvent"
    from entity_change where id > ${id} order by id`.execute(service().db);
    return rows;
  }
  const item = () => create('item', { number: unique(), title: 'a', price: 1.5 });
  const placeOf = ({ name, key }: Entity) => `entity/${name}/${key}`;
  const withHeader = (as: Call, name: string, value: string): Call => ({ ...as, headers: { ...as.headers, [name]: value } });

  const roads: Record<string, Road> = {
    'a create': { run: (_, as) => send('POST', 'entity/item', { ...as, json: { number: unique() } }), rows: created },
    'a create of a name without a type': { run: (_, as) => send('POST', 'entity/note', { ...as, json: {} }), rows: created },
    'a heavy create': { run: (_, as) => send('POST', 'entity/note', { ...as, json: { long } }), rows: created },
    'a create with an Idempotency-Key': {
      run: (_, as) => send('POST', 'entity/item', { ...withHeader(as, 'idempotency-key', unique()), json: { number: unique() } }),
      rows: created,
    },
    'a create of many': {
      run: (_, as) => send('POST', 'entity/item/bulk', { ...as, json: [{ number: unique() }, { number: unique() }] }),
      rows: [...created, ...created],
    },
    'an update': {
      given: item,
      run: (given, as) => send('POST', placeOf(given), { ...as, json: { title: 'b', price: 1.5 } }),
      rows: retitled,
    },
    'an update of a name without a type': {
      given: () => create('note', { title: 'a', n: 1 }),
      run: (given, as) => send('POST', placeOf(given), { ...as, json: { title: 'b', n: 1 } }),
      rows: retitled,
    },
    'an update that was merged before': {
      given: () => create('item', { number: unique(), title: 'a', deep: { n: 1, m: 2 } }),
      run: (given, as) => send('POST', placeOf(given), { ...as, json: { deep: { n: 2 }, title: null, more: true } }),
      rows: [['updated', ['deep', 'more', 'title'], '{"deep": {"m": 2, "n": 1}, "title": "a"}']],
    },
    'a heavy update': {
      given: item,
      run: (given, as) => send('POST', placeOf(given), { ...as, json: { title: long } }),
      rows: retitled,
    },
    'an update of digits': {
      given: item,
      run: (given, as) =>
        send('POST', placeOf(given), { ...withHeader(as, 'content-type', 'application/json'), raw: '{"price":1.50,"title":"a"}' }),
      rows: [['updated', ['price'], '{"price": 1.5}']],
    },
    'an update with an Idempotency-Key': {
      given: item,
      run: (given, as) => send('POST', placeOf(given), { ...withHeader(as, 'idempotency-key', unique()), json: { title: 'b' } }),
      rows: retitled,
    },
    'an upsert that creates': {
      run: (_, as) => send('POST', 'entity/item/upsert?by=number', { ...as, json: { number: unique() } }),
      rows: created,
    },
    'an upsert that updates': {
      given: item,
      run: ({ fields }, as) => send('POST', 'entity/item/upsert?by=number', { ...as, json: { number: fields['number'], title: 'b' } }),
      rows: retitled,
    },
    'a restore of a version': {
      given: async () => {
        const given = await item();
        return await send('POST', placeOf(given), { cookie, json: { title: 'b', price: null, more: true } });
      },
      run: (given, as) => send('POST', `${placeOf(given)}/restore?version=1`, as),
      rows: [['restored', ['more', 'price', 'title'], '{"more": true, "title": "b"}']],
    },
    'a restore from the trash': {
      given: async () => {
        const given = await item();
        await send('DELETE', placeOf(given), { cookie });
        return given;
      },
      run: (given, as) => send('POST', `${placeOf(given)}/restore`, { ...as, json: { title: 'b' } }),
      rows: [['restored', ['title'], '{"title": "a"}']],
    },
    'a batch': {
      given: item,
      run: ({ key }, as) =>
        send('POST', 'batch', {
          ...as,
          json: {
            operations: [
              { op: 'create', name: 'item', fields: { number: unique() } },
              { op: 'update', name: 'item', key, fields: { title: 'b' } },
              { op: 'delete', name: 'item', key },
            ],
          },
        }),
      rows: [...created, ...retitled, ['deleted', null, null]],
    },
    'an import': {
      given: item,
      run: ({ fields }, as) => {
        const raw = `number,title\n${String(fields['number'])},b\n${unique()},c\n`;
        return send('POST', 'entity/item/import?by=number', { ...withHeader(as, 'content-type', 'text/csv'), raw });
      },
      rows: [...retitled, ...created],
    },
    'a deletion': { given: item, run: (given, as) => send('DELETE', placeOf(given), as), rows: [['deleted', null, null]] },
    'a deletion with those that refer to it': {
      given: async () => {
        const given = await item();
        await create('piece', { part: given.key, n: 1 });
        await create('crumb', { part: given.key });
        return given;
      },
      run: (given, as) => send('DELETE', placeOf(given), as),
      rows: [
        ['updated', ['part'], expect.stringMatching(/^\{"part": "\d+"\}$/)],
        ['deleted', null, null],
        ['deleted', null, null],
      ],
    },
    'a purge': {
      given: item,
      run: (given, as) => send('DELETE', `${placeOf(given)}?purge=1`, as),
      rows: [
        ['deleted', null, null],
        ['purged', null, null],
      ],
    },
  };

  /** Runs a road with a credential, and compares the rows that it leaves. */
  async function check(kind: Kind, { given, run, rows }: Road): Promise<void> {
    const entity = given ? await given() : ({} as Entity);
    await age('13 hours');
    const from = await lastId();
    const { call, credential } = callers.get(kind) ?? { call: {}, credential: '' };
    await run(entity, call);
    const found = await rowsSince(from);
    expect(found.map(wholeOf)).toEqual(rows);
    expect(new Set(found.map((row) => row.credential))).toEqual(new Set([credential]));
    expect(new Set(found.map(({ request }) => request)).size, 'one request').toBe(1);
    for (const { request, requestOfEvent } of found) expect(request).toBe(requestOfEvent);
  }
  return {
    roads,
    check,
    age,
    lastId,
    rowsSince,
    item,
    unique,
    send: (method: string, path: string, call: Call = {}) => send(method, path, { cookie, ...call }),
  };
}
