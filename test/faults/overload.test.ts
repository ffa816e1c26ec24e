/** `npm run test:faults -- overload` measures for longer and holds the goodput; here a busy machine may decide nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { overloadService } from './overload.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('four times the sign-ins that can be done: some are done, the others are 503 with Retry-After, and none is left without an answer (rule 38)', async () => {
  const { violations, figures } = await overloadService(0.5, database.url, { DATABASE_URL: database.url }, () => undefined);
  // How many is measured where nothing else runs.
  expect(violations.filter((violation) => !/goodput|capacity/.test(violation))).toEqual([]);
  expect(Number(figures['granted (1/s)'])).toBeGreaterThan(0);
});
