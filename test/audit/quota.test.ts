import { beforeEach, describe, expect, test } from 'vitest';
import { AuditQuota } from '../../src/audit/quota.ts';

let milliseconds = 0;
let quota: AuditQuota;
beforeEach(() => {
  milliseconds = 0;
  quota = new AuditQuota(() => milliseconds);
});

describe('the audit trail takes of refusals', () => {
  test('each kind once a minute, and is told how many it has missed', () => {
    expect(quota.admit('ada', 'denied')).toBe(0);
    for (let n = 0; n < 1_000; n++) expect(quota.admit('ada', 'denied')).toBeUndefined();
    milliseconds = 59_999;
    expect(quota.admit('ada', 'denied')).toBeUndefined();
    milliseconds = 60_000;
    expect(quota.admit('ada', 'denied')).toBe(1_001);
    milliseconds = 120_000;
    expect(quota.admit('ada', 'denied')).toBe(0);
  });

  test('twenty kinds of one subject, however inventive it is, without costing another subject anything', () => {
    const admitted = Array.from({ length: 100 }, (_, n) => quota.admit('ada', `denied entity${n}`)).filter(
      (answer) => answer !== undefined,
    );
    expect(admitted).toHaveLength(20);
    expect(quota.admit('bob', 'denied')).toBe(0);
  });

  test('300 of all subjects together', () => {
    const flood = () => Array.from({ length: 1_000 }, (_, n) => quota.admit(`address ${n}`, 'limited')).filter((answer) => answer === 0);
    expect(flood()).toHaveLength(300);
    milliseconds = 60_000;
    expect(quota.admit('address 999', 'limited')).toBe(1);
  });

  test('no memory without bound: the longest silent of 10,000 subjects is forgotten', () => {
    expect(quota.admit('first', 'x')).toBe(0);
    expect(quota.admit('first', 'x')).toBeUndefined();
    for (let n = 0; n < 10_000; n++) quota.admit(`subject ${n}`, 'x');
    milliseconds = 60_000;
    expect(quota.admit('first', 'x')).toBe(0);
    expect(quota.admit('subject 9999', 'x')).toBe(1);
  });
});
