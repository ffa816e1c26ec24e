/** `npm run test:faults -- overload` measures for longer and holds the goodput; here a busy machine may decide nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { overloadService } from './overload.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('four times what can be done: some is done, the rest is 503 with Retry-After, and no request is left without an answer (rule 38)', async () => {
  const plan = { seconds: 0.3, withCrowd: false };
  const { violations, figures } = await overloadService(plan, database.url, { DATABASE_URL: database.url }, () => undefined);
  // How much is measured where nothing else runs.
  expect(violations.filter((violation) => !/goodput|capacity is|waited/.test(violation))).toEqual([]);
  expect(Object.keys(figures)).toHaveLength(3);
});
