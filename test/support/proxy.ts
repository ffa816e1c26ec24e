/** A cable between a service and its PostgreSQL that tests can pull out, clamp off, or cut at a chosen moment. It reads nothing it passes on. */
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
  /** Text in what is sent to the database that breaks the line once it has arrived there. */
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

  /** The address of the same database through this cable. */
  urlOf(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${this.#port}`;
    return url.href;
  }

  /** Ends every connection and refuses new ones, as a host does on which PostgreSQL has stopped. */
  async cut(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#endLines();
    await closed;
  }

  /** Ends every connection, and new ones as soon as they are made, as a load balancer does that has nobody to pass them on to. */
  reset(): void {
    this.#mode = 'reset';
    this.#endLines();
  }

  /** Lets nothing pass any more and ends nothing, as a network does that swallows packets; new connections are accepted and never answered. */
  stall(): void {
    this.#mode = 'stalled';
    for (const { client, server } of this.#lines) {
      client.pause();
      server.pause();
    }
  }

  /** After {@link stall}: new connections work, and those that were there stay silent for good. */
  abandon(): void {
    this.#mode = 'open';
    for (const { client, server } of this.#lines) {
      client.removeAllListeners('data');
      server.removeAllListeners('data');
    }
  }

  /** Lets everything pass `ms` milliseconds late, in both directions. */
  slow(ms: number): void {
    this.#delayMs = ms;
  }

  /** Breaks the line on which the next `text` is sent, after that has reached the database and before its answer comes back. */
  loseAnswerTo(text: string): void {
    this.#fatal = text;
  }

  /** Makes everything work again, for connections that are still there too. */
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
        // Half-closed, the server still does what it was sent; its answer has nowhere to go.
        line.server.removeAllListeners('data').resume();
        return line.server.end(bytes);
      });
      if (this.#mode === 'stalled') {
        client.pause();
        line.server.pause();
      }
    });
  }

  /** Writes at once, or late and in order. */
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
