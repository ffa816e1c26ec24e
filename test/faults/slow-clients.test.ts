/** `npm run test:faults -- slow-clients` also waits until they are disconnected. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { serveBesideSlowClients } from './slow-clients.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('200 clients that send a byte at a time do not keep other clients from being served (rule 80)', async () => {
  const plan = { clients: 200, seconds: 0.5, toTheEnd: false };
  const { violations } = await serveBesideSlowClients(plan, database.url, { DATABASE_URL: database.url }, () => undefined);
  expect(violations).toEqual([]);
});
