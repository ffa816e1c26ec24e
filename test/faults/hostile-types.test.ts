/** `npm run test:faults -- hostile-types` sends a thousand, and measures time and memory. Here a busy machine may not fail the test. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { sendHostileTypes } from './hostile-types.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('hostile types and values are answered, none with 500, and other clients are served meanwhile (rules 101 and 102)', async () => {
  const plan = { types: 50, files: 0, settleSeconds: 0 };
  const { violations, figures } = await sendHostileTypes(plan, database.url, { DATABASE_URL: database.url }, () => undefined);
  expect(violations).toEqual([]);
  expect(figures).toMatchObject({ types: 50 });
});
