/** Two replicas behind PgBouncer, with more numbers of connections than `poolers.test.ts`. */
import { describe } from 'vitest';
import { whyNoPgBouncer } from '../support/pgbouncer.ts';
import { describeWithDirectAddress, describeWithoutDirectAddress } from './poolers.ts';

const reason = whyNoPgBouncer();

describe.skipIf(reason)(`behind PgBouncer in transaction mode (rule 17)${reason ? ` (skipped: ${reason})` : ''}`, () => {
  for (const connections of [1, 3, 10]) describeWithoutDirectAddress(connections);
  describeWithDirectAddress(1);
});
