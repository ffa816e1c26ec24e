/** Makes a data directory with the state that the embedded database had at a moment. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { passwordStatements, runAlone } from '../access.ts';
import { serverAccount, type SystemAccount } from '../account.ts';
import { findBinaries } from '../binaries.ts';
import { hasCluster, layoutOf, prepareDataDir, renameUnlessThere, scratchPath } from '../cluster.ts';
import { changeOwner } from '../ownership.ts';
import { syncDirectory, writeSynced } from '../synced.ts';
import { TransferRefused } from '../../database/transfer/load.ts';
import { readBase, type FileTarget } from './base-files.ts';
import type { LogSegment } from './histories.ts';
import { assertReplayed, readReplay, type Replay } from './replay.ts';
import type { Plan } from './restore-plan.ts';
import { readFilledSegment } from './segment-files.ts';

export interface RestoreOptions {
  /** Called with one line for a person when a step begins. */
  onStep: (line: string) => void;
  signal: AbortSignal;
  /** As of EmbeddedOptions. */
  cacheDir?: string;
}

/**
 * Restores into `dataDir`, which must have no database. `finish` gets a temporary data directory in it, with the restored database and no server. It appears in its
 * place when `finish` has succeeded and stopped its server; otherwise nothing is left of it. Throws {@link TransferRefused}, the error of `finish`, the reason of
 * `signal`, and Error with one line for a person.
 */
export async function restoreArchive<T>(
  dataDir: string,
  plan: Plan,
  { onStep, signal, cacheDir = '/var/cache/entity-service' }: RestoreOptions,
  finish: (dataDir: string) => Promise<T>,
): Promise<T> {
  const layout = await prepareDataDir(dataDir);
  if (await hasCluster(layout)) throw new TransferRefused(`${dataDir} has a database already: set DATA_DIR to a new directory`);
  const building = await mkdtemp(await scratchPath(layout, 'building'));
  try {
    const { home, cluster, passwordFile } = layoutOf(building);
    await mkdir(home, { mode: 0o700 });
    await mkdir(cluster, { mode: 0o700 });
    const account = await serverAccount(cluster);
    const { postgres } = await findBinaries(account, cacheDir);
    onStep(`unpacking ${plan.base.path}: ${Math.ceil(plan.manifest.bytes / 1024 ** 2)} MiB`);
    await readBase(plan.base, targetIn(cluster), signal);
    onStep(`unpacking the log: ${plan.segments.length} ${plan.segments.length === 1 ? 'segment' : 'segments'}`);
    const damage = await unpackLog(plan.segments, join(cluster, 'pg_wal'), signal);
    if (damage) onStep(`warning: ${damage.message}. The log is replayed up to this file`);
    await writeFile(join(cluster, 'recovery.signal'), '', { mode: 0o600 });
    await changeOwner(cluster, account);
    onStep('replaying the log');
    const password = randomBytes(32).toString('base64url');
    const replay = await recover({ cluster, account, postgres, password }, plan.until, signal).catch((error: Error) => {
      // PostgreSQL fails if the log ends before the end of the copy.
      if (!damage || signal.aborted) throw error;
      throw new TransferRefused(`${damage.message}. Without it no moment is restored from ${plan.base.path}: ${error.message}`);
    });
    const warning = await assertReplayed(plan, replay, signal, damage);
    if (warning !== undefined) onStep(`warning: ${warning}`);
    await writeSynced(passwordFile, `${password}\n`);
    const outcome = await finish(building);
    await syncDirectory(home);
    if (!(await renameUnlessThere(home, layout.home))) throw new TransferRefused(`${dataDir} has got a database in the meantime`);
    await syncDirectory(layout.dataDir);
    return outcome;
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

function targetIn(cluster: string): FileTarget {
  return {
    directory: async (path) => void (await mkdir(join(cluster, path), { recursive: true, mode: 0o700 })),
    file: (path, content) => pipeline(content, createWriteStream(join(cluster, path), { flags: 'wx', mode: 0o600 })),
  };
}

/** Unpacks the segments up to the first damaged one. Returns why that one cannot be read; undefined: all are there. */
async function unpackLog(segments: LogSegment[], directory: string, signal: AbortSignal): Promise<TransferRefused | undefined> {
  for (const segment of segments) {
    const path = join(directory, segment.name);
    // Each but the last was durable before the next one began.
    const content = readFilledSegment(segment, segment.isWhole || segment !== segments.at(-1));
    try {
      await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
    } catch (error) {
      if (!(error instanceof TransferRefused)) throw error;
      await rm(path, { force: true });
      return error;
    }
  }
  return undefined;
}

interface Recovery {
  cluster: string;
  account: SystemAccount;
  postgres: string;
  password: string;
}

/** PostgreSQL replays the log, and gives the roles a new password afterwards: that of the time is not in the archive. */
async function recover({ cluster, account, postgres, password }: Recovery, until: Date | undefined, signal: AbortSignal): Promise<Replay> {
  const settings = {
    // Everything is in pg_wal already.
    restore_command: 'exit 1',
    recovery_target_action: 'promote',
    // Otherwise it compares settings such as max_connections with those of the server.
    hot_standby: 'off',
    timezone: 'UTC',
  };
  const target = until && { recovery_target_time: until.toISOString().replace('T', ' ').replace('Z', '+00') };
  const run = (more: Record<string, string> = {}) =>
    runAlone(cluster, account, postgres, passwordStatements(password), { settings: { ...settings, ...more }, signal });
  if (!target) return await readReplay(cluster, await run(), false);
  try {
    return await readReplay(cluster, await run(target), true);
  } catch (error) {
    // Nothing was written between the last change and the moment, or the log is damaged.
    if (!(error as Error).message.includes('recovery ended before configured recovery target was reached')) throw error;
    return await readReplay(cluster, await run(), false);
  }
}
