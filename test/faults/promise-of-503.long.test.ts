/**
 * A 503 that is not `outcome-unknown` says that nothing was changed (rule 77). Each write meets failures before, at and after its COMMIT; the rows afterwards
 * are compared with those before.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/tables.ts';
import { Cable, commit } from '../support/cable.ts';
import { createDatabase, openPool, type TestDatabase } from '../support/database.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { TestService, type Answer, type ProblemBody } from '../support/service.ts';

let database: TestDatabase;
let cable: Cable;
let service: TestService;
let direct: ReturnType<typeof openPool>;
let userId: string;
let serial = 0;

beforeAll(async () => {
  database = await createDatabase();
  const url = new URL(database.url);
  direct = openPool(url.href);
  cable = new Cable(url);
  const through = new URL(url);
  through.host = `127.0.0.1:${await cable.listen()}`;
  service = await TestService.start({}, { url: through.href, drop: async () => undefined });
  ({ id: userId } = await service.createUser('ada', { '*': ['create', 'read', 'update', 'delete', 'purge', 'type'] }));
  await service.createProfile(userId, 'second', { '*': ['read'] });
  const properties = { mark: { type: 'string' }, bill: { type: ['string', 'null'], format: 'int64' } };
  await declareType(service, 'bill', { type: 'object', properties, 'x-unique': [{ fields: ['mark'] }], 'x-soft-delete': true });
  const references = { bill: { to: 'bill', onDelete: 'cascade' } };
  await declareType(service, 'line', { type: 'object', properties, 'x-references': references });
});
afterAll(async () => {
  await service.close();
  cable.close();
  await direct.end();
  await database.drop();
});

interface Request {
  cookie: string;
  call: (method: string, path: string, json?: unknown, headers?: Record<string, string>) => Promise<Answer<Entity & ProblemBody>>;
  agent: string;
}
const tables = ['entity', 'entity_trash', 'entity_change', 'entity_type', 'entity_type_revision', 'session', 'superseded_token'] as const;

/** A hash of all rows, once no statement of the service is under way. */
async function state(): Promise<string> {
  const busy = async () => {
    const { rows } = await direct.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle'`,
    );
    return rows.length;
  };
  await expect.poll(busy).toBe(0);
  const ignored: Partial<Record<keyof Database, string>> = { session: ` - 'last_seen_at' - 'unused_token_hash'` };
  const hashes = tables.map(
    (name) => `(select coalesce(md5(string_agg(x, '|' order by x)), '') from (
    select (to_jsonb(t)${ignored[name] ?? ''})::text as x from ${name} t) as texts)`,
  );
  const { rows } = await direct.query<{ hash: string }>(`select concat(${hashes.join(', ')}) as hash`);
  return rows[0]?.hash ?? '';
}

const made = async ({ call }: Request): Promise<string> => (await call('POST', '/rest/entity/bill', { mark: `made ${++serial}` })).body.key;
const etagOf = async ({ call }: Request, path: string) => ({ 'if-match': (await call('GET', path)).headers.get('etag') ?? '' });
type Send = () => Promise<Answer<ProblemBody>>;
const roads: Record<string, (request: Request) => Promise<Send>> = {
  'a create':
    async ({ call }) =>
    () =>
      call('POST', '/rest/entity/bill', { mark: `new ${++serial}` }),
  'a bulk create':
    async ({ call }) =>
    () =>
      call('POST', '/rest/entity/bill/bulk', [{ mark: `a ${++serial}` }, { mark: `b ${++serial}` }]),
  'an update': async (request) => {
    const key = await made(request);
    return () => request.call('POST', `/rest/entity/bill/${key}`, { paid: ++serial });
  },
  'an upsert':
    async ({ call }) =>
    () =>
      call('POST', '/rest/entity/bill/upsert?by=mark', { mark: `upsert ${++serial}` }),
  'a deletion': async (request) => {
    const key = await made(request);
    await request.call('POST', '/rest/entity/line', { bill: key });
    return () => request.call('DELETE', `/rest/entity/bill/${key}`);
  },
  'a purge': async (request) => {
    const key = await made(request);
    await request.call('POST', '/rest/entity/line', { bill: key });
    return () => request.call('DELETE', `/rest/entity/bill/${key}?purge=1`);
  },
  'a restore': async (request) => {
    const key = await made(request);
    await request.call('DELETE', `/rest/entity/bill/${key}`);
    return () => request.call('POST', `/rest/entity/bill/${key}/restore`);
  },
  'a batch': async (request) => {
    const key = await made(request);
    const operations = [
      { op: 'update', name: 'bill', key, fields: { paid: 1 } },
      { op: 'create', name: 'bill', fields: { mark: `batch ${++serial}` } },
    ];
    return () => request.call('POST', '/rest/batch', { operations });
  },
  'a new type': async ({ call }) => {
    const document = { properties: { a: { type: 'string' } }, 'x-index': [['a']] };
    return () => call('PUT', `/rest/entity-type/type${++serial}`, document, { 'if-none-match': '*' });
  },
  'a new index of a type with entities': async (request) => {
    const path = `/rest/entity-type/type${++serial}`;
    const properties = { a: { type: 'string' } };
    await request.call('PUT', path, { properties }, { 'if-none-match': '*' });
    await request.call('POST', path.replace('-type', ''), { a: 'x' });
    const headers = await etagOf(request, path);
    return () => request.call('PUT', path, { properties, 'x-index': [['a']] }, headers);
  },
  'an index of a type that goes': async (request) => {
    const path = `/rest/entity-type/type${++serial}`;
    const properties = { a: { type: 'string' } };
    await request.call('PUT', path, { properties, 'x-index': [['a']] }, { 'if-none-match': '*' });
    const headers = await etagOf(request, path);
    return () => request.call('PUT', path, { properties }, headers);
  },
  'the deletion of a type': async (request) => {
    const path = `/rest/entity-type/type${++serial}`;
    await request.call('PUT', path, { properties: { a: { type: 'string' } }, 'x-index': [['a']] }, { 'if-none-match': '*' });
    const plan = (await request.call('POST', `${path}/plan`, {})) as unknown as Answer<{ digest: string }>;
    return () => request.call('DELETE', `${path}?confirm=${plan.body.digest}`);
  },
  'a refresh':
    async ({ call }) =>
    () =>
      call('POST', '/auth/refresh'),
  'a switch of the profile':
    async ({ call }) =>
    () =>
      call('POST', '/auth/profile/second'),
};
const failures = {
  'at the statement, before PostgreSQL answers': (agent: string) => ({ what: Buffer.from(agent), delivered: 'question' as const }),
  'behind the statement': (agent: string) => ({ what: Buffer.from(agent), delivered: 'answer' as const }),
  'at COMMIT': () => ({ what: commit, delivered: 'question' as const }),
  'behind COMMIT': () => ({ what: commit, delivered: 'answer' as const }),
};
const cases = Object.keys(roads).flatMap((road) => Object.keys(failures).map((where) => [road, where] as const));

test.each(cases)('503 — %s, whose connection breaks %s', async (road, where) => {
  const agent = `agent-${++serial}-of-the-test`;
  const cookie = await service.openSession(userId);
  const call: Request['call'] = (method, path, json, headers = {}) =>
    service.call(method, path, { cookie, headers: { ...headers, 'user-agent': agent }, ...(json !== undefined && { json }) });
  const send = await roads[road]?.({ cookie, call, agent });
  // The present session has been used by now.
  await call('GET', '/auth');
  const before = await state();
  cable.breaksAt = failures[where as keyof typeof failures](agent);
  const answer = await send?.();
  cable.repair();
  const after = await state();
  const { status = 0, body } = answer ?? {};
  if (status < 300) return expect(after, 'a success has its effect').not.toBe(before);
  expect(status, answer?.text).toBe(503);
  if (body?.code !== 'outcome-unknown') expect(after, answer?.text).toBe(before);
});

test('503 — an import of which no row was written', async () => {
  const cookie = await service.openSession(userId);
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from entity`.execute(service.db);
  expect(rows[0]?.count).toBeGreaterThan(0);
  const before = await state();
  const raw = `{"mark":"import-marker ${++serial}"}\n`;
  cable.breaksAt = { what: Buffer.from('import-marker'), delivered: 'question' };
  const { text } = await service.call('POST', '/rest/entity/bill/import', {
    cookie,
    raw,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  cable.repair();
  const report = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as {
    problem?: { status: number; code: string };
    status?: number;
    code?: string;
  };
  const { status, code } = report.problem ?? report;
  expect(status, text).toBe(503);
  if (code !== 'outcome-unknown') expect(await state(), text).toBe(before);
});
