/**
 * A connection over which the server sends its files and its write-ahead log: PostgreSQL's streaming replication protocol
 * (https://www.postgresql.org/docs/18/protocol-replication.html). node-postgres signs in and parses the messages.
 */
import { Readable } from 'node:stream';
import type { ClientConfig } from 'pg';
import { VerifiedClient } from '../../database/driver/verified-client.ts';
import { formatLsn, parseLsn } from './segments.ts';

/** Microseconds from 1970 to 2000, where PostgreSQL's clock begins. */
const postgresEpoch = 946_684_800_000_000n;

const framesAhead = 64;
const logKind = 'w'.charCodeAt(0);
const logHeaderBytes = 25;
/** `WAIT false`: the server does not archive its log, so there is nothing for it to wait for. */
const baseBackup = "BASE_BACKUP (LABEL 'entity-service', CHECKPOINT 'fast', MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256', WAIT false)";

/** What node-postgres does with messages that it does not type. */
interface CopyConnection {
  on(event: 'copyData', listener: (message: { chunk: Buffer }) => void): void;
  off(event: 'copyData', listener: (message: { chunk: Buffer }) => void): void;
  sendCopyFromChunk(chunk: Buffer): void;
  stream: { pause(): void; resume(): void };
}

/** A server's name for its cluster, the number of the history of its log, and the end of what is on its disk. */
export interface ServerIdentity {
  systemId: string;
  timeline: number;
  lsn: bigint;
}

/** A piece of the log; without bytes, the sign that the server had nothing more to send. */
export interface LogPiece {
  lsn: bigint;
  bytes: Buffer;
}

export class ReplicationConnection {
  readonly #client: VerifiedClient;

  private constructor(client: VerifiedClient) {
    this.#client = client;
  }

  /** Connects as a role with the attribute REPLICATION. */
  static async open(url: string): Promise<ReplicationConnection> {
    const config: ClientConfig & { replication: string; connectionString: string } = {
      connectionString: url,
      replication: 'true',
      connectionTimeoutMillis: 10_000,
    };
    const client = new VerifiedClient(config);
    // The statement under way is rejected with the same error.
    client.on('error', () => undefined);
    await client.connect();
    return new ReplicationConnection(client);
  }

  async identify(): Promise<ServerIdentity> {
    const { rows } = await this.#client.query<{ systemid: string; timeline: string; xlogpos: string }>('IDENTIFY_SYSTEM');
    const [row] = rows;
    if (!row) throw new Error('the server does not identify itself');
    return { systemId: row.systemid, timeline: Number(row.timeline), lsn: parseLsn(row.xlogpos) };
  }

  /** Makes the server keep its log from its last checkpoint on, in place of what `slot` has kept so far. Returns the first position that it keeps. */
  async renewSlot(slot: string): Promise<bigint> {
    const before = await this.#readSlot(slot);
    if (before?.slot_type) await this.#client.query(`DROP_REPLICATION_SLOT ${slot}`);
    await this.#client.query(`CREATE_REPLICATION_SLOT ${slot} PHYSICAL RESERVE_WAL`);
    const lsn = (await this.#readSlot(slot))?.restart_lsn;
    if (!lsn) throw new Error(`the server keeps no log for the slot ${slot}`);
    return parseLsn(lsn);
  }

  async #readSlot(slot: string): Promise<{ slot_type: string | null; restart_lsn: string | null } | undefined> {
    const { rows } = await this.#client.query<{ slot_type: string | null; restart_lsn: string | null }>(`READ_REPLICATION_SLOT ${slot}`);
    return rows[0];
  }

  /** The log from `from` on, which must be the start of a segment, without end. While it is not read, the server waits. */
  async *log(slot: string, { timeline, from }: { timeline: number; from: bigint }): AsyncGenerator<LogPiece> {
    for await (const frame of this.#frames(`START_REPLICATION SLOT ${slot} PHYSICAL ${formatLsn(from)} TIMELINE ${timeline}`)) {
      const isLog = frame[0] === logKind;
      yield { lsn: frame.readBigUInt64BE(1), bytes: isLog ? frame.subarray(logHeaderBytes) : Buffer.alloc(0) };
    }
  }

  /** Tells the server that the log before `lsn` (0: nothing) is on another disk, and asks for a sign of life. Only while {@link log} is read. */
  confirm(lsn: bigint): void {
    const message = Buffer.alloc(34);
    message.write('r');
    for (const at of [1, 9, 17]) message.writeBigUInt64BE(lsn, at);
    message.writeBigInt64BE(BigInt(Date.now()) * 1_000n - postgresEpoch, 25);
    message.writeUInt8(1, 33);
    this.#copy.sendCopyFromChunk(message);
  }

  /** The messages of a base backup: a byte for the kind (`n`, `d`, `m`, `p`), then what the kind has. */
  baseBackup(): AsyncIterable<Buffer> {
    return this.#frames(baseBackup);
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }

  get #copy(): CopyConnection {
    return this.#client.connection as unknown as CopyConnection;
  }

  #frames(statement: string): AsyncIterable<Buffer> {
    const copy = this.#copy;
    // The parser uses its buffer again.
    const push = ({ chunk }: { chunk: Buffer }) => {
      if (!frames.push(Buffer.from(chunk))) copy.stream.pause();
    };
    const frames = new Readable({
      objectMode: true,
      highWaterMark: framesAhead,
      read: () => copy.stream.resume(),
      destroy(error, done) {
        copy.off('copyData', push);
        // The connection cannot end while it is paused.
        copy.stream.resume();
        done(error);
      },
    });
    copy.on('copyData', push);
    this.#client.query(statement).then(
      () => frames.push(null),
      (error: Error) => frames.destroy(error),
    );
    return frames as AsyncIterable<Buffer>;
  }
}
