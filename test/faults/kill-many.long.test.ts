/** `npm run test:faults -- kill-many` runs longer. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { killService } from './kill.ts';
import { startManyWriters, typesDirectory } from './many.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

test('killed with -9 under batches, bulk creates and imports: each is there once and as a whole, or up to what was reported (rule 88)', async () => {
  const target = {
    settings: { DATABASE_URL: database.url, ENTITY_TYPES_DIR: typesDirectory },
    databaseUrl: () => Promise.resolve(database.url),
  };
  const { violations, figures } = await killService({ kills: 1, writes: 300, clients: 4 }, target, startManyWriters, () => undefined);
  expect(violations).toEqual([]);
  expect(figures['batches and bulk creates']).toBeGreaterThan(0);
  expect(figures['imported files']).toBeGreaterThan(0);
});
