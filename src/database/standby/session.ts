/** Reads on one connection to a standby. */
import type { CompiledQuery } from 'kysely';
import type { PreparedStatement } from '../driver/prepared.ts';
import type { PooledClient } from '../driver/timeout-pool.ts';
import { limitedRun, type Run } from '../limited-run.ts';
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

  async query<R>({ sql, parameters }: CompiledQuery<R>): Promise<R[]> {
    const { rows } = await this.#client.query(sql, [...parameters]);
    return rows as R[];
  }

  async readOnly<T>(limitMs: number, work: (run: Run) => Promise<T>): Promise<T> {
    await this.#client.query('begin isolation level repeatable read read only');
    try {
      const result = await work(limitedRun(limitMs, (query) => this.query(query)));
      await this.#client.query('commit');
      return result;
    } catch (error) {
      // A connection that broke has no transaction any more.
      await this.#client.query('rollback').catch(() => undefined);
      throw error;
    }
  }
}
