/**
 * One connection that receives notifications on the channel `principal` and reconnects after a loss. `settle()` waits until every listening process
 * has confirmed. A process requests confirmations with `echo <channel> <token>`; each listener replies `heard <token> <id>`. The id is a UUID in the
 * name of a proved connection (decision 186).
 *
 * A pooler by transaction passes few notifications on, so a listener counts as up only after a proof over the pool (decision 66): `proof <word>`, sent
 * at the start, after each reconnect and every 30 seconds.
 */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { DirectAddressError } from './failure.ts';
import { MissingNotificationError, UnseenError } from './missing-notification-error.ts';
import { VerifiedClient } from './driver/verified-client.ts';

const channel = 'principal';
/** A connection that has proved itself has its UUID behind this name, together 58 of the 63 bytes that PostgreSQL shows. */
const applicationName = 'entity-service listen';
const connectionSettings = { keepAlive: true, keepAliveInitialDelayMillis: 10_000, connectionTimeoutMillis: 5_000 };
const reconnectPauseMs = 1_000;
const proofIntervalMs = 30_000;
/** A notice arrives within this time after it was sent. */
const proofTimeoutMs = 1_000;
/** The maximum wait for the confirmation of a process: the time for which it may use what it has verified (`authn/principal-cache.ts`). */
const answerTimeoutMs = 3_000;

export interface ListenerEvents {
  /** Called when the connection has come up (true) or gone down (false). */
  onLine(up: boolean): void;
  onNotice(payload: string): void;
  /**
   * Why the connection is down: a {@link DirectAddressError} if its own connection failed. An {@link MissingNotificationError} is reported once, until the
   * connection has been up or another error has come between.
   */
  onError(error: Error): void;
}

/** The UUIDs of those that listen on this database. */
const listeners = `
  select substr(application_name, ${applicationName.length + 2}) as id from pg_stat_activity
  where application_name like '${applicationName} %' and datname = current_database()`;
const send = 'select pg_notify($1, $2)';

/** The UUIDs of the listeners that are to confirm, undefined until they are known, and of those that have confirmed. */
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
  /** The same for each connection of this listener: one that has ended unnoticed by the server confirms nothing more. */
  readonly #id = randomUUID();
  readonly #replyChannel = `principal_${this.#id}`;
  readonly #pending = new Map<string, PendingConfirmations>();
  #client: VerifiedClient | undefined;
  /** The next attempt to connect while the connection is down, the next proof while it is up. */
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #isUp = false;
  /** Whether this connection has received a proof. Before, it must be idle: a pooler passes on what arrives while a statement is under way. */
  #isProved = false;
  /** Whether the connection last went down because a proof did not arrive. */
  #isUnheard = false;
  #proof: { word: string; resolve: () => void } | undefined;
  /** The end of the latest statement: a connection takes one after the other. */
  #done: Promise<unknown> = Promise.resolve();

  /** `url` must lead to a session of its own; `pool` is what the requests use. `every`: interval of proofs in milliseconds. */
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

  /** Connects and proves the connection; never throws. While PostgreSQL is out of reach it tries again every second. */
  async open(): Promise<void> {
    const client = new VerifiedClient({ connectionString: this.#url, ...connectionSettings });
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
   * Resolves once all listening processes have acted upon every notification committed before the call. Resolves after three seconds if one does
   * not confirm: then no process holds anything older. A process whose connection is down need not confirm. It holds nothing, or
   * only what it verified in the last three seconds, until it notices that PostgreSQL has dropped the connection.
   */
  async settle(): Promise<void> {
    const token = randomUUID();
    const { promise, resolve } = Promise.withResolvers<void>();
    const pending: PendingConfirmations = { expected: undefined, confirmed: new Set(), resolve };
    this.#pending.set(token, pending);
    const timer = setTimeout(resolve, answerTimeoutMs);
    // Not awaited: a database that does not answer takes longer.
    this.#requestConfirmations(token, pending).catch(() => undefined);
    await promise.finally(() => clearTimeout(timer));
    this.#pending.delete(token);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => undefined);
  }

  /** Over the pool, which a process can also use while its own connection is down. */
  async #requestConfirmations(token: string, pending: PendingConfirmations): Promise<void> {
    // A process that begins to listen later has cached nothing yet.
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

  /** Resolves when a notice that is sent over the pool has come. Throws {@link MissingNotificationError} when it does not come in time. */
  async #prove(): Promise<void> {
    const word = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#proof = { word, resolve };
    await this.#pool.query(send, [this.#replyChannel, `proof ${word}`]);
    // After a pause of the whole process, a notice that has arrived meanwhile comes before the verdict.
    const timer = setTimeout(
      () => setImmediate(() => reject(new MissingNotificationError('a notification has not arrived'))),
      proofTimeoutMs,
    ).unref();
    await promise.finally(() => clearTimeout(timer));
  }

  /** A proof that could not be sent, as when the pool is exhausted, shows nothing of the connection: it is tried three times, a second apart. */
  #proveLater(client: VerifiedClient, wait = this.#proofIntervalMs, unsent = 0): void {
    this.#timer = setTimeout(() => {
      this.#prove().then(
        () => this.#client === client && this.#proveLater(client),
        (error: Error) => {
          if (error instanceof MissingNotificationError || unsent === 2) this.#down(client, error);
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
      // Whatever was notified before has been received before, and acted upon at once.
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
    const isKnown = this.#isUnheard && error instanceof MissingNotificationError;
    this.#isUnheard = error instanceof MissingNotificationError;
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
