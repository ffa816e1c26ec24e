/**
 * `npm run bench`: measures the service against the raw limit of its runtime and database, and against its peers when asked to
 * (docs/performance.md). Progress goes to standard error, the figures to standard output.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { databaseOn, embeddedDatabase, postgresVersion } from '../lib/database.ts';
import { compare, type Comparison, type Plan } from './measure.ts';
import { readOptions } from '../lib/options.ts';
import { installPeers } from './peers.ts';
import type { RunningPeer } from './peers/peer.ts';
import { residentBytes, startLimit, startService, type Server } from '../lib/processes.ts';
import { describeReport, machineFacts, type Memory, type Report } from './report.ts';
import { scenarioNames, scenariosOf } from '../lib/scenarios.ts';
import { seed } from '../lib/seed.ts';

const usage = `npm run bench -- [options]

  --seconds N       length of a measured round (5)
  --rounds N        measured rounds of each, all servers in turn (3)
  --connections N   connections at once (32)
  --only NAME       one of ${scenarioNames.join(', ')}, start-up (the start without data too); may be repeated
  --peers           measure Parse Server and Directus too, which are installed from the npm registry if they have not been
  --lean            start the service and the raw limit as "npm run start:lean" does, instead of "npm start"
  --json            print one JSON document instead of tables
  --help            print this

DATABASE_URL names a PostgreSQL server on which to create a database for it; without it an embedded one is used, in a temporary directory.
LOG_LEVEL and DATABASE_POOL_SIZE are handed on to the service, DATABASE_POOL_SIZE to the peers too.
`;

const idleMilliseconds = 1_000;
const { values, wanted, plan } = readPlan();
const note = (text: string) => process.stderr.write(`${text}\n`);

const opened = new AsyncDisposableStack();
let closing: Promise<void> | undefined;
const close = () => (closing ??= opened.disposeAsync());
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (closing) return;
    note('stopping');
    void close().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  });
}

try {
  const report = await run();
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : `\n${describeReport(report)}\n`);
} catch (error) {
  // What was under way when everything was taken down fails too, and says nothing.
  if (!closing) note(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await close();
}

async function run(): Promise<Report> {
  const startPeersOn = values.peers ? await installPeers(note, opened) : undefined;
  const given = process.env['DATABASE_URL'];
  const database = given ? await databaseOn(given) : await embeddedDatabase();
  opened.defer(() => database.remove());
  const startUp: Report['startUp'] = [];
  const start = async (name: string) => {
    note(`start: ${name}`);
    const service = await startService(database.settings, opened, values);
    startUp.push({ name, milliseconds: service.startMilliseconds });
    return service;
  };
  if (wanted.includes('start-up')) {
    await (await start('first start, without data')).stop();
    if (database.embedded) await (await start('second start, embedded database included')).stop();
  }
  const databaseUrl = await database.open();
  const service = await start('start on a running database');
  const peers = (await startPeersOn?.(databaseUrl)) ?? [];

  const machine = machineFacts(await postgresVersion(databaseUrl));
  const watched = [service, ...peers.map(({ server }) => server)].map((server) => ({ server, memory: [] as Memory[] }));
  const weigh = async (name: string) => {
    for (const { server, memory } of watched) {
      const bytes = await residentBytes(server);
      if (bytes !== undefined) memory.push({ name, bytes });
    }
  };
  await delay(idleMilliseconds);
  await weigh('idle after start');
  const comparisons = await compareAll(service, peers, databaseUrl);
  if (comparisons.length > 0) await weigh('after load');
  const logLevel = process.env['LOG_LEVEL'] || 'info';
  const [memory = [], ...theirs] = watched.map(({ memory }) => memory);
  const facts = peers.map(({ name, server }, n) => ({ name, startMilliseconds: server.startMilliseconds, memory: theirs[n] ?? [] }));
  return { machine, plan: { ...plan, logLevel, lean: values.lean }, startUp, comparisons, memory, peers: facts };
}

async function compareAll(service: Server, peers: RunningPeer[], databaseUrl: string): Promise<Comparison[]> {
  const names = wanted.filter((name) => name !== 'start-up');
  if (names.length === 0) return [];
  note('seeding');
  const scenarios = scenariosOf(await seed(databaseUrl)).filter(({ name }) => names.includes(name));
  const limit = await startLimit(databaseUrl, opened, values);
  const comparisons: Comparison[] = [];
  for (const scenario of scenarios) {
    comparisons.push(await compare(scenario, { service, limit, peers }, plan, (step) => note(`${scenario.name}: ${step}`)));
  }
  return comparisons;
}

function readPlan(): { values: { json: boolean; peers: boolean; lean: boolean }; wanted: string[]; plan: Plan } {
  const { values, positive, fail } = readOptions('bench', usage, {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    only: { type: 'string', multiple: true },
    peers: { type: 'boolean', default: false },
    lean: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  });
  const all: string[] = [...scenarioNames, 'start-up'];
  const wanted = values.only ?? all;
  for (const name of wanted) if (!all.includes(name)) fail(`there is nothing called ${name}`);
  const plan = {
    seconds: positive('seconds'),
    rounds: positive('rounds', { whole: true }),
    connections: positive('connections', { whole: true }),
  };
  return { values, wanted, plan };
}
