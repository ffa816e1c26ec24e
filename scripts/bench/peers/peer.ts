/** A peer: another service for sessions and entities, made ready for the same load and started on a database of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../src/database/embedded/launch.ts';
import { databaseOn } from '../../lib/database.ts';
import type { RequestOf } from '../../lib/load.ts';
import { launch, type Server } from '../../lib/processes.ts';
import type { ScenarioName } from '../../lib/scenarios.ts';
import type { Package } from './install.ts';

/** What a peer is told of where it runs. */
export interface Site {
  /** What the package was installed into. */
  installation: string;
  /** Empty at first, and gone afterwards. */
  directory: string;
  databaseUrl: string;
  port: number;
  /** Connections to the database at once. */
  poolSize: number;
}

/** One measured operation. */
export interface Operation {
  requestOf: RequestOf;
  /** A part of each body that it is answered with. */
  shows: string;
}

export type Operations = Record<ScenarioName, Operation>;

export interface Peer {
  package: Package;
  /** Arguments for node. */
  command(site: Site): string[];
  /** The whole environment, but for what every process has. */
  environment(site: Site): Record<string, string>;
  /** Answers 200 once it can serve. */
  readyPath: string;
  /** Makes its tables, where the server does not do so itself. */
  install?(site: Site, environment: NodeJS.ProcessEnv, opened: AsyncDisposableStack): Promise<void>;
  /** Over the running server and its database, makes users, rights and entities. Called once. */
  setUp(site: Site): Promise<Operations>;
}

export interface RunningPeer {
  /** With its version. */
  name: string;
  server: Server;
  operations: Operations;
}

/**
 * Starts `peer` on a new database of the server at `serverUrl`. It is set up by a first process; the one that is measured starts on what
 * that has left. Both, the database and the files are gone when `opened` is disposed of.
 */
export async function startPeer(peer: Peer, installation: string, serverUrl: string, opened: AsyncDisposableStack): Promise<RunningPeer> {
  const { title, version } = peer.package;
  const name = `${title} ${version}`;
  const database = await kept(databaseOn(serverUrl), (made) => made.remove(), opened);
  const directory = await kept(
    mkdtemp(join(tmpdir(), 'entity-service-peer-')),
    (made) => rm(made, { recursive: true, force: true }),
    opened,
  );
  const site: Site = {
    installation,
    directory,
    databaseUrl: await database.open(),
    port: await freePort(),
    poolSize: Number(process.env['DATABASE_POOL_SIZE'] || 10),
  };
  const env = { ...everyProcess(), ...peer.environment(site) };
  await peer.install?.(site, env, opened);
  const start = (readsOutput: boolean) =>
    launch(
      {
        name,
        command: process.execPath,
        args: peer.command(site),
        cwd: directory,
        env,
        port: site.port,
        readyPath: peer.readyPath,
        readsOutput,
        endsWith: 'SIGKILL',
      },
      opened,
    );
  const first = await start(true);
  const operations = await peer.setUp(site);
  await first.kill();
  return { name, server: await start(false), operations };
}

/** What of this environment may be seen by a program whose settings it could else be taken for. */
function everyProcess(): NodeJS.ProcessEnv {
  return Object.fromEntries(['PATH', 'HOME', 'TMPDIR', 'LANG'].map((name) => [name, process.env[name]]));
}

/** Waits for what is being made; it is removed with `opened`, also when that is disposed of in the meantime. */
async function kept<T>(making: Promise<T>, remove: (made: T) => Promise<void>, opened: AsyncDisposableStack): Promise<T> {
  opened.defer(() => making.then(remove, () => undefined));
  return making;
}
