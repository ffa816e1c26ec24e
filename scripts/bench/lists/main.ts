/**
 * `npm run bench -- lists`: pages of lists over few and over many entities, beside the raw limit. That is the same SQL by `node:http` and
 * `pg`, without and with names of the statements. Progress goes to standard error, the figures to standard output.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openStore, type Store } from '../../../src/database/port.ts';
import { postgresVersion } from '../../lib/database.ts';
import { ask } from '../../lib/load.ts';
import { note, runMeasurement, type Measured } from '../../lib/measurement.ts';
import { readOptions } from '../../lib/options.ts';
import { ending, startService } from '../../lib/processes.ts';
import { among, request } from '../../lib/scenarios.ts';
import { describeMachine, machineFacts } from '../report.ts';
import { installThese } from '../peers.ts';
import type { RunningPeer } from '../peers/peer.ts';
import { describeLists, figuresOf, round, type ListFigures, type MeasuredServer, type Round } from './figures.ts';
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
  const server = await startService({ ...database.settings, DATABASE_URL: url }, opened);
  const { port } = server;
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
  const limit = await startListLimit(url, opened, lists);
  const peers = await startPeers?.(url);
  const figures: ListFigures[] = [];
  for (const [number, list] of lists.entries()) figures.push(await measure(list, number, { server, limit, apiKey, peers: peers ?? [] }));
  const machine = machineFacts(await postgresVersion(url));
  return asJson
    ? `${JSON.stringify({ machine, plan, lists: figures }, null, 2)}\n`
    : `${describeMachine(machine)}\n\n${describeLists(figures)}\n`;
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
  server: MeasuredServer;
  limit: MeasuredServer;
  apiKey: string;
  peers: readonly RunningPeer<PeerLists>[];
}

async function measure(
  { size, scenario, refused }: MeasuredList,
  number: number,
  { server, limit, apiKey, peers }: Targets,
): Promise<ListFigures> {
  const facts = { entities: size.entities, name: scenario.name, refused };
  note(`${size.entities}: ${scenario.name}`);
  if (refused !== undefined) return { ...facts, service: undefined, limit: undefined, namedLimit: undefined, peers: {} };
  const serviceRequest = among([listRequest(scenario.entity, scenario.query, apiKey)]);
  const limitRequest = (path: string) => among([request('GET', path, 'accept: text/plain')]);
  const servers = [
    { server, requestOf: serviceRequest },
    { server: limit, requestOf: limitRequest(`/${number}`) },
    { server: limit, requestOf: limitRequest(`/${number}/named`) },
    ...peers.flatMap(({ server: peer, operations }) => {
      const bytes = operations.get(listKey(size.entities, scenario.name));
      return bytes ? [{ server: peer, requestOf: among([bytes]) }] : [];
    }),
  ];
  for (const one of servers) await round(one.server, one.requestOf, plan.connections, plan.seconds / 2);
  const rounds = servers.map((): Round[] => []);
  for (let done = 0; done < plan.rounds; done += 1)
    for (const [index, one] of servers.entries())
      rounds[index]?.push(await round(one.server, one.requestOf, plan.connections, plan.seconds));
  const [ofService, ofLimit, ofNamedLimit, ...others] = rounds.map(figuresOf);
  return {
    ...facts,
    service: ofService,
    limit: ofLimit,
    namedLimit: ofNamedLimit,
    peers: Object.fromEntries(others.map((figures, index) => [peers[index]?.name ?? '', figures])),
  };
}

async function startListLimit(databaseUrl: string, opened: AsyncDisposableStack, lists: readonly MeasuredList[]): Promise<MeasuredServer> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('limit.ts', import.meta.url))], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  opened.defer(ending(child, 'SIGTERM'));
  child.send({ lists: lists.map(({ statements }) => statements) });
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [{ port: number } | number | null];
  if (typeof message !== 'object' || message === null) throw new Error('the limit did not start');
  return { port: message.port, pid: child.pid ?? 0 };
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
