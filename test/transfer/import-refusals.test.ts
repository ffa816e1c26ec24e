/** `POST /rest/entity/{name}/import` of files whose rows are refused: runs of rows, the bounds of a report, and other work meanwhile (rules 80 and 111). */
import { beforeAll, expect, test } from 'vitest';
import { declareType, rowsOf } from '../support/entities.ts';
import { importFile, refusalsOf } from '../support/imports.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

let number = 0;
const newName = () => `refused${++number}`;
const send = (name: string, file: string, type = 'text/csv', query = '') => importFile(service(), name, file, { query, type, cookie });
const ndjson = 'application/x-ndjson';

test('200 — rows in a row that are refused for one reason are one line, over transactions too (rule 111)', async () => {
  const { refused, end, text } = await send(newName(), `a,b\n1,2\n${'1\n'.repeat(32_700)}3,4\n5\n`);
  expect(refusalsOf(refused)).toEqual(['3-32702 400 cell-count ', '32704 400 cell-count ']);
  expect(end).toMatchObject({ done: true, row: 32_704, created: 2, failed: 32_701 });
  expect(text.length).toBeLessThan(20_000);
});

test('200 — a file of NDJSON, and rows that the type refuses (rule 111)', async () => {
  const name = newName();
  await declareType(service(), name, { properties: { n: { type: 'integer' } } });
  const { refused, end } = await send(name, `${'x\n'.repeat(1_500)}{"n":1}\n${'{"n":"x"}\n'.repeat(700)}{"n":1.5}\n`, ndjson);
  expect(refusalsOf(refused)).toEqual(['1-1500 400 invalid-json ', '1502-2202 422 invalid-type /n']);
  expect(end).toMatchObject({ done: true, created: 1, failed: 2_201 });
});

test('200 — an import ends behind the transaction with the 1,001st line of refused rows, and goes on with fromRow (rule 111)', async () => {
  const name = newName();
  const lines = (pairs: number) => `a,b\n${'1\n1,2\n'.repeat(pairs)}`;
  expect((await send(name, lines(1_000))).end).toMatchObject({ done: true, failed: 1_000 });
  const { refused, end } = await send(name, lines(3_000));
  expect([end?.done, end?.row, end?.problem]).toMatchObject([false, 2_501, { code: 'too-many-refusals', status: 422 }]);
  expect(refused).toHaveLength(end?.failed ?? 0);
  expect(await rowsOf(service(), name)).toHaveLength(1_000 + (end?.created ?? 0));
  expect((await send(name, lines(1_300), 'text/csv', `?fromRow=${(end?.row ?? 0) + 1}`)).end).toMatchObject({ done: true, row: 2_601 });
});

test('200 — an import ends behind 100,000 refused rows, in one run or not (rule 111)', async () => {
  const { refused, end } = await send(newName(), 'x\n'.repeat(110_000), ndjson);
  expect(end).toMatchObject({ done: false, problem: { code: 'too-many-refusals' } });
  expect(end?.failed).toBeGreaterThan(100_000);
  expect(end?.failed).toBeLessThanOrEqual(100_500);
  expect(refused).toMatchObject([{ row: 1, toRow: end?.failed }]);
});

test.for([
  ['short rows of CSV', `a,b\n${'1\n'.repeat(30_000)}`, 'text/csv'],
  ['lines that are no JSON', 'x\n'.repeat(30_000), ndjson],
  ['rows of many faults', `a\n${'"",1\n1\n'.repeat(700)}`, 'text/csv'],
])('200 — other work runs between rows: %s (rule 80)', async ([, file = '', type]) => {
  let [longest, since, isDone] = [0, performance.now(), false];
  const watch = () => {
    const now = performance.now();
    // Other processes take turns too, so that only the time of this process counts.
    longest = Math.max(longest, now - since);
    since = now;
    if (!isDone) setImmediate(watch);
  };
  const before = process.cpuUsage();
  watch();
  const turns: number[] = [];
  const count = setInterval(() => turns.push(performance.now()), 5);
  await send(newName(), file, type);
  clearInterval(count);
  isDone = true;
  const busyMs = (process.cpuUsage(before).user + process.cpuUsage(before).system) / 1_000;
  // A turn of the event loop has a small part of the whole work.
  expect(turns.length).toBeGreaterThan(busyMs / 100);
});
