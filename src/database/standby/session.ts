/** Reads on one connection to a standby. */
import type { CompiledQuery } from 'kysely';
import { runBuilt, runRepeated, type PreparedStatement } from '../driver/prepared.ts';
import type { PooledClient } from '../driver/timeout-pool.ts';
import { readTransaction, type Run } from '../read-transaction.ts';
import type { LogPosition } from './log-position.ts';

export class StandbySession {
  readonly #client: PooledClient;
  /** Asks the server how far it is with the log now. */
  readonly position: () => Promise<LogPosition>;

  constructor(client: PooledClient, position: () => Promise<LogPosition>) {
    this.#client = client;
    this.position = position;
  }

  read<V, R>(statement: PreparedStatement<V, R>, values: V): Promise<R[]> {
    return statement(this.#client, values);
  }

  run<V, R>(statement: PreparedStatement<V, R>, values: V): Promise<R[]> {
    return statement(this.#client, values);
  }

  query<R>(query: CompiledQuery<R>): Promise<R[]> {
    return runBuilt(this.#client, query);
  }

  queryRepeated<R>(query: CompiledQuery<R>): Promise<R[]> {
    return runRepeated(this.#client, query);
  }

  readOnly<T>(limitMs: number, work: (run: Run) => Promise<T>): Promise<T> {
    return readTransaction(this.#client, limitMs, work);
  }
}
