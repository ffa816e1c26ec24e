/** Numbers whose text in PostgreSQL is much longer than the one that a client sends: they count as they are stored. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { isHeavy } from '../../src/entities/size-classes.ts';
import { expansionOf } from '../../src/entities/stored-size.ts';
import { declareType, rowsOf, type Entity } from '../support/entities.ts';
import { useService, type ProblemBody } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

const numbers = (count: number) => `{"v":[${Array.from({ length: count }, () => '1e308').join()}]}`;
const post = (path: string, raw: string, type = 'application/json') =>
  service().call<Entity & ProblemBody>('POST', `/rest/${path}`, { cookie, raw, headers: { 'content-type': type } });

test('the expansion of a number is what PostgreSQL adds to it', async () => {
  const tokens = [
    '1e308',
    '-1.5E+300',
    '1e-308',
    '1.25e1',
    '12.5e1',
    '1.25e5',
    '1.5e-3',
    '123e-1',
    '5e-324',
    '1.50',
    '12',
    '1e0',
    '0e300',
    '0.00e2',
    '0e-5',
  ];
  for (const token of tokens) {
    const { rows } = await sql<{ stored: string }>`select ${token}::jsonb::text as stored`.execute(service().db);
    expect(expansionOf(`[${token}]`), token).toBe(Math.max(0, (rows[0]?.stored.length ?? 0) - token.length));
  }
});

test('the expansion of an object is what PostgreSQL adds to it, which is nothing for a number in a text', async () => {
  const texts = [
    String.raw`{"1e308":"1e308 \" 1e308, \\","a":[true,false,"x","\\"],"b":"1e3","c":1e2}`,
    '{"a":"1e9","b":2e9,"c":[1,2,{"d":-1.5E+3}]}',
  ];
  for (const text of texts) {
    const { rows } = await sql<{ stored: string }>`select ${text}::jsonb::text as stored`.execute(service().db);
    expect(text.length + expansionOf(text), text).toBe(rows[0]?.stored.length);
  }
  expect(expansionOf('{"a":"1e9","b":[2,3]}')).toBe(0);
});

test('a body is heavy whose numbers are stored with more than 16,384 characters (rule 70)', () => {
  expect(isHeavy(numbers(50))).toBe(false);
  expect(isHeavy(numbers(60))).toBe(true);
});

test('413 — creates of what an update would refuse, by every way (rule 70)', async () => {
  await declareType(service(), 'coded', { type: 'object', properties: { code: { type: 'string' } }, 'x-unique': [{ fields: ['code'] }] });
  // Without the spaces that PostgreSQL writes after commas, it would fit.
  const [fits, large] = [numbers(6_700), numbers(6_740).replace('[', `[${'1,'.repeat(3_000)}`)];
  const { status, body } = await post('entity/numbers', fits);
  expect([status, (await post(`entity/numbers/${body.key}`, '{"more":1}')).status]).toEqual([201, 200]);
  const coded = (text: string) => text.replace('{', '{"code":"a",');
  const operations = (text: string) => `{"operations":[{"op":"create","name":"numbers","fields":${text}}]}`;
  for (const [path, text] of [
    ['entity/numbers', large],
    ['entity/numbers/bulk', `[{},${large}]`],
    ['entity/coded/upsert?by=code', coded(large)],
    ['batch', operations(large)],
  ] as const) {
    const refused = await post(path, text);
    expect([refused.status, refused.body.code], path).toEqual([413, 'content-too-large']);
  }
  const { text } = await post('entity/numbers/import', `{"n":1}\n${large}\n`, 'application/x-ndjson');
  expect(text).toContain('"status":413');
  expect((await rowsOf(service(), 'numbers')).length + (await rowsOf(service(), 'coded')).length).toBe(2);
});

test('200 — changes of an entity that fits as it is stored, with a text that looks like a number; 413 beyond that (rule 70)', async () => {
  await declareType(service(), 'measured', {
    properties: { code: { type: 'string' } },
    // So each update looks at the merged fields.
    maxProperties: 9,
    'x-unique': [{ fields: ['code'] }],
  });
  const limit = 2_097_152;
  // PostgreSQL writes a space after each comma: the bytes of the stored text have them already.
  const values = Array.from({ length: 9_000 }, () => 1);
  const fields = { code: 'a', at: ' 1e5', n: values, one: 'x'.repeat(1_026_000), two: '' };
  const stored = await sql<{ bytes: number }>`select octet_length(${JSON.stringify(fields)}::jsonb::text) as bytes`.execute(service().db);
  const two = 'x'.repeat(limit - (stored.rows[0]?.bytes ?? 0) - 20);
  const { status, body, text } = await post('entity/measured', JSON.stringify(fields));
  expect(status, text).toBe(201);
  const path = `entity/measured/${body.key}`;
  expect((await post(path, JSON.stringify({ two }))).status).toBe(200);
  expect((await post(path, '{"m":"1"}')).status).toBe(200);
  expect((await post(`${path}/restore?version=2`, '')).status).toBe(200);
  const imported = await post('entity/measured/import?mode=merge&by=code', '{"code":"a","m":"1"}\n', 'application/x-ndjson');
  expect(imported.text).toContain('"updated":1');
  const refused = await post(path, `{"m":"${'1'.repeat(30)}"}`);
  expect([refused.status, refused.body.code]).toEqual([413, 'content-too-large']);
  const [row] = await rowsOf(service(), 'measured');
  expect([row?.version, row?.fields.slice(0, 11)]).toEqual(['5', '{"m": "1", ']);
});
