/** The table of classes: its numbers, and the page that is made of it. `npm test -- test/admission/classes.test.ts --update` writes the page anew. */
import { expect, test } from 'vitest';
import { Admission } from '../../src/admission/admission.ts';
import { classNames, classOf } from '../../src/admission/classes.ts';
import { describeClasses } from '../../src/admission/page.ts';

test('a user has less than all places of the process in each class (rule 165)', () => {
  const both = classNames.map(classOf).flatMap(({ user, process }) => (user && process ? [{ user, process }] : []));
  expect(both.length).toBeGreaterThan(5);
  for (const { user, process } of both) expect(user[0]).toBeLessThan(process[0]);
});

test('a user has less than all connections of the pool, whatever its size (rule 165)', async () => {
  for (const connections of [2, 8, 40]) {
    const pool = new Admission({ connections }).queueOf('pool');
    for (let n = 1; n < connections; n++) await pool.enter('ada');
    void pool.enter('ada').catch(() => undefined);
    await pool.enter('bob');
    expect([pool.running, pool.waiting, pool.limit]).toEqual([connections, 1, connections]);
  }
});

test('a job has waited for twelve seconds at most, of the 15 that a request has', () => {
  const waitOf = (name: (typeof classNames)[number]): number => {
    const { user, process, within, places } = classOf(name);
    return (user?.[2] ?? 0) + (process?.[2] ?? 0) + (within ? waitOf(within) : 0) + (places ? waitOf(places) : 0);
  };
  expect(waitOf('aggregation')).toBe(12_000);
  for (const name of classNames) expect(waitOf(name), name).toBeLessThanOrEqual(12_000);
});

test('generated/admission.md shows the table', async () => {
  await expect(describeClasses()).toMatchFileSnapshot('../../generated/admission.md');
});
