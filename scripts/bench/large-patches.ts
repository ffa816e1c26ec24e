/**
 * `npm run bench:patches`: what one user's large patches do to another user. Updates and creates small entities at a moderate rate, first alone and
 * then while another user sends patches of many objects as fast as they are answered. Progress goes to standard error, figures to standard output.
 */
import { postgresVersion } from '../lib/database.ts';
import { note, runMeasurement, type Measured } from '../lib/measurement.ts';
import { drive, pace, type Round } from '../lib/load.ts';
import { readOptions } from '../lib/options.ts';
import { startService } from '../lib/processes.ts';
import { describeMachine, machineFacts } from './report.ts';
import { json, request, scenariosOf, type ScenarioName } from '../lib/scenarios.ts';
import { seed, seedKey, type Seeds } from '../lib/seed.ts';

const usage = `npm run bench:patches -- [options]

  --seconds N       length of each of the two measurements (10)
  --connections N   connections that send large patches (24)
  --objects N       objects in each of these patches (9900)
  --rate N          updates a second, and creates a second (50)
  --json            print one JSON document instead of a text
  --help            print this

DATABASE_URL names a PostgreSQL server on which to create a database for it; without it an embedded one is used, in a temporary directory.
`;

const metricsToken = 'x'.repeat(32);

/** Connections of the user who is measured. */
const measuredConnections = 8;

/** Milliseconds from the moment a request was due until its answer was complete. */
interface Latencies {
  answers: number;
  /** Answers other than 2xx. */
  refused: number;
  p50: number;
  p95: number;
  max: number;
}

interface Figures {
  alone: Record<'updates' | 'creates', Latencies>;
  beside: Record<'updates' | 'creates', Latencies>;
  /** p95 beside the patches over p95 alone. */
  ratio: Record<'updates' | 'creates', number>;
  patches: { bytes: number; perSecond: number; refused: number };
  /** Of both users, beside the patches: milliseconds of the event loop, MiB written and MiB answered a second, and requests refused by their share. */
  ledger: { loop: number; written: number; answered: number; refused: number };
}

const { json: asJson, ...plan } = readPlan();
await runMeasurement('bench:patches', run);

async function run({ url, database, opened }: Measured): Promise<string> {
  note('starting the service');
  const service = await startService({ ...database.settings, DATABASE_URL: url, RATE_LIMIT: 'on', METRICS_TOKEN: metricsToken }, opened);
  note('seeding');
  const seeds = await seed(url);
  const otherKey = await seedKey(url, seeds.users[1] ?? '');
  const machine = machineFacts(await postgresVersion(url));
  const figures = await measure(service.port, seeds, otherKey);
  return asJson ? `${JSON.stringify({ machine, plan, ...figures }, null, 2)}\n` : `${describeMachine(machine)}\n${describe(figures)}`;
}

async function measure(port: number, seeds: Seeds, otherKey: string): Promise<Figures> {
  const both = async (seconds: number) => {
    const [updates, creates] = await Promise.all([paced('update-entity', seconds), paced('create-entity', seconds)]);
    return { updates, creates };
  };
  const paced = async (name: ScenarioName, seconds: number) => {
    const scenario = scenariosOf(seeds).find((candidate) => candidate.name === name);
    if (!scenario) throw new Error(`there is no scenario called ${name}`);
    return latenciesOf(await pace(port, measuredConnections, seconds, scenario.requestOf, plan.rate));
  };
  const patch = json(Object.fromEntries(Array.from({ length: plan.objects }, (_, n) => [`m${n}`, {}])));
  // The last entities, which the measured user reaches last.
  const targets = seeds.keys.slice(-plan.connections);
  const patches = targets.map((key) => request('POST', `/rest/entity/${seeds.entityName}/${key}`, `x-api-key: ${otherKey}`, patch));
  note('warm-up');
  await both(plan.seconds / 2);
  note('alone');
  const alone = await both(plan.seconds);
  note('beside the patches');
  const costsBefore = await readLedger(port);
  const others = drive(port, plan.connections, plan.seconds, (n) => patches[n % patches.length] ?? Buffer.alloc(0));
  const [beside, flood] = await Promise.all([both(plan.seconds), others]);
  const costsAfter = await readLedger(port);
  const perSecond = (name: string, unit: number) => ((costsAfter.get(name) ?? 0) - (costsBefore.get(name) ?? 0)) / plan.seconds / unit;
  const ratio = { updates: beside.updates.p95 / alone.updates.p95, creates: beside.creates.p95 / alone.creates.p95 };
  return {
    alone,
    beside,
    ratio,
    patches: { bytes: patch.text.length, perSecond: (flood.statuses.get(200) ?? 0) / plan.seconds, refused: flood.refused.count },
    ledger: {
      loop: perSecond('costs_total{resource="loop"}', 1),
      written: perSecond('costs_total{resource="written"}', 2 ** 20),
      answered: perSecond('costs_total{resource="answered"}', 2 ** 20),
      refused: perSecond('share_refused_total', 1) * plan.seconds,
    },
  };
}

/** The values of the service's metrics, by name and labels. */
async function readLedger(port: number): Promise<Map<string, number>> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
  const lines = [...(await answer.text()).matchAll(/^entity_service_(\S+) (\S+)$/gm)];
  return new Map(lines.map(([, name = '', value]) => [name, Number(value)]));
}

function latenciesOf({ latencies, refused }: Round): Latencies {
  const sorted = Float64Array.from(latencies).sort();
  const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
  return { answers: sorted.length, refused: refused.count, p50: quantile(0.5), p95: quantile(0.95), max: quantile(1) };
}

function describe({ alone, beside, ratio, patches, ledger }: Figures): string {
  const line = (name: string, { answers, refused, p50, p95, max }: Latencies) =>
    `${name}  p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, max ${max.toFixed(0)} ms (${answers} answers, ${refused} of them not 2xx)\n`;
  return `${plan.rate} updates and creates a second for ${plan.seconds} s, first alone, then beside ${plan.connections} connections of another user that send
patches of ${plan.objects} objects (${(patches.bytes / 1_024).toFixed(0)} KiB)

${line('updates alone ', alone.updates)}${line('updates beside', beside.updates)}${line('creates alone ', alone.creates)}${line('creates beside', beside.creates)}
ratio           p95 of updates ${ratio.updates.toFixed(1)}, of creates ${ratio.creates.toFixed(1)} times that alone; the aim is 5
patches         ${patches.perSecond.toFixed(1)} a second, ${patches.refused} refused
ledger          ${ledger.loop.toFixed(0)} ms of the event loop, ${ledger.written.toFixed(1)} MiB written and ${ledger.answered.toFixed(1)} MiB answered a second, ${ledger.refused} requests refused by their share
`;
}

function readPlan() {
  const { values, positive } = readOptions('bench:patches', usage, {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '24' },
    objects: { type: 'string', default: '9900' },
    rate: { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
  });
  return {
    seconds: positive('seconds'),
    connections: positive('connections', { whole: true }),
    objects: positive('objects', { whole: true }),
    rate: positive('rate'),
    json: values.json,
  };
}
