/** The merge in the database (RFC 7396), compared with the RFC's examples and its pseudocode. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { useService } from '../../support/service.ts';

const service = useService();

/** The examples of RFC 7396 appendix A, and further cases. */
const cases: [target: unknown, patch: unknown, result: unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ a: 'text' }, { a: { b: 1 } }, { a: { b: 1 } }],
  [{ a: { b: 1 } }, {}, { a: { b: 1 } }],
  [{ a: 1 }, { a: false, b: 0, c: '' }, { a: false, b: 0, c: '' }],
  [{ a: 1 }, { b: [{ c: null }], d: { e: [null, { f: null }], g: null } }, { a: 1, b: [{ c: null }], d: { e: [null, { f: null }] } }],
  [
    { a: { b: null }, c: { d: 1 } },
    { a: { e: 1 }, c: {} },
    { a: { b: null, e: 1 }, c: { d: 1 } },
  ],
];

/** RFC 7396 section 2, in TypeScript. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Few names, so that target and patch share some; nulls, empty objects, and objects in arrays, which a patch must replace as a whole. */
const leaf = fc.constantFrom(null, null, true, 0, 1.5, '', 'text');
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'medium' }, leaf, tie('object'), tie('array')),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', ''), tie('value'), { maxKeys: 5 }),
  array: fc.array(tie('value'), { maxLength: 3 }),
}));

async function merge(target: unknown, patch: unknown): Promise<unknown> {
  const [of, by] = [JSON.stringify(target), JSON.stringify(patch)];
  const { rows } = await sql<{ merged: string }>`select json_merge_patch(${of}::jsonb, ${by}::jsonb)::text as merged`.execute(service().db);
  return JSON.parse(rows[0]?.merged ?? '') as unknown;
}

describe('json_merge_patch', () => {
  test.each(cases)('%j patched by %j is %j', async (target, patch, result) => {
    expect(mergePatch(target, patch)).toEqual(result);
    expect(await merge(target, patch)).toEqual(result);
  });

  test('any document patched by any other is the result of RFC 7396, with nulls and objects in arrays', async () => {
    await fc.assert(
      fc.asyncProperty(json, json, async (target, patch) => {
        expect(await merge(target, patch)).toEqual(mergePatch(target, patch));
      }),
      { numRuns: 500 },
    );
  });

  const members = (count: number, value: unknown, from = 0) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`member${from + n}`, value]));

  test.each([
    ['some members and some unknown names', members(300, 'x'), members(300, null, 150)],
    ['all members', members(300, 'x'), members(300, null)],
    ['members of a text', 'text', members(300, null)],
    ['members beside others that are changed and added', members(300, null), { ...members(200, null), ...members(150, { a: 1 }, 200) }],
    ['members of an object inside', { inside: members(300, { a: null }) }, { inside: { ...members(290, null), more: [null] } }],
  ])('a patch that removes many names gives the result of RFC 7396: %s', async (_what, target, patch) => {
    expect(await merge(target, patch)).toEqual(mergePatch(target, patch));
  });

  test('ten thousand names are removed from an object of 190,000 members within the statement timeout of five seconds', async () => {
    const [target, patch] = [members(190_000, 1), members(9_999, null, 189_999)].map((value) => JSON.stringify(value));
    const merged = await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`set local statement_timeout = '5s'`.execute(trx);
        const { rows } = await sql<{ merged: string }>`select json_merge_patch(${target}::jsonb, ${patch}::jsonb)::text as merged`.execute(
          trx,
        );
        return JSON.parse(rows[0]?.merged ?? '') as unknown;
      });
    expect(merged).toEqual(members(189_999, 1));
  });

  test('200 — nine thousand members of a large entity change in one update, well within the statement timeout', async () => {
    await service().createUser('ada');
    const cookie = await service().signIn('ada');
    const members = (text: string) => Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`member${index}`, text.repeat(90)]));
    const made = await service().call<{ key: string }>('POST', '/rest/entity/thing', { cookie, json: members('x') });
    expect(made.status, made.text).toBe(201);
    const changed = await service().call<{ fields: object }>('POST', `/rest/entity/thing/${made.body.key}`, { cookie, json: members('y') });
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body.fields).toEqual(members('y'));
  });
});
