/** Entities of others that a caller may read and not change: 403, where an entity that the caller may not read is 404 like a missing one. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Action, Scope } from '../../../src/rights/vocabulary.ts';
import { declareType, rowsOf, seed, type Entity } from '../../support/entities.ts';
import { refusalOf } from '../../../src/entities/writing/refusal.ts';
import type { Permit } from '../../../src/rights/permit.ts';
import { writeTypes } from '../../support/lists.ts';
import { useService, type Answer, type Call, type ProblemBody, type TestGrants } from '../../support/service.ts';
import { rowsCoveredFor } from '../../support/coverage.ts';
import { wholeView } from '../../../src/rights/field-view.ts';
import { allRows } from '../../../src/rights/coverage.ts';

const service = useService();
const writes: Action[] = ['create', 'update', 'delete', 'purge'];
const grants: TestGrants = { '*': { actions: writes, condition: 'own' } };
let bobId: string;
/** The credentials of bob, who may read all entities and change his own. */
let ways: Record<string, Call>;
/** Those of callers who may change their own entities, and read none, or their own. */
let strangers: Record<string, Call>;

beforeAll(async () => {
  await service().createUser('ada');
  bobId = (await service().createUser('bob', grants)).id;
  const role = await service().db.selectFrom('role').where('name', '=', 'bob').select('id').executeTakeFirstOrThrow();
  await service().db.insertInto('role_grant').values({ role_id: role.id, entity: '*', action: 'read', condition: 'any' }).execute();
  const keyWith = async (scopes: Scope[] | null) => ({ headers: { 'x-api-key': await service().createKey(bobId, { scopes }) } });
  ways = {
    session: { cookie: await service().openSession(bobId) },
    key: await keyWith(null),
    'key with scopes': await keyWith([{ entity: '*', actions: [...writes, 'read'] }]),
  };
  const { id } = await service().createUser('carl', grants);
  const { id: ownReader } = await service().createUser('dora', { '*': { actions: [...writes, 'read'], condition: 'own' } });
  strangers = {
    'without the action read': { cookie: await service().openSession(id) },
    'with read for own entities': { cookie: await service().openSession(ownReader) },
    'with a key without the scope': await keyWith([{ entity: '*', actions: writes }]),
    'with a key with the scope on another name': await keyWith([
      { entity: '*', actions: writes },
      { entity: 'other', actions: ['read'] },
    ]),
  };
  await declareType(service(), 'typed', { type: 'object', properties: { a: { type: 'integer' } }, 'x-soft-delete': true });
  await declareType(service(), 'guarded', { type: 'object', 'x-if-match': 'required' });
});

let nextKey = 1_000;
/** Inserts an entity of the user called `owner`, in version 1, and returns its path. */
async function put(name: string, owner: string): Promise<string> {
  const key = String(nextKey++);
  await seed(service(), name, key, { a: 1 }, owner);
  return `${name}/${key}`;
}

const call = (method: string, path: string, how: Call): Promise<Answer<Entity & ProblemBody>> =>
  service().call<Entity & ProblemBody>(method, `/rest/entity/${path}`, how);
const heavy = { text: 'x'.repeat(100_000) };

/** Each changes an entity in version 1, on a path of its own through the service. */
const changes: [what: string, name: string, method: string, suffix: string, rest: Call][] = [
  ['an update', 'note', 'POST', '', { json: { a: 2 } }],
  ['a guarded update', 'note', 'POST', '', { json: { a: 2 }, headers: { 'if-match': '"1"' } }],
  ['a heavy update', 'note', 'POST', '', { json: heavy }],
  ['an update with an Idempotency-Key', 'note', 'POST', '', { json: { a: 2 }, headers: { 'idempotency-key': 'update' } }],
  ['an update of a declared type', 'typed', 'POST', '', { json: { a: 2 } }],
  ['an update under a required precondition', 'guarded', 'POST', '', { json: { a: 2 }, headers: { 'if-match': '"1"' } }],
  ['a deletion', 'note', 'DELETE', '', {}],
  ['a deletion with an Idempotency-Key', 'note', 'DELETE', '', { headers: { 'idempotency-key': 'delete' } }],
  ['a deletion into the trash', 'typed', 'DELETE', '', {}],
  ['a guarded deletion', 'guarded', 'DELETE', '', { headers: { 'if-match': '"1"' } }],
  ['a purge', 'note', 'DELETE', '?purge=1', {}],
];
const merged = (one: Call, { headers, ...other }: Call): Call => ({ ...one, ...other, headers: { ...one.headers, ...headers } });
const rowAt = async (path: string) => {
  const [name = '', key] = path.split('/');
  return (await rowsOf(service(), name)).find((row) => row.key === key);
};

describe.for(changes)('%s', ([, name, method, suffix, rest]) => {
  test('200 or 204, and 403 — own entities are changed, and those of others that the caller may read are not (rule 64)', async () => {
    for (const [way, credential] of Object.entries(ways)) {
      const [mine, theirs] = [await put(name, 'bob'), await put(name, 'ada')];
      const refused = await call(method, theirs + suffix, merged(credential, rest));
      expect([refused.status, refused.body.code], way).toEqual([403, 'forbidden']);
      expect(await rowAt(theirs)).toMatchObject({ version: '1', fields: '{"a": 1}' });
      const headers = rest.headers && 'idempotency-key' in rest.headers ? { 'idempotency-key': mine } : {};
      expect((await call(method, mine + suffix, merged(credential, merged(rest, { headers })))).status, way).toBe(
        method === 'POST' ? 200 : 204,
      );
    }
  });

  test('404 — a missing entity, one of another name, and one of others that the caller may not read look alike (rule 64)', async () => {
    const theirs = await put(name, 'ada');
    const ofOtherName = `${name}/${(await put('elsewhere', 'ada')).split('/')[1]}`;
    const seen = ({ status, headers, body }: Answer<ProblemBody>) => ({
      status,
      headers: [...headers.keys()].filter((header) => header !== 'date').toSorted(),
      body: { ...body, instance: '' },
    });
    const missing = seen(await call(method, `${name}/999999${suffix}`, merged(ways['session'] ?? {}, rest)));
    expect(missing).toMatchObject({ status: 404, body: { code: 'not-found' } });
    for (const credential of Object.values(ways))
      expect(seen(await call(method, ofOtherName + suffix, merged(credential, rest)))).toEqual(missing);
    for (const [who, credential] of Object.entries(strangers)) {
      // An update is answered with the entity, so without any right to read it is 403 for the name (rule 116).
      const expected = method === 'POST' && !who.includes('own') ? 403 : 404;
      for (const path of [theirs, `${name}/999999`, ofOtherName]) {
        const answer = seen(await call(method, path + suffix, merged(credential, rest)));
        if (expected === 404) expect(answer, `${who}: ${path}`).toEqual(missing);
        else expect(answer, `${who}: ${path}`).toMatchObject({ status: expected });
      }
    }
    expect(await rowAt(theirs)).toMatchObject({ version: '1', fields: '{"a": 1}' });
  });
});

test('403 — whatever the precondition, the fields and the size: the right is checked before them (rule 64)', async () => {
  const theirs = await put('guarded', 'ada');
  const credential = ways['session'] ?? {};
  for (const headers of [{}, { 'if-match': '"1"' }, { 'if-match': '"7"' }, { 'if-match': '*' }]) {
    for (const method of ['POST', 'DELETE'])
      expect((await call(method, theirs, merged(credential, { headers, ...(method === 'POST' && { json: {} }) }))).status).toBe(403);
  }
  const typed = await put('typed', 'ada');
  expect((await call('POST', typed, { ...credential, json: { a: 'no integer' } })).status).toBe(403);
  expect((await call('POST', typed, { ...credential, json: heavy })).status).toBe(403);
  expect((await call('POST', await put('typed', 'bob'), { ...credential, json: { a: 'no integer' } })).status).toBe(422);
});

test('403 — a restore of an earlier version; 404 for one that the entity never had, and once the entity is deleted (rule 64)', async () => {
  const [mine, theirs] = [await put('typed', 'bob'), await put('typed', 'ada')];
  const credential = ways['session'] ?? {};
  const restore = async (path: string, query = '?version=1') => (await call('POST', `${path}/restore${query}`, credential)).status;
  expect([await restore(mine), await restore(theirs), await restore(theirs, '?version=2')]).toEqual([200, 403, 404]);
  expect([await restore(mine, ''), await restore(theirs, '')]).toEqual([400, 403]);
  for (const [who, credential] of Object.entries(strangers))
    expect((await call('POST', `${theirs}/restore`, credential)).status, who).toBe(who.includes('own') ? 404 : 403);
  const { db } = service();
  const ada = await service().openSession(
    (await db.selectFrom('user_account').where('name', '=', 'ada').select('id').executeTakeFirstOrThrow()).id,
  );
  expect((await call('DELETE', theirs, { cookie: ada })).status).toBe(204);
  // In the trash it is seen by those alone who may restore it.
  expect([await restore(theirs), await restore(theirs, '')]).toEqual([404, 404]);
  for (const method of ['POST', 'DELETE'])
    expect((await call(method, theirs, merged(credential, method === 'POST' ? { json: {} } : {}))).status).toBe(404);
  expect((await call('POST', `${theirs}/restore`, { cookie: ada })).status).toBe(200);
  expect(await restore(theirs, '')).toBe(403);
});

test('403 — a purge by a caller who may purge every entity and delete own ones (rule 64)', async () => {
  const { id } = await service().createUser('officer', { '*': ['read', 'purge'], note: { actions: ['delete'], condition: 'own' } });
  const credential = { cookie: await service().openSession(id) };
  const [mine, theirs] = [await put('note', 'officer'), await put('note', 'ada')];
  expect((await call('DELETE', `${mine}?purge=1`, credential)).status).toBe(204);
  expect((await call('DELETE', `${theirs}?purge=1`, credential)).status).toBe(403);
  expect(await rowAt(theirs)).toMatchObject({ version: '1' });
});

test('404 — an entity of a name that is not declared, where only declared names exist (rule 64)', async () => {
  const theirs = await put('undeclared', 'ada');
  const strict = await service().replica({ ENTITY_TYPES: 'declared', ENTITY_TYPES_DIR: await writeTypes({ listed: { type: 'object' } }) });
  try {
    for (const [method, suffix, rest] of [
      ['POST', '', { json: {} }],
      ['DELETE', '', {}],
      ['DELETE', '?purge=1', {}],
    ] as const)
      expect((await strict.call(method, `/rest/entity/${theirs}${suffix}`, merged(ways['session'] ?? {}, rest))).status).toBe(404);
  } finally {
    await strict.close();
  }
});

test('404 — an own entity that another request restores after the statement did not find it', async () => {
  const [mine, theirs] = [await put('note', 'bob'), await put('note', 'ada')];
  const read = {
    entity: 'note',
    userName: 'bob',
    sessionId: null,
    coverage: allRows,
    view: wholeView,
    widerRead: undefined,
  } as unknown as Permit<'read'>;
  const permit = { ...read, ...rowsCoveredFor('note', 'bob'), widerRead: read } as unknown as Permit<'update'>;
  const codeFor = async (path: string) => (await refusalOf(service().store, permit, path.split('/')[1] ?? '')).code;
  expect([await codeFor(theirs), await codeFor(mine)]).toEqual(['forbidden', 'not-found']);
});

test('403 — the refusal is an audit event with the name of the entities, and a later request may have the same Idempotency-Key (rule 85)', async () => {
  const { id } = await service().createUser('erik', { '*': ['read'], audited: { actions: ['update'], condition: 'own' } });
  const [mine, theirs] = [await put('audited', 'erik'), await put('audited', 'ada')];
  const how = { cookie: await service().openSession(id), headers: { 'idempotency-key': 'once' }, json: { a: 2 } };
  expect((await call('POST', theirs, how)).status).toBe(403);
  expect((await call('POST', mine, how)).status).toBe(200);
  const events = await service()
    .db.selectFrom('audit_event')
    .where('user_name', '=', 'erik')
    .where('event', '=', 'permission.denied')
    .select('detail')
    .execute();
  expect(events).toEqual([{ detail: { operation: 'updateEntity', reason: 'forbidden', entity: 'audited' } }]);
});
