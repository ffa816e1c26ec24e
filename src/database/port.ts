/**
 * The only interface to PostgreSQL. A caller says what kind of statement it has; which connection carries it is decided here and in `driver/`
 * (driver/README.md). `Store.db` is Kysely itself, since functions in front of it would repeat its interface. Statements that need more have a method of
 * the store: shared connections, groups, transactions. `prepare()` and `prepareGrouped()` are imported from `driver/`, because their statements are
 * constants of a module, made before any store is open.
 */
import type { CompiledQuery, Kysely, Transaction } from 'kysely';
import { LongConnections } from './driver/long-connection.ts';
import { connectPool, type Connection } from './driver/pool.ts';
import { runBuilt, runRepeated, type PreparedStatement } from './driver/prepared.ts';
import { GroupTurns, WriteGroup, type GroupedStatement } from './driver/write-group.ts';
import { inTransaction } from './failure.ts';
import { readTransaction, type Run } from './read-transaction.ts';
import { Listener, settleAll, type ListenerEvents } from './notifications.ts';
import { PrimaryLog } from './standby/primary-log.ts';
import type { Database } from './tables.ts';

/** The state of the connections at this moment. `waiting` counts statements that wait for a connection of the pool. */
export interface ConnectionCounts {
  pool: { busy: number; idle: number; limit: number; waiting: number };
  reads: { busy: number; idle: number };
}

/** What use cases on entities need: each statement is a transaction of its own, or all are in one ({@link statementsWithin}). */
export interface Statements {
  /** For ordinary queries, which Kysely builds. */
  readonly db: Kysely<Database>;

  /**
   * Runs a prepared statement that only reads, locks nothing, and is quick. It shares a connection with other reads, and runs again on another
   * connection if that one breaks.
   */
  read<V, R>(statement: PreparedStatement<V, R>, values: V): Promise<R[]>;

  /** Runs a statement that only reads and that is built for one request: without a name, on a connection of its own. */
  query<R>(query: CompiledQuery<R>): Promise<R[]>;

  /** Runs any other prepared statement, on a connection of its own. */
  run<V, R>(statement: PreparedStatement<V, R>, values: V): Promise<R[]>;

  /**
   * Runs the statement for `row`, JSON text of an object, together with the rows of other requests. Undefined when it did nothing for the row.
   * Throws what it would throw for this row alone, and 503 `unavailable` when the row had no turn within two seconds.
   */
  writeGrouped<R>(statement: GroupedStatement<R>, row: string): Promise<R | undefined>;

  /** Does the same at once and for this row alone. For a row so large that others should not wait for it. */
  writeAlone<R>(statement: GroupedStatement<R>, row: string): Promise<R | undefined>;

  /**
   * Runs `work` in one READ COMMITTED transaction and resolves after COMMIT. `work` runs again, up to three times, after a deadlock or a
   * serialisation failure, so it must have no effect outside of the transaction. A connection lost during COMMIT is 503 `outcome-unknown`.
   */
  transaction<T>(work: (trx: Transaction<Database>) => Promise<T>): Promise<T>;
}

export interface Store extends Statements {
  /** Does what `query` does. The statement gets a name when it comes again, so its best plan must be the same for all values. */
  queryRepeated<R>(query: CompiledQuery<R>): Promise<R[]>;

  /**
   * Runs `work` in one read-only transaction, whose statements all see the same rows. PostgreSQL ends the statement
   * that runs when `limitMs` milliseconds are over: then it fails as `exceededStatementTime` of failure.ts says. The statements are built for
   * one request.
   */
  readOnly<T>(limitMs: number, work: (run: Run) => Promise<T>): Promise<T>;

  /**
   * Runs `work` on a connection of its own, which does not go through a transaction pooler. Its statements have no limit of time, so it can build
   * indexes, and it can hold locks of the session, which end with it.
   */
  runLong<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>;

  /** Makes a listener for notifications. `directUrl` must not pool by transaction; see {@link Listener}. */
  listener(directUrl: string, events: ListenerEvents): Listener;

  /** Resolves once every process has acted upon what was committed before, after three seconds at the latest; see {@link settleAll}. */
  settleAll(directUrl: string): Promise<void>;

  connections(): ConnectionCounts;

  /** The position of the log of the database after writes; undefined for a store that does not follow it. */
  readonly log: PrimaryLog | undefined;
}

/** The store of a process, which {@link openStore} opens. */
export class PostgresStore implements Store {
  readonly db: Kysely<Database>;
  readonly #connection: Connection;
  readonly #long: LongConnections;
  readonly log: PrimaryLog | undefined;
  /** By statement. Those of a companion table end with its type. */
  readonly #groups = new WeakMap<object, unknown>();
  /** By the name of the statement: one bound for all companion tables, and for the names without one. */
  readonly #turns = new Map<string, GroupTurns>();

  constructor(connection: Connection, long: LongConnections, followsLog: boolean) {
    this.#connection = connection;
    this.#long = long;
    this.db = connection.db;
    if (!followsLog) return;
    const log = new PrimaryLog(connection.reads);
    this.log = log;
    connection.pool.follow = (to) => log.noteFrom(to);
  }

  read<V, R>(statement: PreparedStatement<V, R>, values: V): Promise<R[]> {
    return statement(this.#connection.reads, values);
  }

  run<V, R>(statement: PreparedStatement<V, R>, values: V): Promise<R[]> {
    return statement(this.#connection.pool, values);
  }

  query<R>(query: CompiledQuery<R>): Promise<R[]> {
    return this.#connection.pool.read((client) => runBuilt(client, query));
  }

  queryRepeated<R>(query: CompiledQuery<R>): Promise<R[]> {
    return this.#connection.pool.read((client) => runRepeated(client, query));
  }

  readOnly<T>(limitMs: number, work: (run: Run) => Promise<T>): Promise<T> {
    return this.#connection.pool.read((client) => readTransaction(client, limitMs, work));
  }

  writeGrouped<R>(statement: GroupedStatement<R>, row: string): Promise<R | undefined> {
    return this.#groupOf(statement).run(row);
  }

  writeAlone<R>(statement: GroupedStatement<R>, row: string): Promise<R | undefined> {
    return this.#groupOf(statement).runAlone(row);
  }

  #groupOf<R>(statement: GroupedStatement<R>): WriteGroup<R> {
    let group = this.#groups.get(statement) as WriteGroup<R> | undefined;
    if (!group) {
      const { name } = statement.work;
      const turns = this.#turns.get(name) ?? new GroupTurns();
      this.#turns.set(name, turns);
      group = new WriteGroup(this.#connection.pool, statement, { turns });
      this.#groups.set(statement, group);
    }
    return group;
  }

  async transaction<T>(work: (trx: Transaction<Database>) => Promise<T>): Promise<T> {
    const result = await inTransaction(this.db, work);
    await this.log?.atPresent();
    return result;
  }

  runLong<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
    return this.#long.run(work);
  }

  listener(directUrl: string, events: ListenerEvents): Listener {
    return new Listener(directUrl, this.#connection.pool, events);
  }

  settleAll(directUrl: string): Promise<void> {
    return settleAll(directUrl, this.#connection.pool);
  }

  connections(): ConnectionCounts {
    const { pool, reads } = this.#connection;
    const { open, busy } = reads.connections;
    return {
      pool: {
        busy: pool.totalCount - pool.idleCount,
        idle: pool.idleCount,
        limit: pool.options.max,
        waiting: pool.waitingCount,
      },
      reads: { busy, idle: open - busy },
    };
  }

  /** Resolves once every connection is closed, which waits for the statements under way, except for those of `runLong`. */
  close(): Promise<void> {
    this.#long.close();
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** How long the first connection of a store may take, as long as those of migrations and other single connections. */
const firstConnectionMs = 10_000;

export interface StoreOptions {
  /** Leads to the same database without a transaction pooler; the address of the store itself unless given. */
  directUrl?: string;
  /** Whether the store follows the log of the database, which costs one more statement for each group of writes. */
  followsLog?: boolean;
}

/**
 * Opens a store of at most `size` connections to the PostgreSQL at `url`. It connects when the first statement needs it. `onError` receives the
 * errors of connections that end while idle or in use (rule 90).
 */
export function openStore(
  url: string,
  size: number,
  onError: (error: Error) => void,
  { directUrl = url, followsLog = false }: StoreOptions = {},
): PostgresStore {
  return new PostgresStore(connectPool(url, size, onError, firstConnectionMs), new LongConnections(directUrl), followsLog);
}
