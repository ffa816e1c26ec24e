/**
 * `npm run bench:watched`: what it costs the service to be watched. Services that differ in this alone take turns on one database, and the
 * processor time of each is divided by its requests. Progress goes to standard error, the figures to standard output.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readOptions } from '../lib/options.ts';
import { postgresVersion } from '../lib/database.ts';
import { note, runMeasurement, type Measured } from '../lib/measurement.ts';
import { drive } from '../lib/load.ts';
import { processorMicroseconds, startService, type Server } from '../lib/processes.ts';
import { describeMachine, machineFacts } from './report.ts';
import { scenariosOf, type Scenario } from '../lib/scenarios.ts';
import { seed } from '../lib/seed.ts';
import { table } from './table.ts';
import { median } from './significance.ts';

const usage = `npm run bench:watched -- [options]

  --rounds N        measured rounds of each, in turn (30)
  --seconds N       length of a round (0.3)
  --connections N   connections at once (32)
  --help            print this

DATABASE_URL names a PostgreSQL server on which to create a database for it; without it an embedded one is used, in a temporary directory.
`;

const measured = ['get-entity-by-session', 'create-entity'];

interface Watched {
  name: string;
  server: Server;
  /** Of each round, in microseconds of processor time. */
  perRequest: number[];
}

const { rounds, seconds, connections } = readPlan();
/** Rounds that do not count. */
const warmUps = Math.min(8, rounds);
await runMeasurement('bench:watched', run);

async function run({ url, database, opened }: Measured): Promise<string> {
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: await startCollector(opened) };
  const ways = [
    { name: 'not watched', settings: {} },
    { name: 'metrics', settings: { METRICS_TOKEN: 'x'.repeat(32) } },
    { name: 'traces, 1 %', settings: { ...traces, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' } },
    { name: 'traces', settings: traces },
  ];
  const servers: { name: string; server: Server }[] = [];
  for (const { name, settings } of ways) {
    note(`starting: ${name}`);
    servers.push({ name, server: await startService({ ...database.settings, DATABASE_URL: url, ...settings }, opened) });
  }
  note('seeding');
  const scenarios = scenariosOf(await seed(url)).filter(({ name }) => measured.includes(name));
  const machine = machineFacts(await postgresVersion(url));
  const rows: string[][] = [];
  for (const scenario of scenarios) rows.push([scenario.name, ...describe(await measure(scenario, servers))]);
  const head = ['CPU µs / request', ...ways.map(({ name }) => name)];
  return `${describeMachine(machine)}\n${rounds} rounds of ${seconds} s each in turn, ${connections} connections; medians\n\n${table(head, rows)}\n`;
}

/** Takes whatever it is sent, and looks at none of it. */
async function startCollector(opened: AsyncDisposableStack): Promise<string> {
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  opened.defer(() => {
    collector.closeAllConnections();
    collector.close();
  });
  return `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
}

async function measure(scenario: Scenario, servers: { name: string; server: Server }[]): Promise<Watched[]> {
  const all: Watched[] = servers.map((one) => ({ ...one, perRequest: [] }));
  note(scenario.name);
  for (let round = -warmUps; round < rounds; round++) {
    // Each goes first in its turn.
    const first = (round + warmUps) % all.length;
    for (const { name, server, perRequest } of [...all.slice(first), ...all.slice(0, first)]) {
      const before = await processorMicroseconds(server);
      const { answers, statuses } = await drive(server.port, connections, seconds, scenario.requestOf);
      const after = await processorMicroseconds(server);
      if (before === undefined || after === undefined) throw new Error('this system does not tell the processor time of others');
      const other = [...statuses.keys()].filter((status) => status < 200 || status > 299);
      if (other.length > 0) throw new Error(`${scenario.name}: ${name} answered ${other.join(', ')}`);
      if (round >= 0) perRequest.push((after - before) / answers);
    }
  }
  return all;
}

/** The median of the first, and by how much the others are above the first in the same round, which may be one that a busy machine has slowed. */
function describe([plain, ...others]: Watched[]): string[] {
  const usual = plain?.perRequest ?? [];
  const more = others.map(({ perRequest }) => median(perRequest.map((value, round) => value / (usual[round] ?? Number.NaN))) - 1);
  return [`${median(usual).toFixed(0)} µs`, ...more.map((share) => `${share < 0 ? '' : '+'}${(share * 100).toFixed(0)} %`)];
}

function readPlan(): { rounds: number; seconds: number; connections: number } {
  const { positive } = readOptions('bench:watched', usage, {
    rounds: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '0.3' },
    connections: { type: 'string', default: '32' },
  });
  return {
    rounds: positive('rounds', { whole: true }),
    seconds: positive('seconds'),
    connections: positive('connections', { whole: true }),
  };
}
