import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { password, TestService } from '../support/service.ts';

/** COMMIT as the service sends it: a simple query of PostgreSQL's protocol. */
const commit = Buffer.from('Q\0\0\0\x0bcommit\0');
/** Identifies the statement that opens a session, whatever its text: one of its values. */
const opening = Buffer.from('session.created');

/** A proxy between the service and PostgreSQL. It breaks when it has delivered certain bytes, or when it has delivered their answer. */
class Cable {
  breaksAt: { what: Buffer; delivered: 'question' | 'answer' } | undefined;
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
      let answering = false;
      server.on('data', (bytes: Buffer) => {
        client.write(bytes);
        if (answering) this.#broken = true;
      });
      client.on('data', (bytes: Buffer) => {
        if (this.#broken) return end();
        const { what, delivered } = this.breaksAt ?? {};
        const isIt = what !== undefined && bytes.includes(what);
        answering = isIt && delivered === 'answer';
        if (!isIt || answering) return server.write(bytes);
        client.resetAndDestroy();
        return server.end(bytes);
      });
    });
  }

  repair(): void {
    this.breaksAt = undefined;
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

  test.each([
    ['at the statement that opens a session', opening, undefined],
    ['at the COMMIT after the statements that also end another session', commit, 'carried'],
  ])('503 — outcome-unknown when the session was opened: the connection breaks %s', async (_where, what, carried) => {
    const { db } = service;
    const cookie = carried && (await service.signIn('ada'));
    const signIn = () => service.call('POST', '/auth', { form: { user: 'ada', password }, cookie });
    expect((await service.call('POST', '/auth', { form: { user: 'ada', password } })).status).toBe(200);
    const before = await db.selectFrom('session').select('id').execute();
    cable.breaksAt = { what, delivered: 'question' };
    const answer = await signIn();
    cable.repair();
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body.code).toBe('outcome-unknown');
    expect(answer.headers.get('retry-after')).toBe('2');
    // PostgreSQL may run the statement after the service's answer.
    await expect.poll(() => db.selectFrom('session').select('id').execute()).toHaveLength(before.length + 1);
    const pending = () => db.selectFrom('login_attempt').select(['failures', 'pending']).execute();
    await expect.poll(pending, { message: 'the attempt has ended' }).toEqual([
      { failures: 0, pending: 0 },
      { failures: 0, pending: 0 },
    ]);
  });

  test('503 — outcome-unknown when the password was changed, but its answer with the new token was lost', async () => {
    const cookie = await service.signIn('ada');
    const next = 'another correct horse battery';
    cable.breaksAt = { what: commit, delivered: 'answer' };
    const form = { 'current-password': password, 'set-password': next, 'confirm-password': next };
    const answer = await service.call('POST', '/auth/password', { cookie, form });
    cable.repair();
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body.code).toBe('outcome-unknown');
    expect(await service.signIn('ada', next)).toMatch(/^sid=/);
  });
});
