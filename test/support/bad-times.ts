/** Times with too many digits, leap seconds and far offsets, and what each road says of them. */
import { expect } from 'vitest';
import { declareType } from './entities.ts';
import { importFile, refusalsOf } from './imports.ts';
import { faultsIn, list, pagesOf } from './lists.ts';
import type { ProblemBody, TestService } from './service.ts';

/** The takers of a time: `all`, `no rule`, or `none`. */
type Takers = 'all' | 'no rule' | 'none';
const digits = Array.from({ length: 13 }, (_, count): [string, Takers] => [
  `2026-01-01T00:00:${String(count).padStart(2, '0')}.${'123456789123'.slice(0, count)}Z`,
  count === 0 || count > 9 ? 'none' : count > 6 ? 'no rule' : 'all',
]);
/** Texts of times, each with who takes it. */
export const times: [string, Takers][] = [
  ...digits,
  ['2026-01-02T00:00:00Z', 'all'],
  ['2026-01-02T00:00:01.000000000Z', 'all'],
  ['2026-01-02T00:00:02.0000000000Z', 'none'],
  ['2016-12-31T23:59:60Z', 'no rule'],
  ['2016-12-31T23:59:60.5Z', 'no rule'],
  ['2015-07-01T13:59:60+14:00', 'no rule'],
  ['2016-12-31T22:59:60Z', 'none'],
  ['2016-12-31T23:59:61Z', 'none'],
  ['2026-01-03T00:00:00+14:00', 'all'],
  ['2026-01-04T00:00:00-14:00', 'all'],
  ['2026-01-05T00:00:00+15:59', 'all'],
  ['2026-01-06T00:00:00+16:00', 'none'],
  ['2026-01-07T00:00:00-23:59', 'none'],
  ['2026-01-08T00:00:00+24:00', 'none'],
  ['2026-01-09T00:00:00+14:60', 'none'],
  ['2026-01-10T24:00:00Z', 'none'],
  ['0000-01-01T00:00:00Z', 'none'],
  ['2026-01-11T00:00:00', 'none'],
];

/** Declares the types `plain` and `ruled`, which has a rule over the time. */
export async function declareTimes(service: TestService): Promise<void> {
  const at = { type: 'string', format: 'date-time' };
  await declareType(service, 'plain', { properties: { at } });
  await declareType(service, 'ruled', { properties: { at }, 'x-unique': [{ fields: ['at'] }] });
}

/** Sends the time on each road: a right success, or 422 at the value. */
export async function expectTakers(service: TestService, cookie: string, [time, takers]: (typeof times)[number]): Promise<void> {
  for (const name of ['plain', 'ruled']) {
    const isTaken = takers === 'all' || (takers === 'no rule' && name === 'plain');
    const send = (path: string) => service.call('POST', `/rest/entity/${name}${path}`, { cookie, json: { at: time } });
    const created = await send('');
    expect([created.status, ...(isTaken ? [] : faultsIn(created))]).toEqual(isTaken ? [201] : [422, '/at invalid-value']);
    if (name === 'ruled') {
      const upserted = await send('/upsert?by=at');
      expect([upserted.status, ...(isTaken ? [] : faultsIn(upserted))]).toEqual(isTaken ? [200] : [422, '/at invalid-value']);
    }
    const found = await list<ProblemBody & { items: unknown[] }>(service, { cookie }, name, { filter: { at: time } });
    if (takers === 'none') expect([found.status, ...faultsIn(found)]).toEqual([422, 'filter /at invalid-value']);
    else expect([found.status, found.body.items.length]).toEqual([200, isTaken ? 1 : 0]);
    const query = name === 'ruled' ? '?by=at' : '';
    const { end, refused } = await importFile(service, name, `at\n${time}\n`, { cookie, query });
    expect(refusalsOf(refused)).toEqual(isTaken ? [] : ['2 422 invalid-value /at']);
    expect((end?.created ?? 0) + (end?.unchanged ?? 0)).toBe(isTaken ? 1 : 0);
  }
}

/** Sorts what {@link expectTakers} has made in pages of one. */
export async function expectSorted(service: TestService, cookie: string): Promise<void> {
  for (const name of ['plain', 'ruled']) {
    const [all] = await pagesOf(service, { cookie }, name, { sort: ['at'], limit: 200 });
    const pages = await pagesOf(service, { cookie }, name, { sort: ['at'], limit: 1 });
    expect(pages.flatMap(({ items }) => items.map(({ key }) => key))).toEqual(all?.items.map(({ key }) => key));
    expect(all?.items.length).toBeGreaterThan(3);
  }
}
