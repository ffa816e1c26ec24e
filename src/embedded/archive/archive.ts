/** The archive of the embedded database in ARCHIVE_DIR: its log as it is written, and a copy of its files each day (docs/backup.md). */
import { constants } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { diskFailure } from '../../config/disk-failure.ts';
import { ConfigError, type Config } from '../../config/settings.ts';
import { readManifest, receiveBase } from './base-copy.ts';
import { expireHistories, readHistories } from './histories.ts';
import { endsHistory, isReceivedElsewhere, LogReceiver } from './log-receiver.ts';
import { ReplicationConnection } from './replication-connection.ts';
import { assertOnlyRootMayReplace } from '../trusted-path.ts';
import { assertWritableDirectory } from '../../config/writable-directory.ts';

const syncIntervalMs = 1_000;
const archiveRetryPauseMs = 2_000;
/** Another process may end at any time, and this one then takes its place. */
const receivedElsewherePauseMs = 10_000;
const dayMs = 86_400_000;
/** A copy that failed, for example for lack of space, is tried again after this time. */
const baseRetryPauseMs = 600_000;
const finishTimeoutMs = 1_500;

export interface ArchiveSettings {
  directory: string;
  /** For how many days any moment can be restored. */
  days: number;
}

/** Throws ConfigError for an ARCHIVE_DIR that is missing, cannot be written to or, under root, may be replaced by another user. Undefined without the setting. */
export async function readArchive({
  archiveDir,
  archiveDays,
}: Pick<Config, 'archiveDir' | 'archiveDays'>): Promise<ArchiveSettings | undefined> {
  if (archiveDir === undefined) return undefined;
  await assertWritableDirectory('ARCHIVE_DIR', archiveDir, constants.R_OK | constants.W_OK | constants.X_OK);
  if (process.getuid?.() === 0)
    await assertOnlyRootMayReplace(archiveDir).catch((error: Error) => {
      throw new ConfigError([`ARCHIVE_DIR: ${error.message}`]);
    });
  return { directory: archiveDir, days: archiveDays };
}

/**
 * Throws ConfigError if the directory has the log of another database: nothing could be restored from it. `url` is the `archiveUrl` of the embedded database. If
 * that cannot be asked, {@link Archive} logs the reason.
 */
export async function assertOwnArchive(url: string, directory: string): Promise<void> {
  const histories = await readHistories(directory);
  const systemId = await identityOf(url).catch(() => undefined);
  if (systemId === undefined || histories.every((history) => history.systemId === systemId)) return;
  throw new ConfigError([`ARCHIVE_DIR: ${directory} has the log of another database: give each database a directory of its own`]);
}

async function identityOf(url: string): Promise<string> {
  const connection = await ReplicationConnection.open(url);
  try {
    return (await connection.identify()).systemId;
  } finally {
    await connection.close();
  }
}

/** Receives what happens to the archive. */
export interface ArchiveLog {
  info(line: object): void;
  error(line: object, text?: string): void;
}

export class Archive {
  readonly #url: string;
  readonly #settings: ArchiveSettings;
  readonly #log: ArchiveLog;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #receiver: LogReceiver | undefined;
  /** The history that cannot be continued. */
  #ended: string | undefined;
  /** The message of the failure that is in the log, so that it is there once. */
  #told: string | undefined;
  #copying: Promise<void> | undefined;
  #nextBase = 0;

  /** Begins at once. `url` is the `archiveUrl` of the embedded database. Failures go into `log`, and are tried again. */
  constructor(url: string, settings: ArchiveSettings, log: ArchiveLog) {
    this.#url = url;
    this.#settings = settings;
    this.#log = log;
    this.#running = this.#run();
  }

  /** Receives what the server has written, for {@link finishTimeoutMs} at most, and ends. Close the pools first, and stop the server afterwards. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const pause = await this.#receive().catch((error: unknown) => this.#explain(error));
      await delay(pause ?? 0, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The time in milliseconds after which to try again. */
  #explain(error: unknown): number {
    if (isReceivedElsewhere(error)) return receivedElsewherePauseMs;
    if (endsHistory(error)) this.#ended = this.#receiver?.history;
    const { message } = error as Error;
    if (message !== this.#told && !this.#closing.signal.aborted) this.#report(error);
    this.#told = message;
    return archiveRetryPauseMs;
  }

  #report(error: unknown): void {
    const reason = diskFailure(error);
    const advice = 'until it can be, PostgreSQL retains up to 4 GiB of its log, for a day';
    const text = reason ? `ARCHIVE_DIR: ${this.#settings.directory} cannot be written: ${reason}; ${advice}` : undefined;
    this.#log.error({ event: 'archive', outcome: 'failed', err: error }, text);
  }

  /** Until the service stops, or until it fails. */
  async #receive(): Promise<void> {
    const { signal } = this.#closing;
    this.#receiver = undefined;
    const receiver = (this.#receiver = await LogReceiver.open(this.#url, this.#settings.directory, this.#ended));
    try {
      this.#nextBase = await this.#timeOfNextBase(receiver.history);
      const stopped = AbortSignal.any([signal, receiver.lost]);
      while (!stopped.aborted) {
        const reach = await receiver.sync();
        if (reach) this.#told = undefined;
        if (Date.now() >= this.#nextBase) this.#copying ??= this.#copy(receiver, stopped);
        await delay(syncIntervalMs, undefined, { signal: stopped }).catch(() => undefined);
      }
      if (receiver.lost.aborted) await receiver.ended;
      await receiver.finish(AbortSignal.timeout(finishTimeoutMs));
    } finally {
      try {
        await receiver.close();
      } finally {
        await this.#copying;
      }
    }
  }

  async #timeOfNextBase(path: string): Promise<number> {
    const history = (await readHistories(this.#settings.directory)).find((each) => each.path === path);
    // It is written anew in two seconds. Until then the moments of this history are not known.
    if (history?.damage) this.#report(history.damage);
    const newest = history?.bases.at(-1);
    return newest === undefined ? 0 : newest.at.getTime() + dayMs;
  }

  /** Copies the files, and then deletes what the copy makes unnecessary. `stopped` cancels it. */
  async #copy(receiver: LogReceiver, stopped: AbortSignal): Promise<void> {
    const began = performance.now();
    const { directory, days } = this.#settings;
    this.#nextBase = Date.now() + baseRetryPauseMs;
    let connection: ReplicationConnection | undefined;
    try {
      connection = await ReplicationConnection.open(this.#url);
      const received = await receiveBase(connection, receiver.history, stopped);
      while (receiver.durable < received.end) await delay(syncIntervalMs / 10, undefined, { signal: stopped });
      const base = await received.commit();
      this.#nextBase = Date.now() + dayMs;
      const cutoff = new Date(Date.now() - days * dayMs);
      const deleted = await expireHistories(directory, receiver.history, cutoff, async (each) => (await readManifest(each)).start);
      const durationMs = Math.round(performance.now() - began);
      this.#log.info({ event: 'archive', outcome: 'ok', base, bytes: received.bytes, deleted: deleted.length, durationMs });
    } catch (error) {
      if (!stopped.aborted) this.#report(error);
    } finally {
      await connection?.close();
      this.#copying = undefined;
    }
  }
}
