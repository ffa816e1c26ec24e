import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { password, TestService } from '../support/service.ts';

/** Stands between the service and PostgreSQL; while `cutting`, it delivers a COMMIT and then breaks the connection. */
class Cable {
  cutting = false;
  readonly #server: Server;

  constructor(to: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(to.port), to.hostname);
      const end = () => {
        client.destroy();
        server.destroy();
      };
      for (const socket of [client, server]) socket.on('error', end).on('close', end);
      server.pipe(client);
      client.on('data', (bytes: Buffer) => {
        if (!this.cutting || !bytes.includes('commit')) return server.write(bytes);
        client.resetAndDestroy();
        return server.end(bytes);
      });
    });
  }

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
  }
}

describe('a connection that breaks during COMMIT (rule 77)', () => {
  let database: TestDatabase;
  let cable: Cable;
  let service: TestService;

  beforeAll(async () => {
    database = await createDatabase();
    const url = new URL(database.url);
    cable = new Cable(url);
    const port = await cable.listen();
    const through = new URL(url);
    through.host = `127.0.0.1:${port}`;
    service = await TestService.start({}, { url: through.href, drop: async () => undefined });
    await service.createUser('ada');
  });
  afterAll(async () => {
    await service.close();
    cable.close();
    await database.drop();
  });

  test('503 — does not say that nothing has happened when it has', async () => {
    const signIn = () => service.call('POST', '/auth', { form: { user: 'ada', password } });
    expect((await signIn()).status).toBe(200);
    cable.cutting = true;
    const answer = await signIn();
    cable.cutting = false;
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body.code).toBe('outcome-unknown');
    expect(answer.headers.get('retry-after')).toBe('2');
    const sessions = await service.db.selectFrom('session').select('id').execute();
    expect(sessions).toHaveLength(2);
  });
});
