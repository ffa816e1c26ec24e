/**
 * Writes under rules while another transaction takes the rows out of these rules: nothing is written (rule 179). `rights.long.test.ts`
 * has 500 rounds of each.
 */
import { beforeAll, expect, test } from 'vitest';
import { racedWrites, RightsRaces, type RacedRule } from '../support/rights-races.ts';
import { useService } from '../support/service.ts';

const service = useService();
let races: RightsRaces;
beforeAll(async () => {
  races = await RightsRaces.open(service());
});

const rounds = 2;
const cases = (['own', 'agent', 'badge'] satisfies RacedRule[]).flatMap((rule) => racedWrites.map((write) => [write, rule] as const));

test.each(cases)(
  `404 — %s under the rule %s, in ${rounds} rounds (check 9 and check 10 of rights) (rule 179)`,
  { timeout: 60_000 },
  async (write, rule) => {
    for (let round = 0; round < rounds; round++) await races.run(rule, write);
    expect.hasAssertions();
  },
);
