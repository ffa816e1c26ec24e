/**
 * `npm run bench -- rights`: reads, pages, updates and creates by callers whose grants have rules, beside those of a caller without rules. Progress goes to standard
 * error, the figures to standard output.
 */
import { sql } from 'kysely';
import { theService } from '../../src/audit/actor.ts';
import { openStore, type Store } from '../../src/database/port.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import { canonicalText, digestOfRule } from '../../src/rights/rule-document.ts';
import { postgresVersion } from '../lib/database.ts';
import { drive, type RequestOf } from '../lib/load.ts';
import { note, runMeasurement, type Measured } from '../lib/measurement.ts';
import { readOptions } from '../lib/options.ts';
import { startService } from '../lib/processes.ts';
import { json, request } from '../lib/scenarios.ts';
import { seed, seedKey } from '../lib/seed.ts';
import { describeMachine, machineFacts } from './report.ts';
import { table } from './table.ts';

const usage = `npm run bench -- rights [options]

  --orders N        orders, of which each rule covers 1 % (50000)
  --seconds N       length of a measured round (2)
  --rounds N        measured rounds of each, all callers in turn (3)
  --connections N   connections at once (16)
  --json            print one JSON document instead of a table
  --help            print this

DATABASE_URL names a PostgreSQL server on which to create a database for it; without it an embedded one is used, in a temporary directory.
`;

const { values, positive } = readOptions('bench rights', usage, {
  orders: { type: 'string', default: '50000' },
  seconds: { type: 'string', default: '2' },
  rounds: { type: 'string', default: '3' },
  connections: { type: 'string', default: '16' },
  json: { type: 'boolean', default: false },
});
const plan = {
  orders: positive('orders', { whole: true }),
  seconds: positive('seconds'),
  rounds: positive('rounds', { whole: true }),
  connections: positive('connections', { whole: true }),
};

const text = { type: 'string' };
const reference = { type: 'string', format: 'int64' };
const documents: Readonly<Record<string, Record<string, unknown>>> = {
  customer: { type: 'object', properties: { agent: text }, 'x-index': [['agent']] },
  badge: {
    type: 'object',
    properties: { customer: reference, user: text },
    'x-references': { customer: { to: 'customer' } },
    'x-index': [['customer', 'user'], ['user']],
  },
  order: {
    type: 'object',
    properties: { region: text, note: text, day: text, margin: { type: 'string', format: 'decimal' }, customer: reference },
    'x-references': { customer: { to: 'customer' } },
    'x-index': [['region', '-day'], ['-day']],
  },
};

/** The rules of the callers. Each covers the same orders. The costs are relative to the first, which is none. */
const rules: { name: string; rule?: object }[] = [
  { name: 'none' },
  { name: 'field', rule: { filter: { region: 'r7' } } },
  { name: 'field of two values', rule: { filter: { region: { $in: ['r7', 'none'] } } } },
  { name: 'field, without a cell', rule: { filter: { region: 'r7' }, read: ['*', '-margin'] } },
  { name: '$match', rule: { filter: { customer: { $match: { agent: 'ada' } } } } },
  { name: '$match and $some', rule: { filter: { customer: { $match: { $some: { 'badge.customer': { user: 'ada' } } } } } } },
];

let written = 0;
type Caller = (headers: string, keys: readonly string[], customer: string) => RequestOf;
const atKey = (keys: readonly string[], n: number) => `/rest/entity/order/${keys[(n * 7_919) % keys.length]}`;
const operations: Readonly<Record<string, Caller>> = {
  'read by key': (headers, keys) => (n) => request('GET', atKey(keys, n), headers),
  'page by key': (headers) => () => request('GET', '/rest/entity/order?limit=50', headers),
  'page by -day': (headers) => () => request('GET', '/rest/entity/order?limit=50&sort=-day', headers),
  update: (headers, keys) => (n) => request('POST', atKey(keys, n), headers, json({ note: `note ${written++}` })),
  create: (headers, _keys, customer) => () =>
    request('POST', '/rest/entity/order', headers, json({ region: 'r7', customer, day: '00000', note: `new ${written++}` })),
};

await runMeasurement('bench rights', run);

async function run({ url, database, opened }: Measured): Promise<string> {
  note('starting the service');
  const { port } = await startService({ ...database.settings, DATABASE_URL: url }, opened);
  const { users } = await seed(url);
  const store = openStore(url, 2, () => undefined);
  opened.defer(() => store.close());
  note('declaring and filling');
  const { keys, customer } = await fill(store);
  const callers: string[] = [];
  for (const [index, { rule }] of rules.entries()) {
    const user = users[index] ?? '';
    if (rule) await grant(store, user, rule);
    callers.push(`x-api-key: ${await seedKey(url, user)}`);
  }
  const rates: { operation: string; rule: string; perSecond: number; cost: number }[] = [];
  for (const [operation, requestsOf] of Object.entries(operations)) {
    const perSecond = await compare(
      port,
      operation,
      callers.map((headers) => requestsOf(headers, keys, customer)),
    );
    const [without = Number.NaN] = perSecond;
    for (const [index, rate] of perSecond.entries())
      rates.push({ operation, rule: rules[index]?.name ?? '', perSecond: rate, cost: without / rate });
  }
  const machine = machineFacts(await postgresVersion(url));
  if (values.json) return `${JSON.stringify({ machine, plan, rates }, null, 2)}\n`;
  const rows = rates.map(({ operation, rule, perSecond, cost }) => [operation, rule, perSecond.toFixed(0), cost.toFixed(2)]);
  return `${describeMachine(machine)}\n\n${table(['operation', 'rule', 'per second', 'cost, without a rule = 1'], rows)}\n`;
}

/** Stores the entities, and declares their types afterwards. Returns the keys of the orders that each rule covers, and a customer of these. */
async function fill(store: Store): Promise<{ keys: string[]; customer: string }> {
  const { db } = store;
  const insert = async (name: string, fields: string, count: number) => {
    const { rows } = await sql<{ key: string }>`
      insert into entity (name, fields, created_by, updated_by)
      select ${name}, ${sql.raw(fields)}, 'bench', 'bench' from generate_series(0, ${sql.lit(count - 1)}) as n order by n returning key::text`.execute(
      db,
    );
    return rows.map(({ key }) => key);
  };
  const customers = await insert('customer', `jsonb_build_object('agent', case when n % 100 = 7 then 'ada' else 'bob' end)`, 1_000);
  const first = customers[0] ?? '';
  const customerOf = `(${first} + n % 1000)::text`;
  await insert('badge', `jsonb_build_object('customer', ${customerOf}, 'user', case when n % 100 = 7 then 'ada' else 'bob' end)`, 1_000);
  const orders = await insert(
    'order',
    `jsonb_build_object('region', 'r' || n % 100, 'customer', ${customerOf}, 'day', lpad((n % 3650)::text, 5, '0'), 'margin', '1.5', 'note', 'Pays within thirty days.')`,
    plan.orders,
  );
  for (const [name, document] of Object.entries(documents)) await applyChange(store, theService, { name, document, source: 'command' });
  await sql`vacuum analyze`.execute(db);
  return { keys: orders.filter((_, n) => n % 100 === 7), customer: customers[7] ?? '' };
}

/** Gives the user a profile whose only role has the rule for orders, and may refer to customers. */
async function grant({ db }: Store, user: string, rule: object): Promise<void> {
  const digest = digestOfRule(rule);
  await sql`
    with document as (insert into grant_rule (digest, document) values (${digest}, ${canonicalText(rule)}) on conflict do nothing),
      made as (insert into role (name) values (${user}) returning id),
      ruled as (
        insert into role_grant (role_id, entity, action, condition, name)
        select id, 'order', action, ${digest}, 'bench' from made, unnest('{create,read,update}'::text[]) as action
      ),
      label as (insert into role_grant (role_id, entity, action, condition) select id, 'customer', 'label', 'any' from made),
      profile as (insert into profile (name, label) values (${user}, ${user}) returning id),
      joined as (insert into profile_role (profile_id, role_id) select profile.id, made.id from profile, made)
    insert into user_profile (user_id, profile_id, is_default) select account.id, profile.id, false
    from profile, user_account as account where account.name = ${user}`.execute(db);
  await sql`
    delete from user_profile using user_account as account, profile
    where user_id = account.id and profile_id = profile.id and account.name = ${user} and profile.name = 'bench'`.execute(db);
  await sql`update user_profile set is_default = true from user_account as account where user_id = account.id and account.name = ${user}`.execute(
    db,
  );
}

/** Requests per second of each caller. They are measured in turn. */
async function compare(port: number, operation: string, callers: readonly RequestOf[]): Promise<number[]> {
  const totals = callers.map(() => ({ answers: 0, seconds: 0 }));
  for (let round = 0; round <= plan.rounds; round++) {
    note(`${operation}: ${round === 0 ? 'warm-up' : `round ${round} of ${plan.rounds}`}`);
    for (const [index, requestOf] of callers.entries()) {
      const { answers, seconds, refused } = await drive(port, plan.connections, plan.seconds, requestOf);
      if (refused.count > 0)
        throw new Error(`${operation} of ${rules[index]?.name}: ${refused.count} refused, the first: ${refused.first}`);
      const total = totals[index];
      if (!total || round === 0) continue;
      total.answers += answers;
      total.seconds += seconds;
    }
  }
  return totals.map(({ answers, seconds }) => answers / seconds);
}
