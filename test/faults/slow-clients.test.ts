/** `npm run test:faults -- slow-clients` waits until they are turned away. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { serveBesideSlowClients } from './slow-clients.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('200 clients that send a byte at a time keep nobody else from being served (rule 80)', async () => {
  const plan = { clients: 200, seconds: 0.5, toTheEnd: false };
  const { violations } = await serveBesideSlowClients(plan, database.url, { DATABASE_URL: database.url }, () => undefined);
  expect(violations).toEqual([]);
});
