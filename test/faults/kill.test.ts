/** `npm run test:faults -- kill` for longer; the same for the embedded database is in test/database/embedded/crashes.test.ts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { killService } from './kill.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('killed with -9 under load: every acknowledged write, logout and rotation is there, and no half of one (rule 88)', async () => {
  const target = { settings: { DATABASE_URL: database.url }, databaseUrl: () => Promise.resolve(database.url) };
  const { violations, figures } = await killService({ kills: 1, writes: 600, clients: 8 }, target, () => undefined);
  expect(violations).toEqual([]);
  expect(figures['acknowledged writes']).toBeGreaterThanOrEqual(600);
  expect(figures['of them logouts']).toBeGreaterThan(0);
  expect(figures['of them rotations']).toBeGreaterThan(0);
});
