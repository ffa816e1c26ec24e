/**
 * The embedded default database: a real PostgreSQL server in a process of its own, for who has not set DATABASE_URL.
 * Knows nothing of tables, pools or migrations.
 *
 * The server belongs to nobody in particular. Whoever opens a data directory builds what is missing, starts what does not run, joins what
 * does, and the last to stop takes the server down (`embedded/membership.ts`). So the admin command can come and go while the service runs,
 * and a server left behind by a killed process is simply joined.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { serverAccount } from './embedded/account.ts';
import { findBinaries } from './embedded/binaries.ts';
import { buildCluster, databaseName, hasCluster, layoutOf, prepareDataDir, readPassword, roleName } from './embedded/cluster.ts';
import type { Layout } from './embedded/cluster.ts';
import type { Launcher, Settings } from './embedded/launch.ts';
import type { Membership } from './embedded/membership.ts';
import { leaveServer, reachServer } from './embedded/server.ts';

const reviveMilliseconds = 1000;

export interface EmbeddedDatabase {
  /** `postgres://…` with the password: never for a log. */
  url: string;
  /** What this call found: no cluster, a cluster without a server, or a running server. */
  origin: 'created' | 'started' | 'joined';
  /**
   * Leaves the server, and stops it unless another living process has opened the same directory. Resolves when it is down.
   * Close the pools first: what is still connected is cut off. Calling it again changes nothing.
   */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** PostgreSQL settings in addition to or in place of ours, used when this call starts the server. `fsync=off` spares the first start's too. */
  settings?: Settings;
  /** Where root keeps a copy of the programs when the server's account cannot enter their directory. */
  cacheDir?: string;
}

/**
 * Opens the database in a data directory, creating it at the first start.
 *
 * While it is open, a server that ends (out of memory, killed, stopped by somebody else) is started again on the same port, so that pools find it there.
 *
 * @throws Error with one line for a person.
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const layout = layoutOf(dataDir);
  const settings = options.settings ?? {};
  const launcher = async (): Promise<Launcher> => {
    const account = await serverAccount([layout.cluster, layout.dataDir]);
    return { account, settings, binaries: await findBinaries(account, options.cacheDir ?? '/var/cache/entity-service') };
  };

  await prepareDataDir(layout);
  let created = false;
  if (!(await hasCluster(layout))) {
    const { binaries, account } = await launcher();
    created = await buildCluster(layout, binaries, account, settings['fsync'] !== 'off');
  }
  const { membership, port, launched } = await reachServer(layout, launcher);

  const url = new URL(`postgres://127.0.0.1:${port}/${databaseName}`);
  url.username = roleName;
  url.password = await readPassword(layout);
  return {
    url: url.href,
    origin: created ? 'created' : launched ? 'started' : 'joined',
    stop: remain(layout, launcher, membership, port),
  };
}

/** Stays a member until the returned function is called, through deaths of the server. */
function remain(layout: Layout, launcher: () => Promise<Launcher>, first: Membership, port: number): () => Promise<void> {
  let leaving = false;
  let left: Promise<void> | undefined;

  const remainWith = async (membership: Membership): Promise<void> => {
    await membership.ended;
    current = leaving ? Promise.resolve(undefined) : revive();
  };
  const revive = async (): Promise<Membership | undefined> => {
    try {
      const { membership } = await reachServer(layout, launcher, port);
      void remainWith(membership);
      return membership;
    } catch {
      await delay(reviveMilliseconds);
      // A directory that is gone was taken away from us: nothing is built in its place.
      return leaving || !(await hasCluster(layout)) ? undefined : revive();
    }
  };
  let current: Promise<Membership | undefined> = Promise.resolve(first);
  void remainWith(first);

  return () => {
    leaving = true;
    return (left ??= current.then((membership) => leaveServer(layout, membership)));
  };
}
