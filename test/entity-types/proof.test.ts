/** Checks of documents are a class of work. */
import { expect, test } from 'vitest';
import { Admission } from '../../src/admission/admission.ts';
import { DocumentChecks } from '../../src/entity-types/proof.ts';

test('a check waits for the thread in the class `sandbox`, and its user has the cost (rule 101)', async () => {
  const admission = new Admission();
  const checks = new DocumentChecks(admission);
  const costs: [kind: string, amount: number][] = [];
  const queue = admission.queueOf('sandbox');
  const leave = await queue.enter('bob');
  const cost = { add: (kind: string, amount: number) => void costs.push([kind, amount]) };
  // The clock of a processor counts no shorter check.
  const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`p${n}`, { pattern: `^[a-z]{1,20}${n}$` }]));
  const checking = checks.faultsOfUntrusted({ type: 'array', properties }, { userName: 'ada', cost });
  await expect.poll(() => queue.waiting).toBe(1);
  expect(costs).toEqual([]);
  leave();
  expect((await checking).length).toBeGreaterThan(0);
  expect(costs).toEqual([['loop', expect.any(Number)]]);
  expect(costs[0]?.[1]).toBeGreaterThan(0);
});
