import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { TimeoutClient } from '../../../src/database/driver/timeout-client.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;

const statements = 400;
const characters = 20_000;

const text = `select repeat('x', ${characters}) as text`;
const prepared = { name: 'repeated', text: 'select repeat($1, $2::int) as text', values: ['x', characters] };

test.each([
  { way: 'send', ask: (client: TimeoutClient) => client.send({ name: undefined, text, values: [] }) },
  { way: 'send, prepared,', ask: (client: TimeoutClient) => client.send(prepared) },
  { way: 'query', ask: (client: TimeoutClient): Promise<unknown> => client.query(text) },
])('what $way has answered goes with the young objects, and is not kept until the next whole collection', async ({ ask }) => {
  const client = new TimeoutClient({ connectionString: database.url, query_timeout: 5_000 });
  await client.connect();
  onTestFinished(() => client.end());
  collect({ type: 'major' });
  const before = oldBytes();
  for (let n = 0; n < statements; n++) {
    await ask(client);
    if (n % 10 === 0) collect({ type: 'minor' });
  }
  expect((oldBytes() - before) / statements).toBeLessThan(characters / 4);
});

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;
}
