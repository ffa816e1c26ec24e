import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { Cable, commit } from '../support/cable.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { declareType, rowsOf, type Entity } from '../support/entities.ts';
import { password, TestService, type ProblemBody } from '../support/service.ts';

/** Identifies the statement that opens a session, whatever its text: one of its values. */
const opening = Buffer.from('session.created');

describe('a connection that breaks at COMMIT (rule 77)', () => {
  let database: TestDatabase;
  let cable: Cable;
  let service: TestService;
  let ada: string;

  beforeAll(async () => {
    database = await createDatabase();
    const url = new URL(database.url);
    cable = new Cable(url);
    const port = await cable.listen();
    const through = new URL(url);
    through.host = `127.0.0.1:${port}`;
    service = await TestService.start({}, { url: through.href, drop: async () => undefined });
    ada = (await service.createUser('ada')).id;
    for (const name of ['coin', 'bill'])
      await declareType(service, name, { type: 'object', properties: { mark: { type: 'string' } }, 'x-unique': [{ fields: ['mark'] }] });
  });
  afterAll(async () => {
    await service.close();
    cable.close();
    await database.drop();
  });

  test.each([
    ['at the statement that opens a session', opening, undefined],
    ['at the COMMIT after the statements that also end another session', commit, 'carried'],
  ])('503 — outcome-unknown when the session was opened: the connection breaks %s', async (_where, what, carried) => {
    const { db } = service;
    const cookie = carried && (await service.signIn('ada'));
    const signIn = () => service.call('POST', '/auth', { form: { user: 'ada', password }, cookie });
    expect((await service.call('POST', '/auth', { form: { user: 'ada', password } })).status).toBe(200);
    const before = await db.selectFrom('session').select('id').execute();
    cable.breaksAt = { what, delivered: 'question' };
    const answer = await signIn();
    cable.repair();
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body.code).toBe('outcome-unknown');
    expect(answer.headers.get('retry-after')).toBe('2');
    // PostgreSQL may run the statement after the service's answer.
    await expect.poll(() => db.selectFrom('session').select('id').execute()).toHaveLength(before.length + 1);
    const pending = () => db.selectFrom('login_attempt').select(['failures', 'pending']).execute();
    await expect.poll(pending, { message: 'the attempt has ended' }).toEqual([
      { failures: 0, pending: 0 },
      { failures: 0, pending: 0 },
    ]);
  });

  test('503 — outcome-unknown when the password was changed, but its answer with the new token was lost', async () => {
    const cookie = await service.signIn('ada');
    const next = 'another correct horse battery';
    cable.breaksAt = { what: commit, delivered: 'answer' };
    const form = { 'current-password': password, 'set-password': next, 'confirm-password': next };
    const answer = await service.call('POST', '/auth/password', { cookie, form });
    cable.repair();
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body.code).toBe('outcome-unknown');
    expect(await service.signIn('ada', next)).toMatch(/^sid=/);
  });

  test.each([
    ['a bulk create', '/rest/entity/coin/bulk', (n: string[]) => n.map((mark) => ({ mark }))],
    ['a batch', '/rest/batch', (n: string[]) => ({ operations: n.map((mark) => ({ op: 'create', name: 'coin', fields: { mark } })) })],
  ])('503 — outcome-unknown when %s was committed, although a second look would find conflicts', async (_what, path, bodyOf) => {
    const cookie = await service.openSession(ada);
    const send = (json: object) => service.call('POST', path, { cookie, json });
    expect((await send(bodyOf([`${path} 1`]))).status).toBe(200);
    expect((await send(bodyOf([`${path} 1`]))).body.code).toBe('unique-conflict');
    cable.breaksAt = { what: commit, delivered: 'question' };
    const answer = await send(bodyOf([`${path} 2`, `${path} 3`]));
    cable.repair();
    expect([answer.status, answer.body.code], answer.text).toEqual([503, 'outcome-unknown']);
    const marks = async () => (await rowsOf(service, 'coin')).filter(({ fields }) => fields.includes(`${path} `)).length;
    await expect.poll(marks).toBe(3);
  });

  test.each([
    ['an update', (key: string): [string, object] => [`/rest/entity/bill/${key}`, { paid: 1 }], 1],
    ['an upsert', (): [string, object] => ['/rest/entity/bill/upsert?by=mark', { mark: 'new' }], 1],
    ['a bulk create', (): [string, object] => ['/rest/entity/bill/bulk', [{ mark: 'a' }, { mark: 'b' }]], 2],
    [
      'a batch',
      (key: string): [string, object] => {
        const update = { op: 'update', name: 'bill', key, fields: { paid: 2 } };
        return ['/rest/batch', { operations: [update, { op: 'create', name: 'bill', fields: { mark: 'c' } }] }];
      },
      2,
    ],
  ])(
    '503 — outcome-unknown when %s was committed, and a repeat with the same Idempotency-Key takes no effect again (rules 77 and 79)',
    async (what, requestOf, effects) => {
      const cookie = await service.openSession(ada);
      const call = <T>(path: string, json: object, key: string) =>
        service.call<T>('POST', path, { cookie, json, headers: { 'idempotency-key': key } });
      const { body } = await call<Entity>('/rest/entity/bill', { mark: what }, what);
      const history = async () => (await service.db.selectFrom('entity_change').where('name', '=', 'bill').select('id').execute()).length;
      const before = await history();
      const [path, json] = requestOf(body.key);
      cable.breaksAt = { what: commit, delivered: 'question' };
      const lost = await call<ProblemBody>(path, json, what);
      cable.repair();
      expect([lost.status, lost.body.code], lost.text).toEqual([503, 'outcome-unknown']);
      // PostgreSQL may run COMMIT after the service's answer: the key is locked until then.
      let repeat = await call<ProblemBody>(path, json, what);
      await expect.poll(async () => (repeat = await call(path, json, what)).status).not.toBe(409);
      expect([repeat.status < 300, repeat.headers.get('idempotency-replayed')], repeat.text).toEqual([true, 'true']);
      expect(await history()).toBe(before + effects);
    },
  );

  test.each([
    ['', 'The rows 1 to 3 were written, or none of them was'],
    ['?by=mark', 'Go on with --from-row 1'],
  ])(
    '200 — an import%s whose COMMIT was lost ends with 503, and names the rows that may have been written (rule 77)',
    async (query, advice) => {
      const cookie = await service.openSession(ada);
      const rows = (from: number, to: number) =>
        Array.from({ length: to - from + 1 }, (_, index) => `{"mark":"import${query} ${from + index}"}\n`).join('');
      const marks = async (text: string) => (await rowsOf(service, 'coin')).filter(({ fields }) => fields.includes(`${text} `)).length;
      const send = async (raw: string) => {
        const headers = { 'content-type': 'application/x-ndjson' };
        const { text } = await service.call('POST', `/rest/entity/coin/import${query}`, { cookie, headers, raw });
        return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as object;
      };
      cable.breaksAt = { what: commit, delivered: 'question' };
      const lost = await send(rows(1, 700));
      cable.repair();
      expect(lost).toMatchObject({ done: false, row: 0, created: 0, uncertainTo: 500, problem: { status: 503, code: 'outcome-unknown' } });
      await expect.poll(() => marks(`import${query}`)).toBe(500);
      const again = query === '' ? await send(rows(501, 700)) : await send(rows(1, 700));
      expect(again).toMatchObject({ done: true, created: 200, unchanged: query === '' ? 0 : 500, failed: 0 });

      const words = ['entities', 'import', 'coin', '-', '--as', 'ada', ...(query === '' ? [] : ['--by', 'mark'])];
      cable.breaksAt = { what: commit, delivered: 'question' };
      const input = ['a', 'b', 'c'].map((mark) => `{"mark":"command${query} ${mark}"}\n`).join('');
      const { code, stderr } = await new AdminCommand(service.databaseUrl).run(words, Buffer.from(input));
      cable.repair();
      expect([code, stderr]).toEqual([1, expect.stringContaining(advice)]);
      await expect.poll(() => marks(`command${query}`)).toBe(3);
    },
  );
});
