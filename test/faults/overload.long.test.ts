/** `npm run test:faults -- overload` measures longer and checks the goodput. Here a busy machine may not fail the test. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { overloadService } from './overload.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('at four times the capacity some requests succeed, the others are 503 with Retry-After, all are answered (rule 38)', async () => {
  const plan = { seconds: 0.3, withCrowd: false };
  const { violations, figures } = await overloadService(plan, database.url, { DATABASE_URL: database.url }, () => undefined);
  // The quantities are checked only where nothing else runs.
  expect(violations.filter((violation) => !/goodput|capacity is|waited/.test(violation))).toEqual([]);
  expect(Object.keys(figures)).toHaveLength(3);
});
