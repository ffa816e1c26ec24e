/**
 * `npm run test:faults`: the faults of test/faults in their long form, each against a separate service and database. Progress goes to
 * standard error, one line at a time; the table of results goes to standard output. Fails when a ledger differs from the rows.
 */
import { parseArgs } from 'node:util';
import { embeddedDatabase, postgresVersion } from '../lib/database.ts';
import { describeMachine, machineFacts } from '../bench/report.ts';
import { faults, type Options } from './catalogue.ts';
import type { Outcome } from '../../test/faults/outcome.ts';

const usage = `npm run faults -- [name …] [options]

  --kills N         number of kills of the service (30)
  --rounds N        number of times that everything fails in a cluster (10)
  --writes N        number of writes to be acknowledged meanwhile (50000)
  --clients N       clients that write (16)
  --seconds N       length of each phase that is measured by time (10)
  --json            print one JSON document instead of a table
  --help            print this

Names (default: all):
${Object.entries(faults)
  .map(([name, { about }]) => `  ${name.padEnd(17)} ${about}`)
  .join('\n')}
`;

const { names, json, ...options } = readOptions();
const results: { name: string; seconds: number; outcome: Outcome }[] = [];
const machine = machineFacts(await versionOfPostgres());
for (const name of names) {
  const startedAt = performance.now();
  const progress = (line: string) => process.stderr.write(`${name}: ${line}\n`);
  progress('begins');
  const outcome = await run(name, progress);
  results.push({ name, seconds: (performance.now() - startedAt) / 1_000, outcome });
  for (const violation of outcome.violations.slice(0, 20)) progress(`WRONG ${violation}`);
  if (outcome.violations.length > 0) process.exitCode = 1;
}
process.stdout.write(json ? `${JSON.stringify({ machine, options, results }, null, 2)}\n` : describe());

async function run(name: string, progress: (line: string) => void): Promise<Outcome> {
  try {
    const fault = faults[name];
    if (!fault) throw new Error('unknown fault');
    return await fault.run(options, progress);
  } catch (error) {
    return { violations: [error instanceof Error ? (error.stack ?? error.message) : String(error)], figures: {} };
  }
}

async function versionOfPostgres(): Promise<string> {
  const database = await embeddedDatabase();
  try {
    return await postgresVersion(await database.open());
  } finally {
    await database.remove();
  }
}

function describe(): string {
  const rows = results.map(({ name, seconds, outcome: { figures, violations } }) => {
    const told = Object.entries(figures).map(([what, figure]) => `${what}: ${figure}`);
    return `| \`${name}\` | ${seconds.toFixed(0)} | ${violations.length === 0 ? 'held' : `${violations.length} WRONG`} | ${told.join('; ')} |`;
  });
  return `${describeMachine(machine)}\n\n| fault | s | promise | figures |\n| --- | --: | --- | --- |\n${rows.join('\n')}\n`;
}

function readOptions(): Options & { names: string[]; json: boolean } {
  const fail = (reason: string): never => {
    process.stderr.write(`test:faults: ${reason}\n\n${usage}`);
    process.exit(2);
  };
  const read = () => {
    try {
      return parseArgs({
        allowPositionals: true,
        options: {
          kills: { type: 'string', default: '30' },
          rounds: { type: 'string', default: '10' },
          writes: { type: 'string', default: '50000' },
          clients: { type: 'string', default: '16' },
          seconds: { type: 'string', default: '10' },
          json: { type: 'boolean', default: false },
          help: { type: 'boolean', default: false },
        },
      });
    } catch (error) {
      return fail(error instanceof Error ? error.message : String(error));
    }
  };
  const { values, positionals } = read();
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  for (const name of positionals) if (!(name in faults)) fail(`there is no fault called ${name}`);
  const number = (name: 'kills' | 'rounds' | 'writes' | 'clients' | 'seconds') => {
    const value = Number(values[name]);
    return Number.isInteger(value) && value > 0 ? value : fail(`--${name} must be a whole number above 0`);
  };
  return {
    names: positionals.length > 0 ? positionals : Object.keys(faults),
    json: values.json,
    kills: number('kills'),
    rounds: number('rounds'),
    writes: number('writes'),
    clients: number('clients'),
    seconds: number('seconds'),
  };
}
