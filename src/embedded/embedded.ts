/**
 * The embedded default database: a real PostgreSQL server in a process of its own, used when DATABASE_URL is not set. It does not know tables,
 * pools or migrations.
 *
 * No single process owns the server. A process that opens a data directory builds the cluster if it is missing, starts the server if it does not
 * run, and becomes a member. The last member to leave stops the server (`membership.ts`). So the admin command can run beside the service, and a
 * later process joins a server that a killed process left behind.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { serverAccount } from './account.ts';
import { archiveRoleName } from './access.ts';
import { socketAddress, urlOf } from './address.ts';
import { findBinaries } from './binaries.ts';
import { buildCluster, hasCluster, prepareDataDir, readPassword } from './cluster.ts';
import type { DataLayout } from './cluster.ts';
import type { Launcher, ServerSettings } from './launch.ts';
import { changeOwner } from './ownership.ts';
import type { Membership } from './membership.ts';
import { AddressLostError, leaveServer, reachServer, type Reached } from './server.ts';

const revivePauseMs = 1000;

export interface EmbeddedDatabase {
  /** `postgres://…` with the password: do not log it. */
  url: string;
  /** The same for the role that may receive the log. */
  archiveUrl: string;
  /** The state that this call found: no cluster, a cluster without a server, or a running server. */
  origin: 'created' | 'started' | 'joined';
  /**
   * Fulfilled with the reason when this process has lost the server: the server has ended and cannot listen at the address of `url` again, or its
   * data directory is gone. It is not started again then. Pending while the server runs or is being started again.
   */
  lost: Promise<Error>;
  /**
   * Leaves the server, and stops it unless another living process has opened the same directory. Resolves when it has stopped. Close the pools
   * first: open connections are terminated. A second call changes nothing.
   */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** PostgreSQL settings that add to or replace the defaults, used when this call starts the server. `fsync=off` also applies to the first start. */
  settings?: ServerSettings;
  /** The directory for root's copy of the programs, used when the server's account cannot enter theirs. */
  cacheDir?: string;
  /** Listens on a TCP port of the loopback address even where a Unix socket is possible, for tests with a proxy in between. */
  tcp?: boolean;
  /** Called when a server that has ended does not start again, once for each reason. The start is repeated every second. */
  onError?: (error: Error) => void;
  /** Ends the opening when it fires: programs of PostgreSQL that this call started end, and the promise is rejected. No effect on an open one. */
  signal?: AbortSignal | undefined;
}

/**
 * Opens the database in a data directory, creating it at the first start.
 *
 * While it is open, a server that ends (out of memory, killed, stopped by another process) is started again at the same address, so that pools
 * reconnect.
 *
 * @throws Error with one line for a person; the reason of `signal` when it fires before the database is open.
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const { settings = {}, signal } = options;
  const layout = await prepareDataDir(dataDir);
  const launcher = async (): Promise<Launcher> => {
    const account = await serverAccount(layout.cluster);
    return { account, settings, binaries: await findBinaries(account, options.cacheDir ?? '/var/cache/entity-service') };
  };

  let created = false;
  if (!(await hasCluster(layout))) {
    const { binaries, account } = await launcher();
    created = await buildCluster(layout, binaries, account, { sync: settings['fsync'] !== 'off', signal });
  } else await changeOwner(layout.cluster, await serverAccount(layout.cluster));
  const reached = await reachServer(layout, launcher, { preferred: options.tcp ? undefined : socketAddress(layout) }, signal);
  const password = await readPassword(layout);
  return {
    url: urlOf(reached.address, layout, password),
    archiveUrl: urlOf(reached.address, layout, password, archiveRoleName, archiveRoleName),
    origin: created ? 'created' : reached.launched ? 'started' : 'joined',
    ...remain(layout, launcher, reached, options.onError),
  };
}

/** Stays a member until `stop` is called, and starts the server again when it ends. */
function remain(
  layout: DataLayout,
  launcher: () => Promise<Launcher>,
  { membership: first, address }: Reached,
  onError: EmbeddedOptions['onError'],
): Pick<EmbeddedDatabase, 'lost' | 'stop'> {
  const { promise: lost, resolve: lose } = Promise.withResolvers<Error>();
  let leaving = false;
  let left: Promise<void> | undefined;

  const remainWith = async (membership: Membership): Promise<void> => {
    await membership.ended;
    current = leaving ? Promise.resolve(undefined) : revive();
  };
  const revive = async (told = new Set<string>()): Promise<Membership | undefined> => {
    try {
      if (!(await hasCluster(layout))) {
        // The data directory was removed: no new cluster is built in its place.
        lose(new Error(`the data directory ${layout.dataDir} has no database any more`));
        return undefined;
      }
      const { membership } = await reachServer(layout, launcher, { required: address });
      void remainWith(membership);
      return membership;
    } catch (error) {
      if (error instanceof AddressLostError) {
        lose(error);
        return undefined;
      }
      const { message } = error as Error;
      if (!told.has(message)) onError?.(error as Error);
      told.add(message);
      await delay(revivePauseMs);
      return leaving ? undefined : revive(told);
    }
  };
  let current: Promise<Membership | undefined> = Promise.resolve(first);
  void remainWith(first);

  const stop = () => {
    leaving = true;
    return (left ??= current.then((membership) => leaveServer(layout, membership)));
  };
  return { lost, stop };
}
