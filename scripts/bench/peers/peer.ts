/** A peer: another service for sessions and entities, prepared for the same load and started on a separate database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../src/embedded/launch.ts';
import { databaseOn } from '../../lib/database.ts';
import type { RequestOf } from '../../lib/load.ts';
import { launch, type Server } from '../../lib/processes.ts';
import type { ScenarioName } from '../../lib/scenarios.ts';
import type { Package } from './install.ts';

/** The resources that a peer runs with. */
export interface Site {
  /** The directory of the installed package. */
  installation: string;
  /** Empty at first, and removed afterwards. */
  directory: string;
  databaseUrl: string;
  port: number;
  /** The maximum of concurrent database connections. */
  poolSize: number;
}

/** One measured operation. */
export interface Operation {
  requestOf: RequestOf;
  /** A part of each of its answers' bodies. */
  shows: string;
}

export type Operations = Record<ScenarioName, Operation>;

/** `O`: what is measured on it. */
export interface Peer<O = Operations> {
  package: Package;
  /** Arguments for node. */
  command(site: Site): string[];
  /** The whole environment, except for the variables that every process has. */
  environment(site: Site): Record<string, string>;
  /** Answers 200 once the peer is ready. */
  readyPath: string;
  /** Creates its tables, if the server does not do so itself. */
  install?(site: Site, environment: NodeJS.ProcessEnv, opened: AsyncDisposableStack): Promise<void>;
  /** Creates users, rights and entities on the running server and its database. Called once. */
  setUp(site: Site): Promise<O>;
}

export interface RunningPeer<O = Operations> {
  /** The title with the version. */
  name: string;
  server: Server;
  operations: O;
}

/**
 * Starts `peer` on a new database of the server at `serverUrl`. A first process sets it up; the measured process starts with the result.
 * Both processes, the database and the files are removed when `opened` is disposed of.
 */
export async function startPeer<O>(
  peer: Peer<O>,
  installation: string,
  serverUrl: string,
  opened: AsyncDisposableStack,
): Promise<RunningPeer<O>> {
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

/** The environment variables that are passed on. A program could take others for its own settings. */
function everyProcess(): NodeJS.ProcessEnv {
  return Object.fromEntries(['PATH', 'HOME', 'TMPDIR', 'LANG'].map((name) => [name, process.env[name]]));
}

/** Waits for a resource that is being created. It is removed with `opened`, even if that is disposed of in the meantime. */
async function kept<T>(making: Promise<T>, remove: (made: T) => Promise<void>, opened: AsyncDisposableStack): Promise<T> {
  opened.defer(() => making.then(remove, () => undefined));
  return making;
}
