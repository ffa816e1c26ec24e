import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { PatientClient } from '../../src/database/client.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;

const statements = 400;
const characters = 20_000;

test.each([
  { way: 'send', ask: (client: PatientClient, text: string) => client.send({ name: undefined, text, values: [] }) },
  { way: 'query', ask: (client: PatientClient, text: string) => client.query(text) as Promise<unknown> },
])('what $way has answered goes with the young objects, and is not kept until the next whole collection', async ({ ask }) => {
  const client = new PatientClient({ connectionString: database.url, query_timeout: 5_000 });
  await client.connect();
  onTestFinished(() => client.end());
  collect({ type: 'major' });
  const before = oldBytes();
  for (let n = 0; n < statements; n++) {
    await ask(client, `select repeat('x', ${characters}) as text`);
    if (n % 10 === 0) collect({ type: 'minor' });
  }
  expect((oldBytes() - before) / statements).toBeLessThan(characters / 4);
});

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;
}
