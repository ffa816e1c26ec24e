import { beforeAll, describe, expect, test } from 'vitest';
import { declareIndexed } from '../../support/companion.ts';
import { declareType } from '../../support/entities.ts';
import { faultsIn, keysIn, list, pagesOf, seedMany, type ListQuery } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const service = useService();
let ada: { cookie: string };
let bob: { cookie: string };
const query: ListQuery = { filter: { n: { $gte: 0 } }, sort: ['n'], limit: 2 };
let cursor: string;

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  bob = { cookie: await service().openSession((await service().createUser('bob')).id) };
  const rows = Array.from({ length: 5 }, (_, n) => ({ n, secret: 'Mallory' }));
  await seedMany(service(), 'note', rows, 'ada');
  await seedMany(service(), 'memo', rows, 'ada');
  cursor = (await list(service(), ada, 'note', query)).body.next ?? '';
});

const refusal = async (caller: { cookie: string }, name: string, changed: ListQuery) => {
  const answer = await list<ProblemBody>(service(), caller, name, { ...query, cursor, ...changed });
  return [answer.status, ...faultsIn(answer)];
};
const invalid = [400, 'cursor invalid-cursor'];

test('200 — a cursor continues its list, also in another process', async () => {
  expect((await list(service(), ada, 'note', { ...query, cursor })).body.items.map(({ fields }) => fields['n'])).toEqual([2, 3]);
  const replica = await service().replica();
  try {
    expect((await list(replica, ada, 'note', { ...query, cursor })).body.items).toHaveLength(2);
  } finally {
    await replica.close();
  }
});

test('400 — a cursor of which any one character was changed, added or removed', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (let at = 0; at < cursor.length; at++) {
    const other = alphabet.charAt((alphabet.indexOf(cursor.charAt(at)) + 1) % 64);
    expect(await refusal(ada, 'note', { cursor: cursor.slice(0, at) + other + cursor.slice(at + 1) }), `character ${at}`).toEqual(invalid);
  }
  const last = alphabet.indexOf(cursor.slice(-1));
  for (const bit of [1, 2, 3]) {
    const changed = cursor.slice(0, -1) + alphabet.charAt(last ^ bit);
    expect(await refusal(ada, 'note', { cursor: changed }), `bits ${bit} of the last`).toEqual(invalid);
  }
  for (const changed of [
    '',
    'q1.',
    'q1',
    'x',
    `${cursor}A`,
    `${cursor}=`,
    cursor.slice(0, -1),
    cursor.slice(1),
    cursor.toUpperCase(),
    `${cursor}\n`,
  ])
    expect(await refusal(ada, 'note', { cursor: changed }), changed).toEqual(invalid);
});

test('400 — a cursor of another user, name, filter or sort (rule 64)', async () => {
  expect(await refusal(bob, 'note', {})).toEqual(invalid);
  expect(await refusal(ada, 'memo', {})).toEqual(invalid);
  expect(await refusal(ada, 'note', { filter: { n: { $gte: 1 } } })).toEqual(invalid);
  expect(await refusal(ada, 'note', { sort: ['-n'] })).toEqual(invalid);
  expect(await refusal(ada, 'note', { sort: ['n', '$key'] })).toEqual(invalid);
  expect((await list(service(), bob, 'note', query)).status).toBe(200);
});

describe('a cursor of a sort by a field whose', () => {
  const sorted: ListQuery = { sort: ['a'], limit: 1 };
  const text = { type: 'string' };
  /** Declares the type before and after the first page, and asks for the second one by the cursor of the first. */
  async function secondPage(name: string, before: Record<string, unknown>, after: Record<string, unknown>) {
    await seedMany(service(), name, [{ a: '1' }, { a: '2' }, { a: '3' }], 'ada');
    const declare = async (properties: Record<string, unknown>) => {
      await declareType(service(), name, { type: 'object', ...properties });
    };
    await declare(before);
    const first = (await list(service(), ada, name, sorted)).body.next ?? '';
    expect(first).not.toBe('');
    expect((await list(service(), ada, name, { ...sorted, cursor: first })).status).toBe(200);
    await declare(after);
    const answer = await list<ProblemBody>(service(), ada, name, { ...sorted, cursor: first });
    return [answer.status, ...faultsIn(answer)];
  }

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['text has an index meanwhile', { properties: { a: text } }, { properties: { a: text }, 'x-index': [['a']] }],
    ['index is gone meanwhile', { properties: { a: text }, 'x-index': [['a']] }, { properties: { a: text } }],
    ['type is another one meanwhile', { properties: { a: text } }, { properties: { a: { type: 'string', format: 'decimal' } } }],
    [
      'language is another one meanwhile',
      { properties: { a: text }, 'x-index': [['a']], 'x-collation': { a: 'de' } },
      { properties: { a: text }, 'x-index': [['a']], 'x-collation': { a: 'sv' } },
    ],
  ])('400 — %s', async (what, before, after) => {
    expect(await secondPage(`changed-${what.split(' ')[0]}-${what.length}`, before, after)).toEqual(invalid);
  });
});

test('a cursor shows neither keys nor values', () => {
  const bytes = Buffer.from(cursor.slice(3), 'base64url').toString('latin1');
  for (const part of ['next', '"', '[', 'note']) expect(bytes.includes(part) && cursor.includes(part)).toBe(false);
  expect(() => JSON.parse(bytes) as unknown).toThrow(SyntaxError);
});

describe('the texts of a sort', () => {
  const text = (length: number) => ({ type: 'string', maxLength: length });
  const names = ['a', 'b', 'c', 'd'];
  const all = (length: number) => Object.fromEntries(names.map((name) => [name, text(length)]));

  test.for<[string, string[][], number, string[]]>([
    ['of 2,000 characters without an index', [['other']], 2_000, names],
    ['of an index of four texts', [names], 150, names],
    ['of an index of one text', [['a']], 600, ['a']],
    ['of four indexes', names.map((name) => [name]), 600, names],
    ['in mixed directions', [['a'], ['b']], 600, ['-a', 'b', '-c']],
  ])('200 — %s fit in a cursor, and a page in the URL follows', async ([, indexes, length, sort]) => {
    const name = `text${length}-${indexes.length}`;
    await declareIndexed(service(), name, { type: 'object', properties: { ...all(length), other: text(10) }, 'x-index': indexes });
    // In JSON a control character has six bytes.
    const values = ['\u{1F600}', '\u0001', 'x'].map((sign) => sign.repeat(length));
    const keys: string[] = [];
    for (const value of values)
      keys.push(...(await seedMany(service(), name, [Object.fromEntries(names.map((each) => [each, value]))], 'ada')));
    const pages = await pagesOf(service(), ada, name, { sort, limit: 1 });
    expect(keysIn(pages).toSorted()).toEqual(keys.toSorted());
    for (const { next } of pages) expect(next?.length ?? 0).toBeLessThanOrEqual(6_144);
  });
});
