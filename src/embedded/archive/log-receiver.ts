/** Receives the log of a server into a history of ARCHIVE_DIR, from where the archive ends. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { syncDirectory } from '../synced.ts';
import { TransferRefused } from '../../database/transfer/load.ts';
import { logOf, readHistories, timeName } from './histories.ts';
import { LogFiles, OtherLogError } from './log-files.ts';
import { writeReach } from './reach.ts';
import { ReplicationConnection, type ServerIdentity } from './replication-connection.ts';
import { startOfSegment } from './segments.ts';

/** What the server keeps for the archive goes by this name. One process at a time may use it. */
const slot = 'archive';

const pollIntervalMs = 10;
const undefinedFile = '58P01';
const notInPrerequisiteState = '55000';
const undefinedObject = '42704';
const objectInUse = '55006';

/** Whether another process receives the log of this server. */
export function isReceivedElsewhere(error: unknown): boolean {
  return (error as { code?: string }).code === objectInUse;
}

/** Whether the history ends for ever: the server has not kept the log that follows, keeps none for the archive or has another log, or a segment is damaged here. */
export function endsHistory(error: unknown): boolean {
  return (
    error instanceof OtherLogError ||
    error instanceof TransferRefused ||
    [undefinedFile, undefinedObject, notInPrerequisiteState].includes((error as { code?: string }).code ?? '')
  );
}

export class LogReceiver {
  /** The directory of the history. */
  readonly history: string;
  /** Rejects when the log is not received any more, also after {@link close}. */
  readonly ended: Promise<never>;
  /** Fires at the same moment. */
  readonly lost: AbortSignal;
  readonly #connection: ReplicationConnection;
  /** Asks the server how far its log goes, while the other connection receives it. */
  readonly #observer: ReplicationConnection;
  readonly #files: LogFiles;
  readonly #from: bigint;
  #durable: bigint;
  /** The end of the server's log at a moment, which the archive has not reached yet. */
  #wanted: { at: Date; lsn: bigint } | undefined;

  private constructor(history: string, timeline: number, files: LogFiles, connections: ReplicationConnection[]) {
    const [connection, observer] = connections;
    if (!connection || !observer) throw new TypeError('two connections are needed');
    this.history = history;
    this.#files = files;
    this.#from = files.written;
    this.#durable = files.written;
    this.#connection = connection;
    this.#observer = observer;
    const losing = new AbortController();
    this.lost = losing.signal;
    this.ended = this.#receive(timeline);
    this.ended.catch(() => losing.abort());
  }

  /**
   * Continues the newest history of the server at `url`, or begins one if there is none, if it cannot be continued, or if it is `ended`. The role of `url` needs the
   * attribute REPLICATION.
   */
  static async open(url: string, directory: string, ended?: string): Promise<LogReceiver> {
    const connections: ReplicationConnection[] = [];
    try {
      connections.push(await ReplicationConnection.open(url), await ReplicationConnection.open(url));
      const [connection] = connections as [ReplicationConnection];
      const identity = await connection.identify();
      const newest = (await readHistories(directory)).findLast(
        ({ systemId, segments }) => systemId === identity.systemId && segments.at(-1)?.timeline === identity.timeline,
      );
      const last = newest?.segments.at(-1);
      const isContinued = newest && last && newest.path !== ended && last.start <= identity.lsn;
      const from = isContinued ? last.start : startOfSegment(await connection.renewSlot(slot));
      const history = isContinued ? newest.path : await makeHistory(directory, identity);
      const { timeline } = identity;
      const files = new LogFiles(history, { timeline, from, found: isContinued ? newest.segments : [] });
      return new LogReceiver(history, timeline, files, connections);
    } catch (error) {
      await Promise.all(connections.map((connection) => connection.close()));
      throw error;
    }
  }

  /** Everything before this position of the log is on the disk of the archive. */
  get durable(): bigint {
    return this.#durable;
  }

  async #receive(timeline: number): Promise<never> {
    for await (const { lsn, bytes } of this.#connection.log(slot, { timeline, from: this.#files.written }))
      if (bytes.length > 0) {
        await this.#files.prepare();
        await this.#files.write(lsn, bytes);
      }
    throw new Error('the server has ended the log');
  }

  /**
   * Makes durable what was received, and tells the server. Returns the moment up to which the archive is complete; undefined if that is not later than at the last
   * call.
   */
  async sync(): Promise<Date | undefined> {
    const end = await this.#files.sync();
    this.#durable = end.lsn;
    this.#connection.confirm(this.#confirmable());
    const wanted = this.#wanted;
    if (wanted && this.#durable < wanted.lsn) return undefined;
    const at = new Date();
    this.#wanted = { at, lsn: (await this.#observer.identify()).lsn };
    if (!wanted) return undefined;
    await writeReach(this.history, { at: wanted.at, ...end });
    return wanted.at;
  }

  /**
   * What the server need not keep. It deletes a segment whose end was confirmed, and a restart begins with the newest one, which may be whole. Before the first byte it
   * is nothing: a position before the slot's would make the server invalidate it.
   */
  #confirmable(): bigint {
    if (this.#durable === this.#from) return 0n;
    return this.#durable === startOfSegment(this.#durable) ? this.#durable - 1n : this.#durable;
  }

  /** Receives all that the server has on its disk now. Ends earlier when `signal` fires. */
  async finish(signal: AbortSignal): Promise<void> {
    const { lsn } = await this.#observer.identify();
    while (this.#durable < lsn && !signal.aborted && !this.lost.aborted) {
      await delay(pollIntervalMs);
      await this.sync();
    }
    this.#wanted = undefined;
    await this.sync();
    await this.sync();
  }

  async close(): Promise<void> {
    await Promise.all([this.#connection.close(), this.#observer.close()]);
    await this.ended.catch(() => undefined);
    await this.#files.close();
  }
}

async function makeHistory(directory: string, { systemId }: ServerIdentity): Promise<string> {
  const history = join(directory, `${systemId}-${timeName(new Date())}`);
  await mkdir(history, { mode: 0o700 });
  await mkdir(logOf(history), { mode: 0o700 });
  await syncDirectory(history);
  await syncDirectory(directory);
  return history;
}
