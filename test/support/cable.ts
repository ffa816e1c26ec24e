/** A connection to PostgreSQL that breaks at a given place. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';

/** COMMIT as the service sends it: a simple query of PostgreSQL's protocol. */
export const commit = Buffer.from('Q\0\0\0\x0bcommit\0');

/** A proxy between the service and PostgreSQL. It breaks when it has delivered certain bytes, or when it has delivered their answer. */
export class Cable {
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
