/**
 * Random grants, rows and operations: the answers and the stored rows are those of a model without SQL. The seed stays the same; `random-rights.long.test.ts` draws one
 * and runs 20,000 operations.
 */
import { test } from 'vitest';
import { checkRandomRights } from '../support/rights-cases.ts';
import { useService } from '../support/service.ts';

const service = useService();

test(
  'answers and stored rows are those of the model of rights, in 400 operations, and so are explanations (check 29 and check 30 of rights)',
  { timeout: 180_000 },
  async () => {
    await checkRandomRights(service(), 400, 5);
  },
);
