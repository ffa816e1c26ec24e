/** A process that listens like a replica of the service, and confirms a notification only when the test allows it. */
import { Client } from 'pg';

export class SilentProcess {
  readonly #client: Client;
  readonly #questions: [channel: string, token: string][] = [];
  #onQuestion: () => void = () => undefined;

  private constructor(client: Client) {
    this.#client = client;
    client.on('notification', ({ payload = '' }) => {
      const [kind, channel = '', token = ''] = payload.split(' ');
      if (kind !== 'echo') return;
      this.#questions.push([channel, token]);
      this.#onQuestion();
    });
  }

  static async start(databaseUrl: string): Promise<SilentProcess> {
    const client = new Client({ connectionString: databaseUrl, application_name: 'entity-service listen' });
    await client.connect();
    await client.query('listen principal');
    // The shared lock of two numbers counts each listening process (database/listen.ts).
    await client.query('select pg_advisory_lock_shared(1936941420, 1)');
    return new SilentProcess(client);
  }

  /** Resolves once this process is asked to confirm the earlier notifications. */
  get asked(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#questions.length > 0) resolve();
    else this.#onQuestion = resolve;
    return promise;
  }

  /** Confirms the notifications. */
  async answer(): Promise<void> {
    for (const [channel, token] of this.#questions.splice(0))
      await this.#client.query("select pg_notify($1, 'heard ' || $2 || ' ' || pg_backend_pid())", [channel, token]);
  }

  async stop(): Promise<void> {
    await this.#client.end();
  }
}
