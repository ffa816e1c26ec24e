/** `database restore` and `database verify` with ARCHIVE_DIR instead of a file. */
import { finishRestore, type FinishedRestore } from '../administration/transfer.ts';
import { readConfig } from '../config/settings.ts';
import { planRestore, type Plan } from '../embedded/archive/restore-plan.ts';
import { restoreArchive } from '../embedded/archive/restore.ts';
import { verifyArchive } from '../embedded/archive/verify.ts';
import { migrateDatabase } from '../database/migrate.ts';
import { openStore } from '../database/port.ts';
import { TransferRefused } from '../database/transfer/load.ts';
import { openDatabase } from '../start/prepare-database.ts';
import { asOwner, operatingSystemUser } from './owner.ts';
import type { Desk } from './command.ts';
import { Cancellation } from './cancellation.ts';
import { Refusal, tableText, timeText, type CommandOutcome } from './output.ts';

/** Restores the state of `until`, a time of RFC 3339, or the last one, into DATA_DIR. Ctrl-C cancels it. */
export async function restoreFromArchive(desk: Desk, directory: string, until: string | undefined): Promise<CommandOutcome> {
  const config = readConfig(desk.environment());
  if (config.databaseUrl !== undefined)
    throw new Refusal('an archive is restored into an embedded database: unset DATABASE_URL, and set DATA_DIR to a new directory');
  return await cancellable('there is no database', async (signal) => {
    const plan = await planRestore(directory, until === undefined ? undefined : new Date(until));
    const finished = await restoreArchive(
      config.dataDir,
      plan,
      { signal, onStep: (line) => desk.errors.write(`${line}\n`) },
      async (dataDir) => {
        await using opened = await openDatabase({ ...config, dataDir });
        return await finish(opened, plan);
      },
    );
    return outcomeOf(directory, config.dataDir, plan, finished);
  });
}

async function finish({ url, directUrl }: { url: string; directUrl: string }, { takenAt }: Plan): Promise<FinishedRestore> {
  await migrateDatabase(directUrl);
  await using store = openStore(url, 1, () => undefined);
  return await finishRestore(store, asOwner(operatingSystemUser()), takenAt.toISOString());
}

function outcomeOf(
  archive: string,
  dataDir: string,
  { base, segments, takenAt }: Plan,
  { sessions, nextKey }: FinishedRestore,
): CommandOutcome {
  const ended = `Ended ${sessions} ${sessions === 1 ? 'session' : 'sessions'}. The keys of new entities begin at ${nextKey}.`;
  return {
    document: { archive, dataDir, base: base.path, segments: segments.length, takenAt: takenAt.toISOString(), sessions, nextKey },
    text: `Restored the state of ${timeText(takenAt)} into ${dataDir}.\n${ended}`,
    note: 'passwords, rights and API keys are those of that time, also those that were changed or revoked after it',
  };
}

/** Reads the whole archive and says which moments it has. */
export async function verifyWholeArchive(directory: string): Promise<CommandOutcome> {
  return await cancellable('nothing was changed', async (signal) => {
    const histories = await verifyArchive(directory, signal);
    const rows = histories.map(({ history, bases, segments, from, to }) => [
      history,
      String(bases),
      String(segments),
      timeText(from),
      timeText(to),
    ]);
    return {
      document: { archive: directory, histories },
      text: `${tableText(['HISTORY', 'BASES', 'SEGMENTS', 'FROM', 'TO'], rows, '')}\n\n${directory} is whole. Any moment from FROM to TO can be restored.`,
    };
  });
}

async function cancellable<T>(unchanged: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  using cancellation = new Cancellation();
  try {
    return await work(cancellation.signal);
  } catch (error) {
    if (cancellation.signal.aborted) throw new Refusal(`cancelled: ${unchanged}`);
    throw error instanceof TransferRefused ? new Refusal(error.message) : error;
  }
}
