/**
 * A process that prints how many bytes of each answer it keeps until a whole collection: `kept-answers.ts DATABASE_URL WAY`, with `--expose-gc`.
 * A process of its own, since what other tests keep in a process can keep young objects of this one.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { SettlingClient } from '../../src/database/driver/settling-client.ts';
import { TimeoutClient } from '../../src/database/driver/timeout-client.ts';

const statements = 400;
const text = `select repeat('x', 20000) as text`;
const prepared = { name: 'repeated', text: 'select repeat($1, $2::int) as text', values: ['x', 20_000] };

const limited = (connectionString: string) => new TimeoutClient({ connectionString, query_timeout: 5_000 });
/** Each makes a connection, and what asks it. */
const ways: Record<string, (connectionString: string) => { client: SettlingClient; ask: () => Promise<unknown> }> = {
  send(connectionString) {
    const client = limited(connectionString);
    return { client, ask: () => client.send({ name: undefined, text, values: [] }) };
  },
  'send, prepared,'(connectionString) {
    const client = limited(connectionString);
    return { client, ask: () => client.send(prepared) };
  },
  query(connectionString) {
    const client = limited(connectionString);
    return { client, ask: () => client.query(text) };
  },
  'query without limits'(connectionString) {
    const client = new SettlingClient({ connectionString });
    return { client, ask: () => client.query(text) };
  },
};

const [databaseUrl = '', way = ''] = process.argv.slice(2);
const chosen = ways[way]?.(databaseUrl);
const collect = globalThis.gc;
if (!chosen || !collect) throw new Error('Name a way, and start with --expose-gc.');

const { client, ask } = chosen;
await client.connect();
await collect({ type: 'major', execution: 'async' });
const before = oldBytes();
for (let n = 0; n < statements; n++) {
  await ask();
  if (n % 10 === 0) await collect({ type: 'minor', execution: 'async' });
}
console.log(String(Math.round((oldBytes() - before) / statements)));
await client.end();

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;
}
