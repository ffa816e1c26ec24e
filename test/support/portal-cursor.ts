/**
 * A cursor as pg-cursor and pg-query-stream make it: a query class of its own that reads a portal in portions and calls no callback of
 * node-postgres. It also is what Kysely's `.stream()` asks for.
 */
import type { Connection, Submittable } from 'pg';
import type { PostgresCursor } from 'kysely';
import { DatabaseError, types } from 'pg';

/** The messages of the extended query protocol that node-postgres can send and its types leave out. */
interface PortalConnection {
  parse(message: object): void;
  bind(message: object): void;
  describe(message: object): void;
  execute(message: object): void;
  close(message: object): void;
  flush(): void;
  sync(): void;
}

interface Field {
  name: string;
  dataTypeID: number;
}

export class PortalCursor<T> implements Submittable, PostgresCursor<T> {
  readonly #text: string;
  readonly #values: readonly unknown[];
  #connection: PortalConnection | undefined;
  #fields: Field[] = [];
  #rows: T[] = [];
  #isDone = false;
  #error: Error | undefined;
  #portion = Promise.withResolvers<T[]>();
  readonly #ready = Promise.withResolvers<void>();

  constructor(text: string, values: readonly unknown[] = []) {
    this.#text = text;
    this.#values = values;
    this.#portion.promise.catch(() => undefined);
    this.#ready.promise.catch(() => undefined);
  }

  /** The next rows, at most `count`; none at the end. */
  async read(count: number): Promise<T[]> {
    if (this.#error) throw this.#error;
    if (this.#isDone) return [];
    this.#portion = Promise.withResolvers<T[]>();
    this.#connection?.execute({ portal: '', rows: count });
    this.#connection?.flush();
    return this.#portion.promise;
  }

  /** Resolves when the connection is ready for the next statement. */
  async close(): Promise<void> {
    if (!this.#isDone && !this.#error) this.#finish();
    await this.#ready.promise;
  }

  #finish(): void {
    this.#isDone = true;
    this.#connection?.close({ type: 'P' });
    this.#connection?.sync();
  }

  submit(connection: Connection): void {
    const portal = connection as unknown as PortalConnection;
    this.#connection = portal;
    portal.parse({ text: this.#text });
    portal.bind({ values: this.#values });
    portal.describe({ type: 'P' });
    portal.flush();
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.#fields = fields;
  }

  handleDataRow({ fields }: { fields: string[] }): void {
    const columns = this.#fields.map(({ name, dataTypeID }, n) => [name, types.getTypeParser(dataTypeID)(fields[n] ?? '')]);
    this.#rows.push(Object.fromEntries(columns) as T);
  }

  handlePortalSuspended(): void {
    this.#portion.resolve(this.#rows.splice(0));
  }

  handleCommandComplete(): void {
    this.#finish();
    this.#portion.resolve(this.#rows.splice(0));
  }

  handleReadyForQuery(): void {
    this.#ready.resolve();
  }

  handleError(error: Error): void {
    this.#error = error;
    // After an error of the statement the server skips all messages until it is asked to synchronise.
    if (error instanceof DatabaseError) this.#connection?.sync();
    else this.#ready.reject(error);
    this.#portion.reject(error);
  }
}
