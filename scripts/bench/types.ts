/**
 * `npm run bench -- types`: creates and updates of entities with a declared type, beside those of a name without a type. Progress goes to standard
 * error, the figures to standard output.
 */
import { theService } from '../../src/audit/actor.ts';
import { openStore, type Store } from '../../src/database/port.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import { postgresVersion } from '../lib/database.ts';
import { ask, drive, type RequestOf } from '../lib/load.ts';
import { note, runMeasurement, type Measured } from '../lib/measurement.ts';
import { readOptions } from '../lib/options.ts';
import { startService } from '../lib/processes.ts';
import { json, request } from '../lib/scenarios.ts';
import { seed } from '../lib/seed.ts';
import { describeMachine, machineFacts } from './report.ts';
import { table } from './table.ts';

const usage = `npm run bench -- types [options]

  --seconds N       length of a measured round (3)
  --rounds N        measured rounds of each, all names in turn (3)
  --connections N   connections at once (32)
  --json            print one JSON document instead of a table
  --help            print this

DATABASE_URL names a PostgreSQL server on which to create a database for it; without it an embedded one is used, in a temporary directory.
`;

const text = { type: 'string', maxLength: 200 };
const schema = {
  type: 'object',
  additionalProperties: false,
  properties: { company: text, city: text, credit: { type: 'string', format: 'decimal' }, note: text },
};
/** The entity names, and what is declared of each. The costs are relative to the first. */
const names: { name: string; type: string; document?: object }[] = [
  { name: 'plain', type: 'none' },
  { name: 'checked', type: 'a schema' },
  { name: 'indexed', type: 'a schema and two indexes', document: { 'x-index': [['city'], ['credit']] } },
  { name: 'unique', type: 'a schema and a unique rule', document: { 'x-unique': [{ fields: ['company'] }] } },
];
const entityCount = 5_000;
const fieldsOf = (n: number) => ({ company: `Analytical Engines ${n} Ltd`, city: `City ${n % 100}`, credit: String(n), note: 'new' });

/** Each value that is written is another one. */
let written = entityCount;
const operations: Record<string, (name: string, keys: readonly string[], headers: string) => RequestOf> = {
  create: (name, _keys, headers) => () => request('POST', `/rest/entity/${name}`, headers, json(fieldsOf(written++))),
  'update of note': (name, keys, headers) => updates(name, keys, headers, (n) => ({ note: `note ${n}` })),
  'update of credit': (name, keys, headers) => updates(name, keys, headers, (n) => ({ credit: String(n) })),
};

function updates(name: string, keys: readonly string[], headers: string, patchOf: (n: number) => object): RequestOf {
  const stride = 7_919;
  return (n) => request('POST', `/rest/entity/${name}/${keys[(n * stride) % keys.length]}`, headers, json(patchOf(written++)));
}

interface Rate {
  operation: string;
  type: string;
  perSecond: number;
  /** The rate without a type divided by this one. */
  cost: number;
}

const { values, positive } = readOptions('bench types', usage, {
  seconds: { type: 'string', default: '3' },
  rounds: { type: 'string', default: '3' },
  connections: { type: 'string', default: '32' },
  json: { type: 'boolean', default: false },
});
const plan = {
  seconds: positive('seconds'),
  rounds: positive('rounds', { whole: true }),
  connections: positive('connections', { whole: true }),
};
await runMeasurement('bench types', run);

async function run({ url, database, opened }: Measured): Promise<string> {
  note('starting the service');
  const { port } = await startService({ ...database.settings, DATABASE_URL: url }, opened);
  const headers = `x-api-key: ${(await seed(url)).apiKey}`;
  const store = openStore(url, 2, () => undefined);
  opened.defer(() => store.close());
  note('declaring and filling');
  const keys = new Map<string, string[]>();
  for (const { name, type, document } of names) {
    if (type !== 'none') await declare(store, name, { ...schema, ...document });
    keys.set(name, await fill(port, name, headers));
  }
  const rates: Rate[] = [];
  for (const [operation, requestsOf] of Object.entries(operations)) {
    const perSecond = await compare(port, operation, (name) => requestsOf(name, keys.get(name) ?? [], headers));
    const [without = Number.NaN] = perSecond;
    for (const [index, rate] of perSecond.entries())
      rates.push({ operation, type: names[index]?.type ?? '', perSecond: rate, cost: without / rate });
  }
  const machine = machineFacts(await postgresVersion(url));
  if (values.json) return `${JSON.stringify({ machine, plan, rates }, null, 2)}\n`;
  const rows = rates.map(({ operation, type, perSecond, cost }) => [operation, type, perSecond.toFixed(0), cost.toFixed(2)]);
  return `${describeMachine(machine)}\n\n${table(['operation', 'type', 'per second', 'cost, without a type = 1'], rows)}\n`;
}

async function declare(store: Store, name: string, document: Record<string, unknown>): Promise<void> {
  await applyChange(store, theService, { name, document, source: 'command' });
}

/** Creates the entities that are updated. Returns their keys. */
async function fill(port: number, name: string, headers: string): Promise<string[]> {
  const keys: string[] = [];
  for (let from = 0; from < entityCount; from += 1_000) {
    const some = Array.from({ length: 1_000 }, (_, n) => fieldsOf(from + n));
    const { status, body } = await ask(port, request('POST', `/rest/entity/${name}/bulk`, headers, json(some)));
    if (status !== 200) throw new Error(`bulk of ${name}: ${status} ${body.slice(0, 500)}`);
    keys.push(...(JSON.parse(body) as { items: { key: string }[] }).items.map(({ key }) => key));
  }
  return keys;
}

/** Requests per second for each name. The names are measured in turn. */
async function compare(port: number, operation: string, requestsOf: (name: string) => RequestOf): Promise<number[]> {
  const totals = names.map(() => ({ answers: 0, seconds: 0 }));
  for (let round = 0; round <= plan.rounds; round++) {
    note(`${operation}: ${round === 0 ? 'warm-up' : `round ${round} of ${plan.rounds}`}`);
    for (const [index, { name }] of names.entries()) {
      const { answers, seconds, refused } = await drive(port, plan.connections, plan.seconds, requestsOf(name));
      if (refused.count > 0) throw new Error(`${operation} of ${name}: ${refused.count} refused, the first: ${refused.first}`);
      const total = totals[index];
      if (!total || round === 0) continue;
      total.answers += answers;
      total.seconds += seconds;
    }
  }
  return totals.map(({ answers, seconds }) => answers / seconds);
}
