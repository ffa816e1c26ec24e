/** `src/json/parse-json.ts` beside V8's error with names that are written with escapes (nodejs/node#63785). */
import { globSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/json/parse-json.ts';
import { declareType, rowsOf } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const root = new URL('../../', import.meta.url);
const service = useService();

/** A JSON string of the text in which the characters that `chosen` picks are written as escapes. */
function escaped(text: string, chosen: readonly boolean[]): string {
  const units = text.split('').map((unit, n) => {
    const mustBe = unit === '"' || unit === '\\' || unit < ' ';
    return mustBe || chosen[n % chosen.length] ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit;
  });
  return `"${units.join('')}"`;
}

describe('a JSON text', () => {
  test('has the members that it names, whatever names were parsed before', () => {
    const name = fc.string({ unit: fc.constantFrom('a', '\\', 'u', '0', '6', '1', '"', '\n', 'é'), minLength: 1, maxLength: 7 });
    const members = fc.uniqueArray(name, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(members, fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }), (names, chosen) => {
        const text = `{"z": 1 ,${names.map((each, n) => `${escaped(each, chosen)} : [${n}, {}]`).join()}}\n`;
        const value = parseJson(text) as object;
        expect(new Map(Object.entries(value))).toEqual(
          new Map<string, unknown>([['z', 1], ...names.map((each, n) => [each, [n, {}]] as const)]),
        );
      }),
      { numRuns: 20_000 },
    );
  });

  test.each([
    '{"\\u0061":1',
    '{"\\u0061" 1}',
    '{"\\u0061":1}}',
    '{"\\u0061":1,}',
    '[{"\\u0061":1},]',
    '{"\\u006":1}',
    '{"\\u0061":tru}',
    '{"\\u0061":[1 2]}',
  ])('that is none is refused: %s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

test('a name written with an escape evades no rule of its type, after requests that make V8 expect another name (rule 70)', async () => {
  await declareType(service(), 'customer', { type: 'object' });
  await declareType(service(), 'order', {
    type: 'object',
    properties: { code: { type: 'string', maxLength: 5 }, customer: { type: 'string', format: 'int64' } },
    'x-unique': [{ fields: ['code'] }],
    'x-references': { customer: { to: 'customer' } },
  });
  const cookie = await service().openSession((await service().createUser('ada')).id);
  const create = async (raw: string) => {
    const headers = { 'content-type': 'application/json' };
    return (await service().call('POST', '/rest/entity/order', { cookie, headers, raw })).status;
  };
  expect(await create('{"a":1,"\\\\u00":2}')).toBe(201);
  expect(await create('{"b":1,"\\\\u0063us":2}')).toBe(201);
  expect(await create('{"a":1,"\\u0063ode":"A"}')).toBe(201);
  const before = await rowsOf(service(), 'order');
  expect(before.map(({ fields }) => JSON.parse(fields) as unknown)).toContainEqual({ a: 1, code: 'A' });
  expect(await create('{"a":1,"\\u0063ode":"A"}')).toBe(409);
  expect(await create('{"a":1,"\\u0063ode":"longer than five"}')).toBe(422);
  expect(await create('{"a":1,"\\u0063ode":5}')).toBe(422);
  expect(await create('{"b":1,"\\u0063ustomer":"999999999999"}')).toBe(422);
  expect(await rowsOf(service(), 'order')).toEqual(before);
});

/** Where `JSON.parse` reads a single string, or a text without names of callers. */
const without = new Set([
  'cli/doctor.ts',
  'config/version.ts',
  'contract/contract.ts',
  'pages/docs-ui.ts',
  'embedded/archive/manifest.ts',
  'embedded/binaries.ts',
  'database/transfer/backup-file.ts',
  'entities/querying/cursors.ts',
  'json/json-parts.ts',
  'json/json.ts',
  'json/parse-json.ts',
  'transfer/csv-writer.ts',
]);

test('no other file of the service reads JSON with JSON.parse', () => {
  const files = globSync('**/*.ts', { cwd: new URL('src/', root), exclude: ['client/**'] });
  const users = files.filter((file) => readFileSync(new URL(`src/${file}`, root), 'utf8').includes('JSON.parse('));
  expect(new Set(users)).toEqual(without);
});
