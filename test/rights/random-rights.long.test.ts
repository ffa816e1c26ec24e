/** The random test of rights, with 20,000 operations. */
import { test } from 'vitest';
import { checkRandomRights } from '../support/rights-cases.ts';
import { useService } from '../support/service.ts';

const service = useService();

test('answers and stored rows are those of the model of rights, in 20,000 operations', { timeout: 3_600_000 }, async () => {
  await checkRandomRights(service(), 20_000);
});
