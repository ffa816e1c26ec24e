/** `POST /rest/entity/{name}/import` of rows that refer to earlier rows of their file by values, such as the nodes of a tree. */
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, rowsOf } from '../support/entities.ts';
import { importFile, refusalsOf } from '../support/imports.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
let number = 0;

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

/** A type whose entities have a code, a serial number and a parent. */
async function declared(uniques: readonly string[] = ['code']): Promise<string> {
  const name = `category${++number}`;
  await declareType(service(), name, {
    type: 'object',
    required: ['code'],
    properties: {
      code: { type: 'string', maxLength: 20 },
      serial: { type: 'string' },
      parent: { type: ['string', 'null'], format: 'int64' },
    },
    'x-unique': uniques.map((field) => ({ fields: [field] })),
    'x-references': { parent: { to: name } },
  });
  return name;
}

const send = (name: string, file: string, query = '') => importFile(service(), name, file, { query, type: 'text/csv', cookie });

/** By code, the code of the parent; undefined without one. */
async function parentsOf(name: string): Promise<Record<string, unknown>> {
  const rows = (await rowsOf(service(), name)).map(({ key, fields }) => {
    const { code, parent } = JSON.parse(fields) as { code: string; parent?: string };
    return { key, code, parent };
  });
  return Object.fromEntries(rows.map(({ code, parent }) => [code, rows.find(({ key }) => key === parent)?.code]));
}

/** The counts and the refused rows of a dry run, which must be those of the import behind it. */
async function sendTwice(name: string, file: string, query = '?') {
  const before = await rowsOf(service(), name);
  const planned = await send(name, file, `${query}&dryRun=true`);
  expect(await rowsOf(service(), name)).toEqual(before);
  const done = await send(name, file, query);
  const told = ({
    end: { created, updated, unchanged, failed, done: isDone } = { row: 0 },
    refused,
  }: Awaited<ReturnType<typeof send>>) => ({
    created,
    updated,
    unchanged,
    failed,
    isDone,
    refused: refusalsOf(refused),
  });
  const outcome = told(done);
  expect(told(planned)).toEqual(outcome);
  return outcome;
}

describe('importEntities', () => {
  test.for(['?', '?by=code'])('200 — a row refers to the row before it, with %s', async (query) => {
    const name = await declared();
    expect(await sendTwice(name, 'code,parent.code\nA,\nB,A\nC,B\nD,A\n', query)).toMatchObject({ created: 4, failed: 0, isDone: true });
    expect(await parentsOf(name)).toEqual({ A: undefined, B: 'A', C: 'B', D: 'A' });
  });

  test('200 — a row that comes before the one that it refers to is refused, and so is a reference to a refused row', async () => {
    const name = await declared();
    const file = `code,parent.code\nB,A\nA,\n${'x'.repeat(21)},\nC,${'x'.repeat(21)}\nA,\nD,A\n`;
    const { refused, ...counts } = await sendTwice(name, file);
    expect(counts).toMatchObject({ created: 2, failed: 4, isDone: true });
    expect(refused).toEqual([
      '2 422 reference-not-found /parent',
      '4 422 too-long /code',
      '5 422 reference-not-found /parent',
      '6 409 duplicate-value /code',
    ]);
    expect(await parentsOf(name)).toEqual({ A: undefined, D: 'A' });
  });

  test('200 — the outcome is the same on both sides of a transaction of 500 rows', async () => {
    const name = await declared();
    const rows = Array.from({ length: 505 }, (_, n) => `n${n},${n < 495 ? '' : `n${n - 1}`}`);
    expect(await sendTwice(name, `code,parent.code\n${rows.join('\n')}\n`)).toMatchObject({ created: 505, failed: 0 });
    const parents = await parentsOf(name);
    for (let n = 495; n < 505; n++) expect(parents[`n${n}`]).toBe(`n${n - 1}`);
  });

  test('200 — values that an earlier row gives to an entity find it, and those that it had before do not', async () => {
    const name = await declared();
    await send(name, 'code\nA\nB\n');
    const [first] = await rowsOf(service(), name);
    const file = `$key,code,parent.code\n${first?.key},A2,\n,C,A2\n,D,A\n`;
    const { end, refused } = await send(name, file, '?by=$key');
    expect(end).toMatchObject({ created: 1, updated: 1, failed: 1, done: true });
    expect(refusalsOf(refused)).toEqual(['4 422 reference-not-found /parent']);
    expect(await parentsOf(name)).toEqual({ A2: undefined, B: undefined, C: 'A2' });
  });

  test('200 — the same with another rule than the one that finds the entities', async () => {
    const name = await declared(['code', 'serial']);
    await send(name, 'code,serial\nA,s1\n');
    const { end, refused } = await send(name, 'code,serial,parent.code\nA2,s1,\nB,s2,A2\nC,s3,A\n', '?by=serial');
    expect(end).toMatchObject({ created: 1, updated: 1, failed: 1, done: true });
    expect(refusalsOf(refused)).toEqual(['4 422 reference-not-found /parent']);
    expect(await parentsOf(name)).toEqual({ A2: undefined, B: 'A2' });
  });
});
