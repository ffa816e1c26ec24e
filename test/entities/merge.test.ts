import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { useService } from '../support/service.ts';

const service = useService();

/** RFC 7396 appendix A, and what it leaves out. */
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
];

describe('json_merge_patch', () => {
  test.each(cases)('%j patched by %j is %j', async (target, patch, result) => {
    const [of, by] = [JSON.stringify(target), JSON.stringify(patch)];
    const { rows } = await sql<{ merged: string }>`select json_merge_patch(${of}::jsonb, ${by}::jsonb)::text as merged`.execute(
      service().db,
    );
    expect(JSON.parse(rows[0]?.merged ?? '')).toEqual(result);
  });

  test('200 — nine thousand members of a large entity change in one update, well within the time a statement has', async () => {
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
