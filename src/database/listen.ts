/**
 * One connection that hears the database's notifications on the channel `principal`, reconnecting for as long as the process lives.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

const channel = 'principal';
const retryMilliseconds = 1_000;
const echoTimeoutMilliseconds = 1_000;

export interface ListenerEvents {
  /** The line is up (true) or has gone down (false). Up is reported before the first notice. */
  onLine(up: boolean): void;
  onNotice(payload: string): void;
  onError(error: Error): void;
}

export class Listener {
  readonly #url: string;
  readonly #events: ListenerEvents;
  readonly #echoes = new Map<string, () => void>();
  #client: Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(url: string, events: ListenerEvents) {
    this.#url = url;
    this.#events = events;
  }

  /** Connects; never throws. While PostgreSQL is out of reach it tries again every second. */
  async open(): Promise<void> {
    const client = new Client({
      connectionString: this.#url,
      application_name: 'entity-service listen',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', (error) => this.#down(client, error));
    client.on('end', () => this.#down(client));
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    this.#client = client;
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      if (this.#client === client) this.#events.onLine(true);
    } catch (error) {
      this.#down(client, error as Error);
    }
  }

  /**
   * Resolves once every notification that was committed before the call has been sent out to all listening processes and has arrived
   * here, or after a second, or at once while the line is down (then nothing is cached).
   */
  async settle(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    const token = `echo ${randomUUID()}`;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#echoes.set(token, resolve);
    const timer = setTimeout(resolve, echoTimeoutMilliseconds);
    try {
      await client.query('select pg_notify($1, $2)', [channel, token]);
      await promise;
    } catch {
      // The line broke: #down has emptied the cache, which is what the caller waits for.
    } finally {
      clearTimeout(timer);
      this.#echoes.delete(token);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#client?.end().catch(() => undefined);
  }

  #hear(payload: string): void {
    const echo = this.#echoes.get(payload);
    if (echo) echo();
    else if (!payload.startsWith('echo ')) this.#events.onNotice(payload);
  }

  #down(client: Client, error?: Error): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#events.onLine(false);
    if (this.#closed) return;
    if (error) this.#events.onError(error);
    client.end().catch(() => undefined);
    this.#retry = setTimeout(() => void this.open(), retryMilliseconds);
  }
}
