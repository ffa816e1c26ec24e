/** `npm run test:faults -- kill` runs longer. test/embedded/crashes.test.ts does the same for the embedded database. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { killService } from './kill.ts';
import { startLedger } from './load.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

test('killed with -9 under load: acknowledged writes, logouts and rotations are there, and no write is incomplete (rule 88)', async () => {
  const target = { settings: { DATABASE_URL: database.url }, databaseUrl: () => Promise.resolve(database.url) };
  const { violations, figures } = await killService({ kills: 1, writes: 600, clients: 8 }, target, startLedger, () => undefined);
  expect(violations).toEqual([]);
  expect(figures['acknowledged writes']).toBeGreaterThanOrEqual(600);
  expect(figures['of them logouts']).toBeGreaterThan(0);
  expect(figures['of them rotations']).toBeGreaterThan(0);
});
