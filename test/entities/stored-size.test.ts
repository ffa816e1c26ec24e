/** Numbers whose text in PostgreSQL is much longer than the one that a client sends: they count as they are stored. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { isHeavy } from '../../src/entities/heavy.ts';
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
