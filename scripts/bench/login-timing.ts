/**
 * `npm run timing`: whether the time of a refused login tells which user names exist (security rule 42). A wrong password for a known and
 * for an unknown user in turn, against a real service on a database of its own. Progress goes to standard error, figures to standard output.
 */
import { Client } from 'pg';
import { postgresVersion } from '../lib/database.ts';
import { note, runMeasurement, type Measured } from '../lib/measurement.ts';
import { ask } from '../lib/load.ts';
import { readOptions } from '../lib/options.ts';
import { startService } from '../lib/processes.ts';
import { describeMachine, machineFacts } from './report.ts';
import { request } from '../lib/scenarios.ts';
import { seed } from '../lib/seed.ts';
import { compareSamples, median, type SampleComparison } from './significance.ts';

const usage = `npm run timing -- [options]

  --pairs N     how many pairs of logins (400)
  --json        print one JSON document instead of a text
  --help        print this

DATABASE_URL names a PostgreSQL server on which to create a database for it; without it an embedded one is used, in a temporary directory.
`;

/** Not counted: until the service has compiled what it runs, whoever comes first is slower. */
const warmUpPairs = 20;

const plan = readPlan();
await runMeasurement('timing', run);

async function run({ url, database, opened }: Measured): Promise<string> {
  const { pairs, json } = plan;
  note('starting the service');
  const { port } = await startService({ ...database.settings, DATABASE_URL: url }, opened);
  const { users } = await seed(url);
  const client = new Client({ connectionString: url });
  await client.connect();
  opened.defer(() => client.end());

  /** Milliseconds until a wrong password for this name is refused. Throws when it is not looked at. */
  const refuse = async (user: string): Promise<number> => {
    const body = new URLSearchParams({ user, password: 'a wrong guess at a password' }).toString();
    const bytes = request('POST', '/auth', 'accept: application/json', { type: 'application/x-www-form-urlencoded', text: body });
    const start = performance.now();
    const { status } = await ask(port, bytes);
    const milliseconds = performance.now() - start;
    if (status !== 401) throw new Error(`a wrong password was answered with ${status}`);
    return milliseconds;
  };

  const known: number[] = [];
  const unknown: number[] = [];
  for (let pair = -warmUpPairs; pair < pairs; pair += 1) {
    if (pair % 100 === 0) process.stderr.write(`${pair} of ${pairs} pairs\n`);
    // Throttling would answer without a look at the password (rules 39 and 40).
    await client.query('delete from login_attempt');
    const names = { known: users[Math.abs(pair) % users.length] ?? '', unknown: `nobody-${Math.abs(pair) % users.length}` };
    // Each goes first in every other pair, so that being first favours neither.
    const order = pair % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const which of order) {
      const milliseconds = await refuse(names[which]);
      if (pair >= 0) (which === 'known' ? known : unknown).push(milliseconds);
    }
  }
  const machine = machineFacts(await postgresVersion(url));
  const figures = { known: median(known), unknown: median(unknown), ...compareSamples(known, unknown) };
  return json ? `${JSON.stringify({ machine, pairs, ...figures }, null, 2)}\n` : describe(describeMachine(machine), pairs, figures);
}

function describe(machine: string, pairs: number, figures: SampleComparison & { known: number; unknown: number }): string {
  const ms = (milliseconds: number) => `${milliseconds.toFixed(3)} ms`;
  const [from, to] = figures.interval;
  const verdict =
    Math.abs(figures.z) < 1.96
      ? 'The two cannot be told apart at the level of 5 %.'
      : 'The two differ at the level of 5 %: on a quiet machine, run it again; if it stays, find out why.';
  return `${machine}
${pairs} pairs of refused logins, in turn

known user    median ${ms(figures.known)}
unknown user  median ${ms(figures.unknown)}
difference    median ${ms(figures.difference)} within a pair, 95 % interval ${ms(from)} to ${ms(to)} (bootstrap)
Mann-Whitney  z = ${figures.z.toFixed(2)}, p = ${figures.p.toFixed(3)}
${verdict}
`;
}

function readPlan(): { pairs: number; json: boolean } {
  const { values, positive, fail } = readOptions('timing', usage, {
    pairs: { type: 'string', default: '400' },
    json: { type: 'boolean', default: false },
  });
  const pairs = positive('pairs', { whole: true });
  return pairs >= 10 ? { pairs, json: values.json } : fail('--pairs must be 10 or more');
}
