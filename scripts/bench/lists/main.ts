/**
 * `npm run bench -- lists`: pages of lists over few and over many entities, beside the raw limit, which is the same SQL by `node:http` and `pg`. Progress goes
 * to standard error, the figures to standard output.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openStore, type Store } from '../../../src/database/port.ts';
import { postgresVersion } from '../../lib/database.ts';
import { ask, drive, type RequestOf } from '../../lib/load.ts';
import { note, runMeasurement, type Measured } from '../../lib/measurement.ts';
import { readOptions } from '../../lib/options.ts';
import { ending, startService } from '../../lib/processes.ts';
import { among, request } from '../../lib/scenarios.ts';
import { describeMachine, machineFacts } from '../report.ts';
import { installThese } from '../peers.ts';
import type { RunningPeer } from '../peers/peer.ts';
import { table } from '../table.ts';
import { directusLists, listKey, parseLists, type PeerLists } from './peers.ts';
import { ProgressBar } from './progress-bar.ts';
import { listRequest, listScenarios, type ListScenario } from './scenarios.ts';
import { areDeclared, callerKey, declareTypes, seedSize, sizeOf, type Size } from './seed.ts';
import { statementsOf, type Statement } from './statements.ts';

const usage = `npm run bench -- lists [options]

  --entities N      entities in the database, customers and orders together; may be repeated (10000 and 10000000)
  --seconds N       length of a measured round (5)
  --rounds N        measured rounds of each, service and limit in turn (3)
  --connections N   connections at once (3, as many lists as a user has at once)
  --directory DIR   keep the entities there, for further runs; DATABASE_URL must not be set
  --peers           measure Directus and Parse Server too; they are installed once, in the user's cache directory
  --json            print one JSON document instead of a table
  --help            print this

DATABASE_URL names a PostgreSQL server on which to create a database for it; without it an embedded one is used, in a temporary directory.
Ten million entities take about 10 GB, and with the peers about 15 GB.
`;

interface Figures {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

interface ListFigures {
  entities: number;
  name: string;
  /** Undefined if the service refuses the list. */
  service: Figures | undefined;
  limit: Figures | undefined;
  /** By name. Empty without peers. */
  peers: Record<string, Figures>;
  /** The status and the code of the refusal. */
  refused: string | undefined;
}

interface MeasuredList {
  size: Size;
  scenario: ListScenario;
  refused: string | undefined;
  statements: Statement[];
}

const { asJson, sizes, plan, directory, withPeers } = readPlan();
await runMeasurement('bench lists', run, directory);

async function run({ url, database, opened }: Measured): Promise<string> {
  const startPeers = withPeers ? await installThese([parseLists(sizes), directusLists(sizes)], note, opened) : undefined;
  note('starting the service');
  const { port } = await startService({ ...database.settings, DATABASE_URL: url }, opened);
  const apiKey = await callerKey(url);
  const store = openStore(url, 4, () => undefined);
  opened.defer(() => store.close());
  const lists: MeasuredList[] = [];
  for (const size of sizes) {
    await provide(url, store, size);
    note('reading to the deep pages');
    for (const scenario of await listScenarios(port, apiKey, size)) {
      const { status, body } = await ask(port, listRequest(scenario.entity, scenario.query, apiKey));
      const refused = status === 200 ? undefined : `${status} ${(JSON.parse(body) as { code: string }).code}`;
      lists.push({ size, scenario, refused, statements: refused === undefined ? await statementsOf(store, scenario) : [] });
    }
  }
  const limitPort = await startListLimit(url, opened, lists);
  const peers = await startPeers?.(url);
  const figures: ListFigures[] = [];
  for (const [number, list] of lists.entries()) figures.push(await measure(list, number, { port, limitPort, apiKey, peers: peers ?? [] }));
  const machine = machineFacts(await postgresVersion(url));
  return asJson
    ? `${JSON.stringify({ machine, plan, lists: figures }, null, 2)}\n`
    : `${describeMachine(machine)}\n\n${describe(figures)}\n`;
}

/** Makes the entities and the indexes of a size, unless an earlier run has made them. */
async function provide(url: string, store: Store, size: Size): Promise<void> {
  if (await areDeclared(store, size)) return;
  const bar = new ProgressBar(process.stderr, `seeding ${size.entities} entities`, size.entities);
  await seedSize(url, size, (rows) => bar.add(rows));
  bar.end();
  note('building indexes');
  await declareTypes(store, size);
}

interface Targets {
  port: number;
  limitPort: number;
  apiKey: string;
  peers: readonly RunningPeer<PeerLists>[];
}

async function measure(
  { size, scenario, refused }: MeasuredList,
  number: number,
  { port, limitPort, apiKey, peers }: Targets,
): Promise<ListFigures> {
  const facts = { entities: size.entities, name: scenario.name, refused };
  note(`${size.entities}: ${scenario.name}`);
  if (refused !== undefined) return { ...facts, service: undefined, limit: undefined, peers: {} };
  const serviceRequest = among([listRequest(scenario.entity, scenario.query, apiKey)]);
  const limitRequest = among([request('GET', `/${number}`, 'accept: text/plain')]);
  const servers = [
    { port, requestOf: serviceRequest },
    { port: limitPort, requestOf: limitRequest },
    ...peers.flatMap(({ server, operations }) => {
      const bytes = operations.get(listKey(size.entities, scenario.name));
      return bytes ? [{ port: server.port, requestOf: among([bytes]) }] : [];
    }),
  ];
  for (const server of servers) await round(server.port, server.requestOf, plan.seconds / 2);
  const rounds = servers.map((): Round[] => []);
  for (let done = 0; done < plan.rounds; done += 1)
    for (const [index, server] of servers.entries()) rounds[index]?.push(await round(server.port, server.requestOf, plan.seconds));
  const [service, limit, ...others] = rounds.map(figuresOf);
  return { ...facts, service, limit, peers: Object.fromEntries(others.map((figures, index) => [peers[index]?.name ?? '', figures])) };
}

type Round = Awaited<ReturnType<typeof drive>>;

/** Throws when an answer is not 200. */
async function round(port: number, requestOf: RequestOf, seconds: number): Promise<Round> {
  const driven = await drive(port, plan.connections, seconds, requestOf);
  if (driven.refused.count > 0) throw new Error(`a list was refused:\n${driven.refused.first}`);
  return driven;
}

function figuresOf(rounds: readonly Round[]): Figures {
  const answers = rounds.reduce((sum, { answers: some }) => sum + some, 0);
  const seconds = rounds.reduce((sum, { seconds: some }) => sum + some, 0);
  const latencies = Float64Array.from(rounds.flatMap(({ latencies: some }) => some)).sort();
  const quantile = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return { requestsPerSecond: answers / seconds, p50: quantile(0.5), p99: quantile(0.99) };
}

async function startListLimit(databaseUrl: string, opened: AsyncDisposableStack, lists: readonly MeasuredList[]): Promise<number> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('limit.ts', import.meta.url))], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  opened.defer(ending(child, 'SIGTERM'));
  child.send({ lists: lists.map(({ statements }) => statements) });
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [{ port: number } | number | null];
  if (typeof message !== 'object' || message === null) throw new Error('the limit did not start');
  return message.port;
}

function describe(all: readonly ListFigures[]): string {
  const [smallest] = all;
  const peers = Object.keys(all.find((one) => one.service)?.peers ?? {});
  const rows = all.map(({ entities, name, service, limit, refused, peers: ofPeers }) => {
    if (!service || !limit) return [`${entities}: ${name}`, refused ?? '', '', '', '', '', ...peers.flatMap(() => ['', ''])];
    const small = all.find((one) => one.entities === smallest?.entities && kindOf(one.name) === kindOf(name))?.service;
    const growth = small ? (small.requestsPerSecond / service.requestsPerSecond).toFixed(2) : '';
    const share = (service.requestsPerSecond / limit.requestsPerSecond).toFixed(2);
    const [perSecond, p50, p99] = [service.requestsPerSecond.toFixed(0), service.p50.toFixed(2), service.p99.toFixed(2)];
    const besides = peers.flatMap((peer) => {
      const rate = ofPeers[peer]?.requestsPerSecond ?? Number.NaN;
      return [rate.toFixed(1), (service.requestsPerSecond / rate).toFixed(1)];
    });
    return [`${entities}: ${name}`, perSecond, p50, p99, share, growth, ...besides];
  });
  return table(
    ['list', 'per second', 'p50 ms', 'p99 ms', 'of the limit', 'cost, fewest entities = 1', ...peers.flatMap((peer) => [peer, 'factor'])],
    rows,
  );
}

/** The deep pages of all sizes are one kind. */
function kindOf(name: string): string {
  return name.replace(/\d+/, '');
}

function readPlan() {
  const { values, positive, fail } = readOptions('bench lists', usage, {
    entities: { type: 'string', multiple: true },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '3' },
    directory: { type: 'string' },
    peers: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  });
  const entities = (values.entities ?? ['10000', '10000000']).map(Number);
  if (!entities.every((count) => Number.isInteger(count) && count >= 1_000)) fail('--entities must be a whole number of at least 1000');
  if (values.directory !== undefined && process.env['DATABASE_URL']) fail('--directory and DATABASE_URL exclude each other');
  return {
    asJson: values.json,
    directory: values.directory,
    withPeers: values.peers,
    sizes: [...new Set(entities)].toSorted((one, other) => one - other).map(sizeOf),
    plan: {
      seconds: positive('seconds'),
      rounds: positive('rounds', { whole: true }),
      connections: positive('connections', { whole: true }),
    },
  };
}
