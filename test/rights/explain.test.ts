/** The findings about rows that a caller is told: nothing that two rows which look and answer alike differ in (rule 172). */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { all, everyEntity, type Filter } from '../../src/filter/syntax.ts';
import { disclosedGrants, knownRow } from '../../src/rights/explain.ts';
import { hasField, readFieldSet } from '../../src/rights/field-set.ts';
import type { Grant } from '../../src/rights/grant.ts';

const names = ['a', 'b', 'c'];
type Row = Readonly<Record<string, string | undefined>>;

const equals = (name: string, value: string): Filter => ({
  kind: 'compare',
  field: [name],
  type: 'string',
  operator: '=',
  operand: { kind: 'value', value },
});

/** The tests of a grant as values by name, beside the grant itself. */
interface ModelledGrant {
  grant: Grant;
  tests: Row;
}

const values = fc.constantFrom('x', 'y');
const cells = fc.record({ a: values, b: values, c: values }, { requiredKeys: [] });
const grants = fc.array(
  fc.record({ tests: cells, read: fc.subarray(names) }).map(({ tests, read }): ModelledGrant => {
    const filter = all(Object.entries(tests).flatMap(([name, value]) => (value === undefined ? [] : [equals(name, value)])));
    const set = new Map<string, unknown>();
    return { tests, grant: { kind: 'rule', filter, check: everyEntity, read: readFieldSet(read), write: readFieldSet(['*']), set } };
  }),
  { minLength: 1, maxLength: 3 },
);

const covers = ({ tests }: ModelledGrant, row: Row) => Object.entries(tests).every(([name, value]) => row[name] === value);
const noFields: ReadonlySet<string> = new Set();

/** The knowledge of the row by requests: whether it is readable, its shown cells, and whether a grant of the action covers it. */
function seenOf(reads: readonly ModelledGrant[], actions: readonly ModelledGrant[], row: Row): string {
  const covering = reads.filter((each) => covers(each, row));
  const shown = names.map((name) => (covering.some(({ grant }) => hasField(grant.read, name, noFields)) ? (row[name] ?? null) : null));
  return JSON.stringify([covering.length > 0, shown, actions.some((each) => covers(each, row))]);
}

function toldOf(reads: readonly ModelledGrant[], actions: readonly ModelledGrant[], row: Row) {
  const findings = {
    present: names.filter((name) => row[name] !== undefined),
    reads: reads.map((each) => covers(each, row)),
  };
  const known = knownRow(
    reads.map(({ grant }) => grant),
    findings,
    noFields,
  );
  const tested = actions.map((each) => ({ grant: each.grant, covers: covers(each, row), accepts: undefined }));
  const knowledge = { isKnown: known.isKnown, isKnownAfter: known.isKnown, tellsChecks: true };
  return { told: disclosedGrants(tested, knowledge), known: names.filter(known.isKnown), covering: known.covering.map(({ read }) => read) };
}

test('two rows that requests cannot tell apart are explained alike (rule 172)', () => {
  let alike = 0;
  let told = 0;
  fc.assert(
    fc.property(grants, grants, cells, cells, (reads, actions, one, other) => {
      if (seenOf(reads, actions, one) !== seenOf(reads, actions, other)) return;
      alike += 1;
      const explained = toldOf(reads, actions, one);
      told += explained.told.filter((each) => each.covers !== undefined).length;
      expect(toldOf(reads, actions, other)).toEqual(explained);
    }),
    { numRuns: 20_000, seed: 172 },
  );
  expect(alike).toBeGreaterThan(2_000);
  expect(told).toBeGreaterThan(2_000);
});
