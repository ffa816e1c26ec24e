/**
 * `npm run bench -- bulk`: entities per second by bulk creates and by imports, beside the raw limit, and an atomic batch of 20 creates beside a single one.
 * The raw limit is one `insert` of the fields of 500 entities, with nothing else. Progress goes to standard error, the figures to standard output.
 */
import { Client } from 'pg';
import { postgresVersion } from '../lib/database.ts';
import { note, runMeasurement, type Measured } from '../lib/measurement.ts';
import { readOptions } from '../lib/options.ts';
import { startService } from '../lib/processes.ts';
import { fieldsOf, seed, seedKey } from '../lib/seed.ts';
import { describeMachine, machineFacts } from './report.ts';
import { table } from './table.ts';

const usage = `npm run bench -- bulk [options]

  --entities N      entities of each measurement (50000)
  --requests N      single creates, and batches of 20 (200)
  --json            print one JSON document instead of a table
  --help            print this

DATABASE_URL names a PostgreSQL server on which to create a database for it; without it an embedded one is used, in a temporary directory.
`;

interface Rate {
  name: string;
  entitiesPerSecond: number;
}

const { values, positive } = readOptions('bench bulk', usage, {
  entities: { type: 'string', default: '50000' },
  requests: { type: 'string', default: '200' },
  json: { type: 'boolean', default: false },
});
const plan = { entities: positive('entities', { whole: true }), requests: positive('requests', { whole: true }) };
await runMeasurement('bench bulk', run);

async function run({ url, database, opened }: Measured): Promise<string> {
  note('starting the service');
  const { port } = await startService({ ...database.settings, DATABASE_URL: url }, opened);
  const { apiKey, users } = await seed(url);
  const keys = [apiKey, await seedKey(url, users[1] ?? '')];
  const send = async (path: string, body: string, { type = 'application/json', user = 0 } = {}): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': keys[user] ?? '', 'content-type': type },
      body,
    });
    const text = await answer.text();
    if (!answer.ok || text.includes('"done":false,"problem"')) throw new Error(`${path}: ${answer.status} ${text.slice(0, 500)}`);
    return text;
  };
  const entities = Array.from({ length: plan.entities }, (_, n) => JSON.stringify(fieldsOf(n)));
  const bulks = slices(entities, 1_000).map((items) => `[${items.join()}]`);
  const cells = (n: number) => `Analytical Engines ${n} Ltd,accounts.${n}@example.com,London,SW1Y 4JH,12500.5,Pays within thirty days.`;
  const csv = ['company,email,address.city,address.postcode,creditLimit,note', ...entities.map((_, n) => cells(n))].join('\n');
  const rates: Rate[] = [];
  const measure = async (name: string, work: () => Promise<unknown>) => {
    note(name);
    const seconds = await secondsOf(work);
    rates.push({ name, entitiesPerSecond: plan.entities / seconds });
  };
  await measure('raw limit: insert of 500', () => insertRaw(url, entities));
  await measure('bulk of 1,000, one after the other', () => inTurn(bulks, (body) => send('/rest/entity/one/bulk', body)));
  await measure('bulk of 1,000, two users at once', () =>
    inHalves(bulks, (half, user) => inTurn(half, (body) => send('/rest/entity/one/bulk', body, { user }))),
  );
  await measure('import of NDJSON', () => send('/rest/entity/two/import', entities.join('\n'), { type: 'application/x-ndjson' }));
  await measure('import of NDJSON, two users at once', () =>
    inHalves(entities, (half, user) => send('/rest/entity/two/import', half.join('\n'), { type: 'application/x-ndjson', user })),
  );
  await measure('import of CSV', () => send('/rest/entity/three/import', csv, { type: 'text/csv' }));
  await measure('export of NDJSON', async () => {
    await (await fetch(`http://127.0.0.1:${port}/rest/entity/two/export`, { headers: { 'x-api-key': apiKey } })).arrayBuffer();
  });
  note('batches');
  const requests = Array.from({ length: plan.requests }, (_, n) => n);
  const operations = Array.from({ length: 20 }, (_, n) => ({ op: 'create', name: 'four', fields: fieldsOf(n) }));
  const single = (await secondsOf(() => inTurn(requests, (n) => send('/rest/entity/four', JSON.stringify(fieldsOf(n)))))) / plan.requests;
  const batch = (await secondsOf(() => inTurn(requests, () => send('/rest/batch', JSON.stringify({ operations }))))) / plan.requests;
  const costs = { singleMs: single * 1_000, batchMs: batch * 1_000, ratio: batch / single };
  const machine = machineFacts(await postgresVersion(url));
  if (values.json) return `${JSON.stringify({ machine, plan, rates, costs }, null, 2)}\n`;
  const [limit] = rates;
  const rows = rates.map(({ name, entitiesPerSecond }) => [
    name,
    entitiesPerSecond.toFixed(0),
    name.startsWith('export') || !limit ? '-' : (entitiesPerSecond / limit.entitiesPerSecond).toFixed(2),
  ]);
  const cost = [
    ['a single create', costs.singleMs.toFixed(2), '1.00'],
    ['an atomic batch of 20 creates', costs.batchMs.toFixed(2), costs.ratio.toFixed(2)],
  ];
  return `${describeMachine(machine)}\n\n${table(['way', 'entities per second', 'of the limit'], rows)}\n\n${table(['request', 'ms', 'single = 1'], cost)}\n`;
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await work(item);
}

async function inHalves<T>(items: readonly T[], work: (half: readonly T[], index: number) => Promise<unknown>): Promise<void> {
  await Promise.all(slices(items, Math.ceil(items.length / 2)).map((half, index) => work(half, index)));
}

function slices<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}

async function insertRaw(url: string, entities: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('create table raw_limit (key bigint generated always as identity primary key, fields jsonb not null)');
    for (const some of slices(entities, 500))
      await client.query('insert into raw_limit (fields) select unnest($1::jsonb[]) returning key', [some]);
  } finally {
    await client.end();
  }
}
