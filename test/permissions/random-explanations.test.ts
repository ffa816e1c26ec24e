/** The explanation of a request and the request itself, for random rights, rows and requests. `random-explanations.long.test.ts` has 1,000 of them. */
import { test } from 'vitest';
import { checkExplanations } from '../support/rights-cases.ts';
import { useService } from '../support/service.ts';

const service = useService();

test('the explanation has the status, the code and the faults of the request, for 100 requests', { timeout: 180_000 }, async () => {
  await checkExplanations(service(), 100, 7);
});
