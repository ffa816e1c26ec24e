/**
 * One connection that hears the database's notifications on the channel `principal`, reconnecting for as long as the process lives, and
 * tells when every process has heard them. PostgreSQL hands notifications to each connection in its own time, so that is asked for and
 * answered: `echo <channel> <token>` goes to all, and `heard <token> <pid>` comes back on a channel of one's own.
 */
import { randomUUID } from 'node:crypto';
import { VerifiedClient } from './verified-client.ts';

const channel = 'principal';
const retryMilliseconds = 1_000;
/** A process that does not answer is waited for no longer than it may keep what it has verified (`authn/principal-cache.ts`). */
const answerMilliseconds = 3_000;
/** Held, shared, by the connection of every process that listens, so that they can be counted. Two numbers of our own. */
const [lockSpace, lockNumber] = [1_936_941_420, 1];

export interface ListenerEvents {
  /** The line is up (true) or has gone down (false). Up is reported before the first notice. */
  onLine(up: boolean): void;
  onNotice(payload: string): void;
  onError(error: Error): void;
}

/** The connections that listen on this database. */
const listeners = `
  select pid from pg_locks where locktype = 'advisory' and classid = $1 and objid = $2 and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`;

/** Who is asked whether they have heard, and who has said so, by the process id of their connection. */
interface Question {
  asked: number[] | undefined;
  heard: Set<number>;
  resolve: () => void;
}

export class Listener {
  readonly #url: string;
  readonly #events: ListenerEvents;
  readonly #replyChannel = `principal_${randomUUID()}`;
  readonly #questions = new Map<string, Question>();
  #client: VerifiedClient | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  #isUp = false;
  /** The end of the latest statement: a connection takes one after the other. */
  #done: Promise<unknown> = Promise.resolve();

  constructor(url: string, events: ListenerEvents) {
    this.#url = url;
    this.#events = events;
  }

  /** Whether notifications arrive. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Connects; never throws. While PostgreSQL is out of reach it tries again every second. */
  async open(): Promise<void> {
    const client = new VerifiedClient({
      connectionString: this.#url,
      application_name: 'entity-service listen',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', (error) => this.#down(client, error));
    client.on('end', () => this.#down(client));
    client.on('notification', ({ payload = '' }) => this.#hear(client, payload));
    this.#client = client;
    this.#done = Promise.resolve();
    try {
      await client.connect();
      await this.#query(client, `listen ${channel}; listen "${this.#replyChannel}"`);
      // Otherwise a machine that has lost its power would be waited for until the database notices, which takes hours by default.
      await this.#query(client, 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3');
      await this.#query(client, 'select pg_advisory_lock_shared($1, $2)', [lockSpace, lockNumber]);
      if (this.#client === client) this.#turn(true);
    } catch (error) {
      this.#down(client, error as Error);
    }
  }

  /**
   * Resolves once every notification that was committed before the call has been acted upon by all processes that listen; after three
   * seconds when one does not say so or the line is down, since then nobody holds anything older.
   */
  async settle(): Promise<void> {
    const token = randomUUID();
    const { promise, resolve } = Promise.withResolvers<void>();
    const question: Question = { asked: undefined, heard: new Set(), resolve };
    this.#questions.set(token, question);
    const timer = setTimeout(resolve, answerMilliseconds);
    // Not awaited: over a line that is dead without knowing it, even asking takes for ever.
    this.#ask(token, question).catch(() => undefined);
    await promise;
    clearTimeout(timer);
    this.#questions.delete(token);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#client?.end().catch(() => undefined);
  }

  async #ask(token: string, question: Question): Promise<void> {
    const client = this.#client;
    if (!client) return;
    await this.#query(client, 'select pg_notify($1, $2)', [channel, `echo ${this.#replyChannel} ${token}`]);
    // One that begins to listen later has kept nothing yet.
    const rows = await this.#query<{ pid: number }>(client, listeners, [lockSpace, lockNumber]);
    question.asked = rows.map(({ pid }) => pid);
    settleIfHeard(question);
  }

  async #query<Row extends object>(client: VerifiedClient, text: string, values: unknown[] = []): Promise<Row[]> {
    const result = this.#done.then(() => client.query<Row>(text, values));
    this.#done = result.catch(() => undefined);
    return (await result).rows;
  }

  #hear(client: VerifiedClient, payload: string): void {
    const [kind, first = '', second = ''] = payload.split(' ');
    if (kind === 'echo') {
      // Whatever was notified before has been heard before, and acted upon at once.
      const answer = "select pg_notify($1, 'heard ' || $2 || ' ' || pg_backend_pid())";
      this.#query(client, answer, [first, second]).catch((error: Error) => this.#down(client, error));
    } else if (kind === 'heard') {
      const question = this.#questions.get(first);
      question?.heard.add(Number(second));
      if (question) settleIfHeard(question);
    } else {
      this.#events.onNotice(payload);
    }
  }

  #turn(up: boolean): void {
    this.#isUp = up;
    this.#events.onLine(up);
  }

  #down(client: VerifiedClient, error?: Error): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#turn(false);
    if (this.#closed) return;
    if (error) this.#events.onError(error);
    client.end().catch(() => undefined);
    this.#retry = setTimeout(() => void this.open(), retryMilliseconds);
  }
}

/**
 * Resolves once every process that serves from this database has acted upon all that was committed before, after three seconds at the latest.
 * For one that does not listen itself.
 */
export async function settleAll(url: string): Promise<void> {
  const ignore = () => undefined;
  const listener = new Listener(url, { onLine: ignore, onNotice: ignore, onError: ignore });
  await listener.open();
  await listener.settle();
  await listener.close();
}

function settleIfHeard({ asked, heard, resolve }: Question): void {
  if (asked?.every((pid) => heard.has(pid))) resolve();
}
