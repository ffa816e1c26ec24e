/**
 * `npm run bench:flood`: what a flood of logins does to everybody else. Reads entities by API key at a moderate rate, first alone and then
 * while 500 connections sign in as fast as they are answered. Progress goes to standard error, figures to standard output.
 */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { readOptions } from '../lib/options.ts';
import { postgresVersion } from '../lib/database.ts';
import { note, runMeasurement, type Measured } from '../lib/measurement.ts';
import { drive } from '../lib/load.ts';
import { residentBytes, startService, type Server } from '../lib/processes.ts';
import { describeMachine, machineFacts } from './report.ts';
import { scenariosOf } from '../lib/scenarios.ts';
import { seed, type Seeds } from '../lib/seed.ts';
import { readAtRate, type Reads } from './reads.ts';

const usage = `npm run bench:flood -- [options]

  --seconds N       length of each of the two measurements (10)
  --connections N   connections that sign in (500)
  --rate N          entity reads a second (50)
  --json            print one JSON document instead of a text
  --help            print this

DATABASE_URL names a PostgreSQL server on which to create a database for it; without it an embedded one is used, in a temporary directory.
`;

/** The work memory of one argon2id hash (rule 36), of which the hashing queue lets a few run at once (rule 38). */
const hashBytes = 19_456 * 1_024;
const memoryPollMilliseconds = 50;

interface Plan {
  seconds: number;
  connections: number;
  rate: number;
}

interface Figures {
  idle: Reads;
  flood: Reads;
  /** p99 of the reads under the flood over p99 without. */
  ratio: number;
  logins: { granted: number; busy: number; other: number; perSecond: number };
  /** Resident, in bytes; undefined where the system does not tell. `loaded` is after logins that nobody floods. */
  memory: { loaded: number | undefined; peak: number | undefined };
  hashing: { running: number; bytes: number };
}

const { json, ...plan } = readPlan();
await runMeasurement('bench:flood', run);

async function run({ url, database, opened }: Measured): Promise<string> {
  note('starting the service');
  const service = await startService({ ...database.settings, DATABASE_URL: url }, opened);
  note('seeding');
  const seeds = await seed(url);
  const machine = machineFacts(await postgresVersion(url));
  const figures = await measure(service, seeds);
  return json ? `${JSON.stringify({ machine, plan, ...figures }, null, 2)}\n` : `${describeMachine(machine)}\n${describe(figures)}`;
}

async function measure(service: Server, seeds: Seeds): Promise<Figures> {
  const login = scenariosOf(seeds).find(({ name }) => name === 'create-session');
  if (!login) throw new Error('there is no scenario of logins');
  const reads = (seconds: number) => readAtRate(service.port, seeds, plan.rate, seconds);
  note('warm-up');
  await Promise.all([reads(plan.seconds / 2), drive(service.port, 4, plan.seconds / 2, login.requestOf)]);
  const loaded = await residentBytes(service);
  note('reads alone');
  const idle = await reads(plan.seconds);
  note('reads under the flood');
  const watch = watchMemory(service);
  // The flood begins before the reads and ends after them.
  const lead = plan.seconds / 10;
  const [flood, { statuses }] = await Promise.all([
    delay(lead * 1_000).then(() => reads(plan.seconds)),
    drive(service.port, plan.connections, plan.seconds + 2 * lead, login.requestOf),
  ]);
  const peak = await watch.stop();
  const granted = statuses.get(200) ?? 0;
  const busy = statuses.get(503) ?? 0;
  const other = [...statuses.values()].reduce((sum, count) => sum + count, 0) - granted - busy;
  const running = Math.min(4, availableParallelism());
  return {
    idle,
    flood,
    ratio: flood.p99 / idle.p99,
    logins: { granted, busy, other, perSecond: granted / (plan.seconds + 2 * lead) },
    memory: { loaded, peak },
    hashing: { running, bytes: running * hashBytes },
  };
}

/** Looks at the memory of the service again and again until stopped, then gives the most it has seen. */
function watchMemory(service: Server): { stop: () => Promise<number | undefined> } {
  let peak: number | undefined;
  const stopped = new AbortController();
  const watch = async () => {
    while (!stopped.signal.aborted) {
      const bytes = await residentBytes(service);
      if (bytes !== undefined) peak = Math.max(peak ?? 0, bytes);
      await delay(memoryPollMilliseconds);
    }
  };
  const watched = watch();
  return {
    async stop() {
      stopped.abort();
      await watched;
      return peak;
    },
  };
}

function describe({ idle, flood, ratio, logins, memory, hashing }: Figures): string {
  const mebibytes = (bytes: number | undefined) => (bytes === undefined ? 'unknown' : `${(bytes / 2 ** 20).toFixed(0)} MiB`);
  const line = (name: string, { answers, refused, p50, p99 }: Reads) =>
    `${name}  p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms (${answers} answers, ${refused} of them other than 200)\n`;
  return `${plan.rate} entity reads a second for ${plan.seconds} s, first alone, then while ${plan.connections} connections sign in

${line('alone     ', idle)}${line('flood     ', flood)}ratio       p99 ${ratio.toFixed(1)} times that alone; the aim is 3
logins      ${logins.perSecond.toFixed(1)} a second: ${logins.granted} granted, ${logins.busy} answered with 503 busy, ${logins.other} otherwise
memory      ${mebibytes(memory.loaded)} resident after some logins, ${mebibytes(memory.peak)} at the peak of the flood
hashing     ${hashing.running} hashes at once, ${mebibytes(hashing.bytes)} of work memory
`;
}

function readPlan(): Plan & { json: boolean } {
  const { values, positive } = readOptions('bench:flood', usage, {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '500' },
    rate: { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
  });
  return { seconds: positive('seconds'), connections: Math.ceil(positive('connections')), rate: positive('rate'), json: values.json };
}
