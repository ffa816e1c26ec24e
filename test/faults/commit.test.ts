import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { password, TestService } from '../support/service.ts';

/** Stands between the service and PostgreSQL, and breaks: when it has delivered a COMMIT, or when it has delivered the answer to one. */
class Cable {
  breaksAt: 'never' | 'commit' | 'answer' = 'never';
  #broken = false;
  readonly #server: Server;

  constructor(to: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(to.port), to.hostname);
      const end = () => {
        client.destroy();
        server.destroy();
      };
      for (const socket of [client, server]) socket.on('error', end).on('close', end);
      if (this.#broken) end();
      let committing = false;
      server.on('data', (bytes: Buffer) => {
        client.write(bytes);
        if (committing) this.#broken = true;
      });
      client.on('data', (bytes: Buffer) => {
        if (this.#broken) return end();
        const isCommit = bytes.includes('commit');
        committing = isCommit && this.breaksAt === 'answer';
        if (!isCommit || this.breaksAt !== 'commit') return server.write(bytes);
        client.resetAndDestroy();
        return server.end(bytes);
      });
    });
  }

  repair(): void {
    this.breaksAt = 'never';
    this.#broken = false;
  }

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
  }
}

describe('a connection that breaks at COMMIT (rule 77)', () => {
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
    cable.breaksAt = 'commit';
    const answer = await signIn();
    cable.repair();
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body.code).toBe('outcome-unknown');
    expect(answer.headers.get('retry-after')).toBe('2');
    // The COMMIT is on its way to PostgreSQL, which may take it up after the answer.
    await expect.poll(() => service.db.selectFrom('session').select('id').execute()).toHaveLength(2);
  });

  test('503 — nor when the new token cannot be handed over any more', async () => {
    const cookie = await service.signIn('ada');
    const next = 'another correct horse battery';
    cable.breaksAt = 'answer';
    const form = { 'current-password': password, 'set-password': next, 'confirm-password': next };
    const answer = await service.call('POST', '/auth/password', { cookie, form });
    cable.repair();
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body.code).toBe('outcome-unknown');
    expect(await service.signIn('ada', next)).toMatch(/^sid=/);
  });
});
