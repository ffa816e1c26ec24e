/** `npm run test:faults -- stop` runs longer. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { stopService } from './stop.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

test.each(['1', '2'])(
  'SIGTERM with 64 busy clients and WORKERS=%s: every accepted request is answered, and every acknowledged write is there (rule 92)',
  async (WORKERS) => {
    const plan = { rounds: 1, clients: 64, writes: 300 };
    const { violations, figures } = await stopService(plan, database.url, { DATABASE_URL: database.url, WORKERS }, () => undefined);
    expect(violations).toEqual([]);
    expect(figures['acknowledged writes']).toBeGreaterThanOrEqual(300);
  },
);
