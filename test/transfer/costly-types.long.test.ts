/** Exports and imports of a type whose fields are costly to find: they hold the process up for a moment only (rule 80). */
import { beforeAll, expect, test } from 'vitest';
import { declareType } from '../support/entities.ts';
import { importFile, refusalsOf } from '../support/imports.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
const text = { type: 'string' };
const named = (count: number, letter: string) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`${letter}${n}`, text]));
const choices = (name: string) => ({ anyOf: Array.from({ length: 8 }, (_, n) => ({ properties: { [name]: { const: `${n}` } } })) });
const costly = (count: number, rest: object = {}) => ({
  type: 'object',
  properties: { ...named(count, 'p'), inner: { type: 'object', properties: named(100, 'n') } },
  allOf: [choices('p0'), choices('p1')],
  ...rest,
});

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

/** The longest time of the processor that this thread took for one turn of the event loop during the work, in milliseconds. Other processes do not count. */
async function longestStop(work: () => Promise<void>): Promise<number> {
  const now = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [longest, since, isDone] = [0, now(), false];
  const watch = () => {
    const at = now();
    longest = Math.max(longest, at - since);
    since = at;
    if (!isDone) setImmediate(watch);
  };
  watch();
  await work();
  isDone = true;
  watch();
  return longest;
}

test('an export with 50 fields, and one with all columns', async () => {
  await declareType(service(), 'costly', costly(150));
  const fields = Array.from({ length: 50 }, (_, n) => `p${n}`).join();
  for (const query of [`&fields=${fields}`, '']) {
    const stop = await longestStop(async () => {
      const { status, text: file } = await service().call('GET', `/rest/entity/costly/export?format=csv${query}`, { cookie });
      expect([status, file.split(',').length]).toEqual([200, query ? 52 : 253]);
    });
    expect(stop).toBeLessThan(250);
  }
});

test('an import whose header has 10,000 names, which the type leaves open, or refuses', async () => {
  await declareType(service(), 'open', costly(150));
  await declareType(service(), 'closed', costly(150, { unevaluatedProperties: false }));
  const header = Array.from({ length: 9_999 }, (_, n) => `x${n}`).join();
  for (const name of ['open', 'closed']) {
    const stop = await longestStop(async () => {
      const { refused, end } = await importFile(service(), name, `p0,${header}\n1\n`, { cookie });
      const faults = Array.from({ length: 20 }, (_, n) => `unknown-field /x${n}`).join(', ');
      expect(refusalsOf(refused)).toEqual([name === 'open' ? '2 400 cell-count ' : `1 422 ${faults}`]);
      expect(end?.done).toBe(name === 'open');
    });
    expect(stop).toBeLessThan(250);
  }
});

test('the first use of a type with a rule for each of 60 fields', async () => {
  const rules = Array.from({ length: 60 }, (_, n) => `p${n + 2}`);
  const document = costly(150, { 'x-unique': rules.slice(0, 30).map((name) => ({ fields: [name] })) });
  await declareType(service(), 'ruled', document);
  const other = await service().replica();
  try {
    const stop = await longestStop(async () => {
      expect((await other.call('POST', '/rest/entity/ruled', { cookie, json: { p0: '1', p1: '1' } })).status).toBe(201);
    });
    expect(stop).toBeLessThan(250);
  } finally {
    await other.close();
  }
});
