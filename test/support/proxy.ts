/**
 * A TCP proxy between a service and its PostgreSQL that tests can cut, stall, or cut at a chosen moment. It does not parse what it passes
 * on.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

interface Line {
  client: Socket;
  server: Socket;
}

export class Proxy {
  readonly #target: { host: string; port: number };
  readonly #lines = new Set<Line>();
  #server: Server;
  #port = 0;
  #mode: 'open' | 'reset' | 'stalled' = 'open';
  /** When this text is sent to the database, the connection breaks after the text has arrived there. */
  #fatal: string | undefined;
  #delayMs = 0;

  private constructor(databaseUrl: string) {
    const { hostname, port } = new URL(databaseUrl);
    this.#target = { host: hostname, port: Number(port || 5432) };
    this.#server = this.#listen();
  }

  static async open(databaseUrl: string): Promise<Proxy> {
    const proxy = new Proxy(databaseUrl);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    proxy.#port = (proxy.#server.address() as AddressInfo).port;
    return proxy;
  }

  /** The URL of the same database through this proxy. */
  urlOf(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${this.#port}`;
    return url.href;
  }

  /** Ends every connection and refuses new ones, like a host on which PostgreSQL has stopped. */
  async cut(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#endLines();
    await closed;
  }

  /** Ends every connection, and new ones at once, like a load balancer without a backend. */
  reset(): void {
    this.#mode = 'reset';
    this.#endLines();
  }

  /** Stops all traffic without ending a connection, like a network that drops packets. New connections are accepted and never answered. */
  stall(): void {
    this.#mode = 'stalled';
    for (const { client, server } of this.#lines) {
      client.pause();
      server.pause();
    }
  }

  /** After {@link stall}: new connections work, and the older ones stay silent permanently. */
  abandon(): void {
    this.#mode = 'open';
    for (const { client, server } of this.#lines) {
      client.removeAllListeners('data');
      server.removeAllListeners('data');
    }
  }

  /** Delays all traffic by `ms` milliseconds, in both directions. */
  slow(ms: number): void {
    this.#delayMs = ms;
  }

  /** Breaks the connection on which the next `text` is sent, after the database has received it and before its answer returns. */
  loseAnswerTo(text: string): void {
    this.#fatal = text;
  }

  /** Makes all connections work again, also those that were stalled. */
  async restore(): Promise<void> {
    this.#mode = 'open';
    this.#fatal = undefined;
    this.#delayMs = 0;
    for (const { client, server } of this.#lines) {
      client.resume();
      server.resume();
    }
    if (this.#server.listening) return;
    this.#server = this.#listen();
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.cut();
  }

  #listen(): Server {
    return createServer((client) => {
      if (this.#mode === 'reset') return void client.resetAndDestroy();
      const line = { client, server: connect(this.#target) };
      this.#lines.add(line);
      for (const socket of [client, line.server]) {
        socket.on('error', () => this.#end(line));
        socket.on('close', () => this.#end(line));
      }
      const [toClient, toServer] = [this.#passTo(client), this.#passTo(line.server)];
      line.server.on('data', toClient);
      client.on('data', (bytes: Buffer) => {
        if (this.#fatal === undefined || !bytes.includes(this.#fatal)) return toServer(bytes);
        this.#fatal = undefined;
        // After the half-close the server still runs the statement; its answer is dropped.
        line.server.removeAllListeners('data').resume();
        return line.server.end(bytes);
      });
      if (this.#mode === 'stalled') {
        client.pause();
        line.server.pause();
      }
    });
  }

  /** Writes at once, or with the delay and in order. */
  #passTo(socket: Socket): (bytes: Buffer) => void {
    let waiting = 0;
    let last = Promise.resolve();
    return (bytes) => {
      if (this.#delayMs === 0 && waiting === 0) return void socket.write(bytes);
      const ms = this.#delayMs;
      waiting += 1;
      const before = last;
      const pass = async () => {
        await before;
        await delay(ms);
        waiting -= 1;
        if (!socket.destroyed) socket.write(bytes);
      };
      last = pass();
    };
  }

  #end(line: Line): void {
    this.#lines.delete(line);
    line.client.destroy();
    line.server.destroy();
  }

  #endLines(): void {
    for (const line of this.#lines) this.#end(line);
  }
}
