/** `POST /rest/entity/{name}/export`, and what `GET` takes too: order, search, delimiter and byte order mark. */
import { beforeAll, expect, test } from 'vitest';
import { declareType } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
const text = { type: 'string' };
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  await declareType(service(), 'book', {
    properties: { title: text, pages: { type: 'integer' } },
    'x-index': [['title']],
    'x-search': { fields: ['title'] },
  });
  const json = Array.from({ length: 2_100 }, (_, n) => ({
    title: `${n % 2 === 0 ? 'Red' : 'Blue'} ${String(n).padStart(4, '0')}`,
    pages: n,
  }));
  const portions = [json.slice(0, 1_000), json.slice(1_000, 2_000), json.slice(2_000)];
  for (const items of portions) expect((await service().call('POST', '/rest/entity/book/bulk', { cookie, json: items })).status).toBe(200);
});

const post = (json: object, by = cookie) => service().call('POST', '/rest/entity/book/export', { cookie: by, json });
const get = (query: string) => service().call('GET', `/rest/entity/book/export?${query}`, { cookie });
const titlesOf = (file: string) =>
  file
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { fields?: { title: string } })
    .flatMap(({ fields }) => fields?.title ?? []);

test('200 — the same file as by GET, in the order of sort over several parts, with a search', async () => {
  const { status, text: file } = await post({ sort: ['-title'], search: 'red', fields: ['title'] });
  expect(status).toBe(200);
  const wanted = Array.from({ length: 1_050 }, (_, n) => `Red ${String(2_098 - 2 * n).padStart(4, '0')}`);
  expect(titlesOf(file)).toEqual(wanted);
  // The position moves with each export, which is an event itself.
  const withoutPosition = (each: string) => each.replace(/,"position":"\d+"/, '');
  expect(withoutPosition((await get('sort=-title&search=red&fields=title')).text)).toBe(withoutPosition(file));
  expect(titlesOf((await post({ sort: ['title'] })).text)).toHaveLength(2_100);
  expect(titlesOf((await post({ search: 'blue' })).text)[0]).toBe('Blue 0001');
});

test('200 — a filter that is too long for a URL', async () => {
  const titles = Array.from({ length: 150 }, (_, n) => `Red ${String(2 * n).padStart(4, '0')} ${'x'.repeat(100)}`);
  const { status, text: file } = await post({ filter: { title: { $in: ['Blue 0001', ...titles] } } });
  expect([status, titlesOf(file)]).toEqual([200, ['Blue 0001']]);
});

test('200 — CSV with a byte order mark, semicolons or tabs, which an import reads', async () => {
  const wanted = { format: 'csv', filter: { pages: 3 }, fields: ['title', 'pages'] };
  const bytes = async (body: object) => {
    const answer = await service().inject({ method: 'POST', url: '/rest/entity/book/export', headers: { cookie }, payload: body });
    return answer.rawPayload.toString('utf8').replace(/^(\uFEFF?.*)db[0-9a-f]{16}(\r\n)\d+/, '$1DB$2KEY');
  };
  expect(await bytes({ ...wanted, delimiter: 'semicolon', bom: true })).toBe('\uFEFF$key;title;pages;$database=DB\r\nKEY;Blue 0003;3;\r\n');
  expect(await bytes({ ...wanted, delimiter: 'tab' })).toBe('$key\ttitle\tpages\t$database=DB\r\nKEY\tBlue 0003\t3\t\r\n');
  const filter = encodeURIComponent(JSON.stringify(wanted.filter));
  const byGet = await service().inject({
    method: 'GET',
    url: `/rest/entity/book/export?format=csv&filter=${filter}&delimiter=semicolon&bom=true`,
    headers: { cookie },
  });
  expect(byGet.rawPayload.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  const imported = await service().call('POST', '/rest/entity/copy/import?delimiter=semicolon', {
    cookie,
    headers: { 'content-type': 'text/csv' },
    raw: byGet.rawPayload,
  });
  expect(imported.text).toContain('"done":true,"row":2,"created":1');
});

test('403 — a caller who may not read the entities', async () => {
  const writer = await service().openSession((await service().createUser('writer', { '*': ['create', 'update'] })).id);
  expect((await post({}, writer)).status).toBe(403);
});

test('422 — a search of a type without texts, and members that are not accepted, each at its place', async () => {
  await declareType(service(), 'plain', { properties: { a: text } });
  const plain = await service().call('POST', '/rest/entity/plain/export', { cookie, json: { search: 'x' } });
  expect([plain.status, plain.body.errors?.[0]]).toMatchObject([422, { pointer: '/search', code: 'not-filterable' }]);
  for (const [body, pointer] of [
    [{ sort: ['$nothing'] }, '/sort/0'],
    [{ filter: { title: { $x: 1 } } }, '/filter/title/$x'],
    [{ delimiter: 'x' }, '/delimiter'],
    [{ limit: 1 }, '/limit'],
  ] as const) {
    const answer = await post(body);
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([422, pointer]);
  }
});

test('404 — of a name without a type where only declared names exist', async () => {
  const strict = await service().replica({ ENTITY_TYPES: 'declared' });
  expect((await strict.call('POST', '/rest/entity/book/export', { cookie, json: {} })).status).toBe(200);
  expect((await strict.call('POST', '/rest/entity/undeclared/export', { cookie, json: {} })).status).toBe(404);
});

test('406 — of a format that no one has, while Accept chooses one of the others', async () => {
  const accepting = (accept: string) =>
    service().call('POST', '/rest/entity/book/export', { cookie, json: { search: 'none' }, headers: { accept } });
  expect((await accepting('text/csv')).headers.get('content-type')).toContain('text/csv');
  expect((await accepting('application/json')).status).toBe(406);
});
