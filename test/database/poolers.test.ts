/** Two replicas behind PgBouncer. `poolers.long.test.ts` has other numbers of connections. */
import { describe } from 'vitest';
import { whyNoPgBouncer } from '../support/pgbouncer.ts';
import { describeWithDirectAddress, describeWithoutDirectAddress } from './poolers.ts';

const reason = whyNoPgBouncer();

describe.skipIf(reason)(`behind PgBouncer in transaction mode (rule 17)${reason ? ` (skipped: ${reason})` : ''}`, () => {
  describeWithoutDirectAddress(2);
  describeWithDirectAddress(4);
});
