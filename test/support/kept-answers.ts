/**
 * A process that prints how many bytes of each answer it keeps until a whole collection: `kept-answers.ts DATABASE_URL WAY`, with `--expose-gc`.
 * A process of its own, since what other tests keep in a process can keep young objects of this one.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { TimeoutClient } from '../../src/database/driver/timeout-client.ts';

const statements = 400;
const text = `select repeat('x', 20000) as text`;
const prepared = { name: 'repeated', text: 'select repeat($1, $2::int) as text', values: ['x', 20_000] };

const ways: Record<string, (client: TimeoutClient) => Promise<unknown>> = {
  send: (client) => client.send({ name: undefined, text, values: [] }),
  'send, prepared,': (client) => client.send(prepared),
  query: (client) => client.query(text),
};

const [databaseUrl = '', way = ''] = process.argv.slice(2);
const ask = ways[way];
const collect = globalThis.gc;
if (!ask || !collect) throw new Error('Name a way, and start with --expose-gc.');

const client = new TimeoutClient({ connectionString: databaseUrl, query_timeout: 5_000 });
await client.connect();
await collect({ type: 'major', execution: 'async' });
const before = oldBytes();
for (let n = 0; n < statements; n++) {
  await ask(client);
  if (n % 10 === 0) await collect({ type: 'minor', execution: 'async' });
}
console.log(String(Math.round((oldBytes() - before) / statements)));
await client.end();

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;
}
