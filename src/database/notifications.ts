/**
 * One connection that hears the database's notifications on the channel `principal`, reconnecting for as long as the process lives, and
 * tells when every process has heard them. PostgreSQL hands notifications to each connection in its own time, so that is asked for and
 * answered: `echo <channel> <token>` goes to all, and `heard <token> <id>` comes back on a channel of one's own. The id is a UUID, in the name
 * of the connection while it counts as up. So the server says which ones listen, and it notices at once when one ends (decision 186).
 *
 * A pooler that pools by transaction accepts LISTEN and passes few notifications on. So the line counts as up only while it has proved that
 * it hears what is sent over the pool: `proof <word>`, sent at the start, after each reconnect and every 30 seconds (decision 66).
 */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { DirectAddressError } from './failure.ts';
import { UnheardError, UnseenError } from './unheard-error.ts';
import { VerifiedClient } from './driver/verified-client.ts';

const channel = 'principal';
/** A connection that has proved itself has its UUID behind this name, together 58 of the 63 bytes that PostgreSQL shows. */
const applicationName = 'entity-service listen';
const reconnectPauseMs = 1_000;
const proofIntervalMs = 30_000;
/** How long after it was sent a notice may arrive at the latest. */
const proofTimeoutMs = 1_000;
/** A process that does not answer is waited for no longer than it may keep what it has verified (`authn/principal-cache.ts`). */
const answerTimeoutMs = 3_000;

export interface ListenerEvents {
  /** The line is up (true) or has gone down (false); told when it changes. */
  onLine(up: boolean): void;
  onNotice(payload: string): void;
  /** Why the line is down: a {@link DirectAddressError} where its own connection failed. An {@link UnheardError} is told once, until the line has been up or another error has come between. */
  onError(error: Error): void;
}

/** The UUIDs of those that listen on this database. */
const listeners = `
  select substr(application_name, ${applicationName.length + 2}) as id from pg_stat_activity
  where application_name like '${applicationName} %' and datname = current_database()`;
const send = 'select pg_notify($1, $2)';

/** Which listeners are asked whether they have heard, and which have said so, by their UUIDs. */
interface PendingConfirmations {
  expected: string[] | undefined;
  confirmed: Set<string>;
  resolve: () => void;
}

function throwOfDirectAddress(error: unknown): never {
  throw new DirectAddressError(error);
}

export class Listener {
  readonly #url: string;
  readonly #pool: Pick<Pool, 'query'>;
  readonly #events: ListenerEvents;
  readonly #proofIntervalMs: number;
  /** The same for each connection: one that has ended without the server noticing has no more to say. */
  readonly #id = randomUUID();
  readonly #replyChannel = `principal_${this.#id}`;
  readonly #pending = new Map<string, PendingConfirmations>();
  #client: VerifiedClient | undefined;
  /** The next attempt to connect while the line is down, the next proof while it is up. */
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #isUp = false;
  /** Whether this connection has heard a proof. Before, it must be idle: a pooler passes on what arrives while a statement is under way. */
  #isProved = false;
  /** Whether it was for want of a proof that the line went down last. */
  #isUnheard = false;
  #proof: { word: string; resolve: () => void } | undefined;
  /** The end of the latest statement: a connection takes one after the other. */
  #done: Promise<unknown> = Promise.resolve();

  /**
   * `url` must lead to a session of its own; `pool` is what the requests use. A proof is repeated `every` so many milliseconds.
   */
  constructor(url: string, pool: Pick<Pool, 'query'>, events: ListenerEvents, { every = proofIntervalMs } = {}) {
    this.#url = url;
    this.#pool = pool;
    this.#events = events;
    this.#proofIntervalMs = every;
  }

  /** Whether notifications arrive. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Connects and proves the line; never throws. While PostgreSQL is out of reach it tries again every second. */
  async open(): Promise<void> {
    const client = new VerifiedClient({
      connectionString: this.#url,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', (error) => this.#down(client, new DirectAddressError(error)));
    client.on('end', () => this.#down(client));
    client.on('notification', ({ payload = '' }) => this.#onNotice(client, payload));
    this.#client = client;
    this.#done = Promise.resolve();
    this.#isProved = false;
    try {
      await client.connect().catch(throwOfDirectAddress);
      await this.#query(client, `listen ${channel}; listen "${this.#replyChannel}"`);
      // The name by statement: one in the address would go before one in the options. The rest, because otherwise a machine that has lost its
      // power would be waited for until the database notices, which takes hours by default.
      await this.#query(
        client,
        `set application_name = '${applicationName}'; set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3`,
      );
      await this.#prove();
      // Another connection may have taken its place, which has to be proved itself.
      if (this.#client !== client) return;
      this.#isProved = true;
      await this.#query(client, `set application_name = '${applicationName} ${this.#id}'`);
      await this.#assertSeen();
      if (this.#client !== client) return;
      this.#isUnheard = false;
      this.#proveLater(client);
      this.#turn(true);
    } catch (error) {
      this.#down(client, error as Error);
    }
  }

  /**
   * Resolves once every notification that was committed before the call has been acted upon by all processes that listen; after three
   * seconds when one does not say so, since then no process holds anything older. A process whose line is down is not asked: it holds nothing,
   * except for what it has verified in the last three seconds, while it has not noticed yet that PostgreSQL has dropped the line.
   */
  async settle(): Promise<void> {
    const token = randomUUID();
    const { promise, resolve } = Promise.withResolvers<void>();
    const pending: PendingConfirmations = { expected: undefined, confirmed: new Set(), resolve };
    this.#pending.set(token, pending);
    const timer = setTimeout(resolve, answerTimeoutMs);
    // Not awaited: asking a database that does not answer takes longer.
    this.#requestConfirmations(token, pending).catch(() => undefined);
    await promise;
    clearTimeout(timer);
    this.#pending.delete(token);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => undefined);
  }

  /** Over the pool, which also a process can use whose own line is down. */
  async #requestConfirmations(token: string, pending: PendingConfirmations): Promise<void> {
    // One that begins to listen later has kept nothing yet.
    pending.expected = await this.#listeners();
    if (pending.expected.length > 0) await this.#pool.query(send, [channel, `echo ${this.#replyChannel} ${token}`]);
    settleIfConfirmed(pending);
  }

  async #listeners(): Promise<string[]> {
    const { rows } = await this.#pool.query<{ id: string }>(listeners);
    return rows.map(({ id }) => id);
  }

  /** Other processes wait for this listener only if they see its name, which a pooler may change. Throws {@link UnseenError}. */
  async #assertSeen(): Promise<void> {
    if (!(await this.#listeners()).includes(this.#id)) throw new UnseenError('other processes do not see the connection for notifications');
  }

  /** Resolves when a notice that is sent over the pool has come. Throws {@link UnheardError} when it does not come in time. */
  async #prove(): Promise<void> {
    const word = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#proof = { word, resolve };
    await this.#pool.query(send, [this.#replyChannel, `proof ${word}`]);
    // After a pause of the whole process, a notice that has arrived meanwhile comes before the verdict.
    const timer = setTimeout(() => setImmediate(() => reject(new UnheardError('a notification has not arrived'))), proofTimeoutMs).unref();
    await promise.finally(() => clearTimeout(timer));
  }

  /** A proof that could not be sent, as when the pool is exhausted, shows nothing of the line: it is tried three times, a second apart. */
  #proveLater(client: VerifiedClient, wait = this.#proofIntervalMs, unsent = 0): void {
    this.#timer = setTimeout(() => {
      this.#prove().then(
        () => this.#client === client && this.#proveLater(client),
        (error: Error) => {
          if (error instanceof UnheardError || unsent === 2) this.#down(client, error);
          else if (this.#client === client) this.#proveLater(client, reconnectPauseMs, unsent + 1);
        },
      );
    }, wait);
  }

  async #query(client: VerifiedClient, text: string, values: unknown[] = []): Promise<void> {
    const result = this.#done.then(() => client.query(text, values)).catch(throwOfDirectAddress);
    this.#done = result.catch(() => undefined);
    await result;
  }

  #onNotice(client: VerifiedClient, payload: string): void {
    if (this.#client !== client) return;
    const [kind, first = '', second = ''] = payload.split(' ');
    if (kind === 'echo') {
      if (!this.#isProved) return;
      // Whatever was notified before has been heard before, and acted upon at once.
      this.#query(client, send, [first, `heard ${second} ${this.#id}`]).catch((error: Error) => this.#down(client, error));
    } else if (kind === 'heard') {
      const pending = this.#pending.get(first);
      pending?.confirmed.add(second);
      if (pending) settleIfConfirmed(pending);
    } else if (kind === 'proof') {
      if (this.#proof?.word === first) this.#proof.resolve();
    } else {
      this.#events.onNotice(payload);
    }
  }

  #turn(up: boolean): void {
    if (this.#isUp === up) return;
    this.#isUp = up;
    this.#events.onLine(up);
  }

  #down(client: VerifiedClient, error?: Error): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#turn(false);
    clearTimeout(this.#timer);
    if (this.#closed) return;
    const isKnown = this.#isUnheard && error instanceof UnheardError;
    this.#isUnheard = error instanceof UnheardError;
    if (error && !isKnown) this.#events.onError(error);
    client.end().catch(() => undefined);
    this.#timer = setTimeout(() => void this.open(), isKnown ? this.#proofIntervalMs : reconnectPauseMs);
  }
}

/**
 * Resolves once every process that serves from this database has acted upon all that was committed before, after three seconds at the latest.
 * For one that does not listen itself; `url` and `pool` are as for a {@link Listener}.
 */
export async function settleAll(url: string, pool: Pick<Pool, 'query'>): Promise<void> {
  const ignore = () => undefined;
  const listener = new Listener(url, pool, { onLine: ignore, onNotice: ignore, onError: ignore });
  await listener.open();
  await listener.settle();
  await listener.close();
}

function settleIfConfirmed({ expected, confirmed, resolve }: PendingConfirmations): void {
  if (expected?.every((id) => confirmed.has(id))) resolve();
}
