/** A process that listens like a replica of the service, and confirms a notification only when the test allows it. */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

export class SilentProcess {
  readonly #client: Client;
  readonly #id: string;
  readonly #questions: [channel: string, token: string][] = [];
  #onQuestion: () => void = () => undefined;

  private constructor(client: Client, id: string) {
    this.#client = client;
    this.#id = id;
    client.on('notification', ({ payload = '' }) => {
      const [kind, channel = '', token = ''] = payload.split(' ');
      if (kind !== 'echo') return;
      this.#questions.push([channel, token]);
      this.#onQuestion();
    });
  }

  static async start(databaseUrl: string): Promise<SilentProcess> {
    const id = randomUUID();
    // The service counts each listening process by this name (src/database/notifications.ts).
    const client = new Client({ connectionString: databaseUrl, application_name: `entity-service listen ${id}` });
    await client.connect();
    await client.query('listen principal');
    return new SilentProcess(client, id);
  }

  /** Resolves once this process is asked to confirm the earlier notifications. */
  get asked(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#questions.length > 0) resolve();
    else this.#onQuestion = resolve;
    return promise;
  }

  /** Confirms the notifications, as another process if an SQL expression names it. */
  async answer(as = `'${this.#id}'`): Promise<void> {
    for (const [channel, token] of this.#questions.splice(0))
      await this.#client.query(`select pg_notify($1, 'heard ' || $2 || ' ' || ${as})`, [channel, token]);
  }

  async stop(): Promise<void> {
    await this.#client.end();
  }
}
