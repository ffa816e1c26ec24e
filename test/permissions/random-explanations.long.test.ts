/** The explanation of a request and the request itself, for 1,000 random requests. */
import { test } from 'vitest';
import { checkExplanations } from '../support/rights-cases.ts';
import { useService } from '../support/service.ts';

const service = useService();

test('the explanation has the status, the code and the faults of the request, for 1,000 requests', { timeout: 1_800_000 }, async () => {
  await checkExplanations(service(), 1_000);
});
