/**
 * Load over raw keep-alive connections, which costs its sender a fraction of what node:http does: in a closed loop, or at a rate that does not
 * ask whether anybody keeps up.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** The bytes of the n-th request. */
export type RequestOf = (n: number) => Buffer;

export interface Offered {
  /** Answers with 2xx that came within the time. */
  granted: number;
  /** Answers with 503 or 429 that say when to come back. */
  refused: number;
  /** Milliseconds within which 99 % of the granted were answered. */
  p99: number;
  /** Whatever else came back, or that nothing did; the first of them. */
  wrong: string[];
}

const tickMilliseconds = 5;
const kept = 20;

/** Keeps `clients` busy for `seconds`. */
export async function keepBusy(port: number, clients: number, seconds: number, requestOf: RequestOf): Promise<Offered> {
  const round = new Round(port, seconds, requestOf);
  const work = async () => {
    const client = await round.open();
    while (!round.over) await round.ask(client);
  };
  await Promise.all(Array.from({ length: clients }, work));
  return round.end();
}

/** Sends `rate` requests a second for `seconds`, from at most `clients` at once, and waits for all answers. */
export async function offer(port: number, rate: number, clients: number, seconds: number, requestOf: RequestOf): Promise<Offered> {
  const round = new Round(port, seconds, requestOf);
  const idle: Client[] = [];
  const asking = new Set<Promise<void>>();
  let opened = 0;
  const ask = async () => {
    const client = idle.pop() ?? (await round.open());
    await round.ask(client);
    if (!client.broken) idle.push(client);
    else opened -= 1;
  };
  for (let due = 0, sent = 0; !round.over; await delay(tickMilliseconds)) {
    for (due = round.elapsedSeconds * rate; sent < due; sent++) {
      // Those that would have sent it all still wait for an answer.
      if (idle.length === 0 && opened >= clients) continue;
      if (idle.length === 0) opened += 1;
      const asked = ask().finally(() => asking.delete(asked));
      asking.add(asked);
    }
  }
  await Promise.all(asking);
  return round.end();
}

class Round {
  #granted = 0;
  #refused = 0;
  #n = 0;
  readonly #latencies: number[] = [];
  readonly #wrong: string[] = [];
  readonly #clients: Client[] = [];
  readonly #began = performance.now();
  readonly #port: number;
  readonly #seconds: number;
  readonly #requestOf: RequestOf;

  constructor(port: number, seconds: number, requestOf: RequestOf) {
    this.#port = port;
    this.#seconds = seconds;
    this.#requestOf = requestOf;
  }

  get elapsedSeconds(): number {
    return (performance.now() - this.#began) / 1_000;
  }

  get over(): boolean {
    return this.elapsedSeconds >= this.#seconds;
  }

  async open(): Promise<Client> {
    const client = new Client(this.#port);
    this.#clients.push(client);
    return client;
  }

  async ask(client: Client): Promise<void> {
    const sentAt = performance.now();
    const answer = await client.ask(this.#requestOf(this.#n++));
    const status = Number(answer.slice(9, 12));
    if (status >= 200 && status < 300) {
      if (this.over) return;
      this.#granted += 1;
      this.#latencies.push(performance.now() - sentAt);
    } else if ((status === 503 || status === 429) && /\r\nretry-after: *[1-9]/i.test(answer)) this.#refused += 1;
    else if (this.#wrong.length < kept) this.#wrong.push(answer === '' ? 'a request was not answered' : answer);
  }

  end(): Offered {
    for (const client of this.#clients) client.close();
    const sorted = Float64Array.from(this.#latencies).sort();
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
    return { granted: this.#granted, refused: this.#refused, p99, wrong: this.#wrong };
  }
}

const endOfHead = '\r\n\r\n';

/** A connection with one request under way at most. */
class Client {
  broken = false;
  readonly #socket: Socket;
  #received = '';
  #resolve: ((answer: string) => void) | undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (chunk: string) => this.#receive(chunk));
    this.#socket.on('error', () => this.#break()).on('close', () => this.#break());
  }

  /** The whole answer; nothing when the connection ends without one. */
  ask(request: Buffer): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#resolve = resolve;
    if (this.broken) resolve('');
    else this.#socket.write(request);
    return promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    const head = this.#received.indexOf(endOfHead);
    if (head === -1) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#received)?.[1]);
    if (this.#received.length < head + endOfHead.length + length) return;
    const answer = this.#received;
    this.#received = '';
    this.#resolve?.(answer);
  }

  #break(): void {
    this.broken = true;
    this.#resolve?.('');
  }
}
