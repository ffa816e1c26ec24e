import { beforeEach, describe, expect, test } from 'vitest';
import { AuditQuota, budgets, type Subject } from '../../src/audit/quota.ts';

let milliseconds = 0;
let quota: AuditQuota;
beforeEach(() => {
  milliseconds = 0;
  quota = new AuditQuota(() => milliseconds);
});

describe.each(budgets)('for %s the audit trail writes', (budget) => {
  const subject = (name: string): Subject => ({ budget, name });
  const ada = subject('ada');
  /** The number of events of this subject, out of `count`, that are written. */
  const written = (count: number, of: (n: number) => Subject, kind: (n: number) => string = () => 'denied') =>
    Array.from({ length: count }, (_, n) => quota.admit(of(n), kind(n))).filter((leftOut) => leftOut !== undefined).length;

  test('each kind once a minute, with the number of events left out', () => {
    expect(quota.admit(ada, 'denied')).toBe(0);
    for (let n = 0; n < 1_000; n++) expect(quota.admit(ada, 'denied')).toBeUndefined();
    milliseconds = 59_999;
    expect(quota.admit(ada, 'denied')).toBeUndefined();
    milliseconds = 60_000;
    expect(quota.admit(ada, 'denied')).toBe(1_001);
    milliseconds = 120_000;
    expect(quota.admit(ada, 'denied')).toBe(0);
    expect(quota.leftOut).toBe(1_001);
  });

  test('at most twenty kinds of one subject, independently of other subjects', () => {
    expect(
      written(
        20,
        () => ada,
        (n) => `denied entity${n}`,
      ),
    ).toBe(20);
    expect(quota.admit(ada, 'the twenty-first')).toBeUndefined();
    expect(quota.admit(subject('bob'), 'denied')).toBe(0);
    milliseconds = 60_000;
    expect(quota.admit(ada, 'the twenty-first')).toBe(1);
  });

  test('at most 300 of all subjects together', () => {
    expect(written(300, (n) => subject(`${n}`))).toBe(300);
    expect(quota.admit(subject('300'), 'denied')).toBeUndefined();
    milliseconds = 59_999;
    expect(quota.admit(subject('301'), 'denied')).toBeUndefined();
    milliseconds = 60_000;
    expect(quota.admit(subject('300'), 'denied')).toBe(1);
    expect(written(1_000, (n) => subject(`${n}`))).toBe(299);
  });

  test('an event although the other budgets are used up', () => {
    for (const other of budgets) if (other !== budget) written(1_000, (n) => ({ budget: other, name: `${n}` }));
    expect(quota.admit(ada, 'denied')).toBe(0);
  });

  test('with bounded memory: of 10,000 subjects the one idle for longest is forgotten with its count, and no other', () => {
    for (const name of ['first', 'second'])
      expect([quota.admit(subject(name), 'x'), quota.admit(subject(name), 'x')]).toEqual([0, undefined]);
    for (let n = 0; n < 9_999; n++) quota.admit(subject(`subject ${n}`), 'x');
    milliseconds = 60_000;
    expect(quota.admit(subject('second'), 'x')).toBe(1);
    expect(quota.admit(subject('first'), 'x')).toBe(0);
  });
});

test('fifteen users can use up the minute of all users, and one user cannot (rule 85)', () => {
  const denied = (name: string, count: number) => {
    for (let n = 0; n < count; n++) quota.admit({ budget: 'users', name }, `denied entity${n}`);
  };
  for (let n = 0; n < 14; n++) denied(`mallory ${n}`, 1_000);
  expect(quota.admit({ budget: 'users', name: 'ada' }, 'denied')).toBe(0);
  denied('mallory 14', 1_000);
  expect(quota.admit({ budget: 'users', name: 'bob' }, 'denied')).toBeUndefined();
});
