/** The check of coverage by `coverage-reporter.ts` at the end of a full run, and its list of exceptions. */
import { describe, expect, test } from 'vitest';
import { operationsOf, readContract } from '../../src/contract/contract.ts';
import { complaints } from '../support/coverage-reporter.ts';
import { readUncovered } from '../support/uncovered.ts';

const declared = operationsOf(readContract().document).flatMap(({ operationId, responses }) =>
  Object.keys(responses).map((status) => `${operationId} ${status}`),
);

describe('test/contract/uncovered.json', () => {
  test('every entry names an operation and a status that openapi.yaml declares, and the reason why no test gets it', () => {
    for (const [pair, reason] of Object.entries(readUncovered())) {
      expect(declared, `${pair} is not in openapi.yaml: take it out of uncovered.json`).toContain(pair);
      expect(reason, `${pair} needs a reason`).toMatch(/\w{3}/);
    }
  });
});

describe('the check of coverage', () => {
  const everything = new Set(declared);

  test('reports nothing when every declared answer was exercised', () => {
    expect(complaints(everything, {})).toEqual([]);
  });

  test('reports a declared answer that no test got, unless it is an exception', () => {
    const without = new Set(everything);
    without.delete('getEntity 304');
    expect(complaints(without, {}).join('\n')).toContain('getEntity 304');
    expect(complaints(without, { 'getEntity 304': 'no reason' })).toEqual([]);
  });

  test('reports an exception that is exercised, so that the list only gets shorter', () => {
    expect(complaints(everything, { 'getEntity 304': 'no reason' }).join('\n')).toContain('getEntity 304');
  });
});
