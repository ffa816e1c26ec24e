/** Imports end with the client, with the caller's credential and rights, with the process, and with the database. */
import { once } from 'node:events';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { declareType, rowsOf } from '../support/entities.ts';
import { Proxy } from '../support/proxy.ts';
import { useService, TestService } from '../support/service.ts';
import { countTurns } from '../support/turns.ts';
import { upload, type ReportLine } from '../support/upload.ts';

const service = useService();

let number = 0;
const newName = () => `part${++number}`;
const caller = async (grants?: Parameters<TestService['createUser']>[1]) => {
  const { id } = await service().createUser(`user${++number}`, grants);
  return await service().openSession(id);
};
const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => `{"n":${from + n}}\n`).join('');

const countOf = async (name: string) => (await rowsOf(service(), name)).length;
const written = async (name: string, count: number) => await expect.poll(() => countOf(name), { timeout: 10_000 }).toBe(count);

/** An import whose first portion is written. */
async function begin(name: string, cookie: string, to = service(), query = '') {
  const under = upload(to, name, cookie, { query });
  under.sent.write(rows(1, 600));
  await written(name, 500);
  return under;
}

test('an import goes on to the end', async () => {
  const name = newName();
  const lines = await (await begin(name, await caller())).end(rows(601, 700));
  expect(lines.at(-1)).toMatchObject({ done: true, row: 700, created: 700 });
});

test('an import whose client leaves writes whole portions alone, and gives back its place and its connection (rule 80)', async () => {
  const name = newName();
  const cookie = await caller();
  const under = await begin(name, cookie);
  const second = await service().call('POST', `/rest/entity/${name}/import`, {
    cookie,
    headers: { 'content-type': 'application/x-ndjson' },
    raw: '{}',
  });
  expect([second.status, second.body.code, second.headers.get('retry-after')]).toEqual([429, 'rate-limited', '5']);
  under.sent.destroy();
  const again = newName();
  const status = async () => (await upload(service(), again, cookie).end('{}')).at(-1)?.done;
  await expect.poll(status, { timeout: 10_000 }).toBe(true);
  expect([500, 600]).toContain(await countOf(name));
  const open = async () =>
    (
      await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
        where datname = current_database() and state like 'idle in transaction%'`.execute(service().db)
    ).rows[0]?.n;
  await expect.poll(open, { timeout: 10_000 }).toBe(0);
});

test('other work runs between rows that take long to check, also when they are merged (rule 80)', async () => {
  const name = newName();
  const cookie = await caller();
  await declareType(service(), name, { properties: { n: { type: 'integer' } }, 'x-unique': [{ fields: ['n'] }] });
  const { entityTypes } = service().context;
  const type = await entityTypes.find(name);
  const turns = countTurns();
  const seen = new Set<number>();
  const check = () => {
    seen.add(turns());
    const end = performance.now() + 5;
    while (performance.now() < end);
  };
  const find = vi.spyOn(entityTypes, 'find').mockResolvedValue(type && { ...type, check });
  onTestFinished(() => find.mockRestore());
  for (const [mode, from] of [
    ['replace', 1],
    ['merge', 11],
  ] as const) {
    seen.clear();
    const lines = await upload(service(), name, cookie, { query: `?by=n&mode=${mode}` }).end(rows(from, from + 4));
    expect(lines.at(-1)).toMatchObject({ done: true, created: 5 });
    expect(seen.size, mode).toBe(5);
  }
});

test('a process has two imports at once (rule 80)', async () => {
  const name = newName();
  const [one, two, three] = await Promise.all([caller(), caller(), caller()]);
  const under = [await begin(name, one), await begin(newName(), two)];
  const busy = async () =>
    (await service().call('POST', `/rest/entity/${name}/import`, { cookie: three, headers: { 'content-type': 'text/csv' }, raw: 'a\n1' }))
      .status;
  await expect.poll(busy, { timeout: 3_000 }).toBe(503);
  for (const each of under) await each.end();
  await expect.poll(busy).toBe(200);
});

test('an import ends with the session, and says so in its last line (rule 14)', async () => {
  const name = newName();
  const cookie = await caller();
  const under = await begin(name, cookie);
  expect((await service().call('HEAD', '/auth?logout=1', { cookie })).status).toBe(204);
  expect((await under.end(rows(601, 1_700))).at(-1)).toMatchObject({ done: false, problem: { code: 'unauthenticated', status: 401 } });
  expect(await countOf(name)).toBe(500);
});

test('an import ends with the right to create (rule 64)', async () => {
  const name = newName();
  const under = await begin(name, await caller({ [name]: ['create'] }));
  await sql`delete from role_grant where entity = ${name}`.execute(service().db);
  await service().settle();
  expect((await under.end(rows(601, 1_700))).at(-1)).toMatchObject({ done: false, row: 500, problem: { code: 'forbidden', status: 403 } });
  expect(await countOf(name)).toBe(500);
});

test('an import ends with the process, and says so in its last line (rule 92)', async () => {
  const replica = await service().replica();
  const name = newName();
  const under = await begin(name, await caller(), replica);
  const stopped = replica.stop();
  const { text } = await under.answer;
  const last = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as ReportLine;
  expect(last).toMatchObject({ done: false, problem: { code: 'unavailable', status: 503 } });
  expect(await countOf(name)).toBe(last.row);
  await stopped;
});

test('an import whose rows are all written ends with the process, and says so too (rule 92)', async () => {
  const replica = await service().replica();
  const name = newName();
  const under = upload(replica, name, await caller());
  under.sent.write(rows(1, 500));
  await written(name, 500);
  const stopped = replica.stop();
  const { text } = await under.answer;
  expect(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ done: false, row: 500, problem: { code: 'unavailable' } });
  await stopped;
});

test('an import ends with the database, and its report names the rows that are written', async () => {
  const proxy = await Proxy.open(service().databaseUrl);
  onTestFinished(() => proxy.close());
  const replica = await TestService.start({}, { url: proxy.urlOf(service().databaseUrl), drop: async () => undefined });
  onTestFinished(() => replica.close());
  const name = newName();
  const under = await begin(name, await caller(), replica);
  await proxy.cut();
  const last = (await under.end(rows(601, 1_700))).at(-1);
  expect(last).toMatchObject({ done: false, row: 500, created: 500, problem: { status: 503 } });
  expect(await countOf(name)).toBe(500);
  await proxy.restore();
});

test('a type that changes meanwhile counts for the rows after it', async () => {
  const name = newName();
  const text = { type: 'string' };
  await declareType(service(), name, { type: 'object', properties: { n: { type: 'integer' } } });
  const under = await begin(name, await caller());
  await declareType(service(), name, { type: 'object', properties: { n: text } });
  const lines = await under.end(`${rows(601, 1_000)}{"n":"text"}\n`);
  expect(lines.at(-1)).toMatchObject({ done: true, row: 1_001 });
  expect(lines.at(-1)?.created).toBe(await countOf(name));
});

test('a file beyond 64 MiB without a length ends with 413 (rule 70)', async () => {
  const name = newName();
  const under = upload(service(), name, await caller());
  const chunk = Buffer.alloc(2 ** 20, ' ');
  let sent = 0;
  const flood = () => {
    while (sent < 200 && !under.sent.destroyed) {
      sent += 1;
      if (!under.sent.write(chunk)) return void under.sent.once('drain', flood);
    }
  };
  flood();
  const { text } = await under.answer;
  under.sent.destroy();
  expect(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    done: false,
    problem: { code: 'content-too-large', status: 413 },
  });
  expect(sent).toBeLessThan(100);
});

test('a client that goes on sending after the answer is cut off after ten seconds (rule 80)', async () => {
  const under = upload(service(), newName(), await caller(), { type: 'text/csv' });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = once(under.sent, 'close');
  under.sent.write('a\n"x"y\nmore\n');
  const { text } = await under.answer;
  expect(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ done: false, problem: { status: 400 } });
  await vi.advanceTimersByTimeAsync(9_900);
  expect(under.sent.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(100);
  await closed;
});

describe('a header of CSV', () => {
  const csv = async (file: string) => {
    const name = newName();
    const lines = await upload(service(), name, await caller(), { type: 'text/csv' }).end(file);
    return { lines, fields: (await rowsOf(service(), name)).map(({ fields }) => fields) };
  };

  test.for<[string, string, object]>([
    [
      'more columns than an entity has values',
      Array.from({ length: 10_001 }, (_, n) => `c${n}`).join(),
      { status: 400, errors: [{ code: 'too-many-values' }] },
    ],
    ['a name that leads too deep', 'a.'.repeat(10_000) + 'a', { status: 422, errors: [{ code: 'too-deep', position: 1 }] }],
    ['a name that leads into __proto__', '__proto__,__proto__.a', { status: 422, errors: [{ code: 'conflicting' }] }],
  ])('ends the import with %s (rule 70)', async ([, header, fault]) => {
    const { lines, fields } = await csv(`${header}\n1\n`);
    expect([lines[0], lines.at(-1)?.done]).toMatchObject([{ row: 1, ...fault }, false]);
    expect(fields).toEqual([]);
  });

  test('may have each name that JSON may have; __proto__ and constructor are refused in each row (rule 70)', async () => {
    expect((await csv('a,toString\n1,=1+1\n')).fields).toEqual(['{"a": "1", "toString": "=1+1"}']);
    for (const header of ['__proto__', 'constructor']) {
      const { lines, fields } = await csv(`${header}\n1\n`);
      expect([lines.at(-2), lines.at(-1)?.done, fields]).toMatchObject([{ row: 2, errors: [{ code: 'member-name-reserved' }] }, true, []]);
    }
  });
});
