/** `npm run test:faults -- stop` runs longer. `stop.long.test.ts` has one process. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { stopService } from './stop.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('SIGTERM with 64 busy clients and WORKERS=2: every accepted request is answered, and every acknowledged write is there (rule 92)', async () => {
  const plan = { rounds: 1, clients: 64, writes: 300 };
  const { violations, figures } = await stopService(plan, database.url, { DATABASE_URL: database.url, WORKERS: '2' }, () => undefined);
  expect(violations).toEqual([]);
  expect(figures['acknowledged writes']).toBeGreaterThanOrEqual(300);
});
