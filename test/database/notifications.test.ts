import { randomUUID } from 'node:crypto';
import { Client, type Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Secret } from '../../src/config/secrets.ts';
import { Listener, settleAll } from '../../src/database/notifications.ts';
import { adviceForMissingNotifications, MissingNotificationError, UnseenError } from '../../src/database/missing-notification-error.ts';
import { createDatabase, openPool, type TestDatabase } from '../support/database.ts';
import { Proxy } from '../support/proxy.ts';
import { SilentProcess } from '../support/silent-process.ts';

let database: TestDatabase;
let pool: Pool;
let client: Client;
beforeAll(async () => {
  database = await createDatabase();
  pool = openPool(database.url);
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await pool.end();
  await database.drop();
});

interface Line {
  listener: Listener;
  heard: string[];
  /** Whether it is up, each time that it told so. */
  told: boolean[];
  errors: Error[];
}

const opened: Listener[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.splice(0).map((listener) => listener.close()));
});

interface Options {
  url?: string;
  over?: Pick<Pool, 'query'>;
  every?: number;
}

/** A listener as another process would have it, with what it has heard and told. */
async function listen({ url = database.url, over = pool, every = 30_000 }: Options = {}): Promise<Line> {
  const line = { heard: [] as string[], told: [] as boolean[], errors: [] as Error[] };
  const events = {
    onLine: (up: boolean) => line.told.push(up),
    onNotice: (notice: string) => line.heard.push(notice),
    onError: (error: Error) => line.errors.push(error),
  };
  const listener = new Listener(url, over, events, { every });
  opened.push(listener);
  await listener.open();
  return { listener, ...line };
}

/** The connections that listen on this database; other tests have their own on the same server. */
const listening = `pg_stat_activity where application_name like 'entity-service listen %' and datname = current_database()`;

const notify = (notice: string) => client.query("select pg_notify('principal', $1)", [notice]);

describe('a revocation', () => {
  test('is received by every process before the caller continues (rule 17)', async () => {
    const [asking, ...others] = [await listen(), await listen(), await listen(), await listen()];
    for (let round = 0; round < 200; round++) {
      await notify(`session ${round}`);
      await asking.listener.settle();
      for (const { heard } of [asking, ...others]) expect(heard.at(-1)).toBe(`session ${round}`);
    }
  });

  test('may be waited for by several processes at once', async () => {
    const all = [await listen(), await listen(), await listen()];
    await notify('key abc');
    await Promise.all([...all, ...all].map(({ listener }) => listener.settle()));
    for (const { heard } of all) expect(heard).toEqual(['key abc']);
  });

  test('is received before a caller continues that does not listen itself', async () => {
    const all = [await listen(), await listen()];
    await notify('user 7');
    await settleAll(database.url, pool);
    for (const { heard } of all) expect(heard).toEqual(['user 7']);
  });
});

describe('waiting for confirmations', () => {
  /** Passes when the answer comes without the three seconds, which do not pass. */
  async function comesAtOnce(settle: () => Promise<void>): Promise<void> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await expect(settle()).resolves.toBeUndefined();
    vi.useRealTimers();
  }

  /** Passes when the answer does not come before the three seconds are over, and comes then. */
  async function comesInTheEnd(settle: () => Promise<void>): Promise<void> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let isAnswered = false;
    const done = settle().then(() => (isAnswered = true));
    await vi.advanceTimersByTimeAsync(2_999);
    for (let round = 0; round < 50; round++) await client.query('select 1');
    expect(isAnswered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await done;
    vi.useRealTimers();
  }

  /** Another connection under this name. */
  async function connectAs(name: string): Promise<Client> {
    const other = new Client({ connectionString: database.url, application_name: name });
    await other.connect();
    return other;
  }

  /** The name of the connection of the only listener. */
  async function nameOfListener(): Promise<string> {
    const { rows } = await client.query<{ name: string }>(`select application_name as name from ${listening}`);
    expect(rows).toHaveLength(1);
    return rows[0]?.name ?? '';
  }

  test('leaves out listeners on another database of the same server', async () => {
    const elsewhere = await createDatabase();
    const poolElsewhere = openPool(elsewhere.url);
    const other = await listen({ url: elsewhere.url, over: poolElsewhere });
    const { listener } = await listen();
    expect([listener.isUp, other.listener.isUp]).toEqual([true, true]);
    await comesAtOnce(() => listener.settle());
    await other.listener.close();
    await poolElsewhere.end();
    await elsewhere.drop();
  });

  test('lasts three seconds if a listening process does not answer: then that process holds nothing older', async () => {
    const { listener } = await listen();
    const deaf = await connectAs(`entity-service listen ${randomUUID()}`);
    await comesInTheEnd(() => listener.settle());
    await deaf.end();
    await comesAtOnce(() => listener.settle());
  });

  test('leaves out a connection without a proof, and one of another name', async () => {
    const { listener } = await listen();
    const others = await Promise.all(['entity-service listen', 'entity-service'].map(connectAs));
    await comesAtOnce(() => listener.settle());
    await Promise.all(others.map((other) => other.end()));
  });

  test('identifies a process by a UUID: its former connection, unnoticed as dead by the server, confirms nothing more', async () => {
    const { listener } = await listen();
    const name = await nameOfListener();
    expect(name).toMatch(/^entity-service listen [\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    const former = await connectAs(name);
    await comesAtOnce(() => listener.settle());
    await former.end();
  });

  test('accepts no confirmation by the process id of the server, which another node may have given too', async () => {
    const { listener } = await listen();
    const silent = await SilentProcess.start(database.url);
    await comesInTheEnd(async () => {
      const done = listener.settle();
      await silent.asked;
      await silent.answer('pg_backend_pid()::text');
      await done;
    });
    const done = listener.settle();
    await silent.asked;
    await silent.answer();
    await done;
    await silent.stop();
  });

  test('finds a listener whose address gives it another name', async () => {
    const url = new URL(database.url);
    url.searchParams.set('application_name', 'billing');
    const named = await listen({ url: url.href });
    const { listener } = await listen();
    await notify('session 1');
    await listener.settle();
    expect(named.heard).toEqual(['session 1']);
    const { rows } = await client.query(`select from ${listening}`);
    expect(rows).toHaveLength(2);
  });

  test('includes the others while its own connection is down, and ends at once where no process listens', async () => {
    const down = await listen();
    await down.listener.close();
    await comesAtOnce(() => down.listener.settle());
    await listen();
    await comesInTheEnd(() => down.listener.settle());
  });
});

describe('a connection for notifications', () => {
  test('that the server ends is reported at once, and again when it is up', async () => {
    const line = await listen();
    expect([line.told, line.listener.isUp]).toEqual([[true], true]);
    expect((await client.query(`select pg_terminate_backend(pid) from ${listening}`)).rows).toHaveLength(1);
    await expect.poll(() => line.told).toEqual([true, false]);
    expect(line.errors).toHaveLength(1);
    await expect.poll(() => line.told).toEqual([true, false, true]);
    await notify('session 2');
    await line.listener.settle();
    expect(line.heard).toEqual(['session 2']);
  });

  test('that leads to another database than the pool is never up, is not waited for, and is reported once (rule 17)', async () => {
    const elsewhere = await createDatabase();
    const others = openPool(elsewhere.url);
    let proofs = 0;
    const counting = (...words: Parameters<Pool['query']>) => {
      proofs++;
      return others.query(...words);
    };
    try {
      const line = await listen({ over: { query: counting as unknown as Pool['query'] }, every: 10 });
      await expect.poll(() => proofs).toBeGreaterThan(2);
      expect([line.told, line.listener.isUp]).toEqual([[], false]);
      expect(line.errors).toEqual([expect.any(MissingNotificationError)]);
      expect((await client.query(`select from ${listening}`)).rows).toEqual([]);
      await line.listener.close();
    } finally {
      await others.end();
      await elsewhere.drop();
    }
  });

  test('that the server does not show to others is never up, since they would not wait for it, and is reported once (rule 17)', async () => {
    // As an engine whose nodes show their own connections alone, or behind a pooler that changes the name.
    await client.query('create schema hiding');
    await client.query(
      `create view hiding.pg_stat_activity as select * from pg_catalog.pg_stat_activity where application_name not like '%listen %'`,
    );
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=hiding,pg_catalog');
    const hiding = openPool(url.href);
    let questions = 0;
    const counting = (...words: Parameters<Pool['query']>) => {
      questions++;
      return hiding.query(...words);
    };
    try {
      const line = await listen({ over: { query: counting as unknown as Pool['query'] }, every: 10 });
      await expect.poll(() => questions).toBeGreaterThan(4);
      expect([line.told, line.listener.isUp]).toEqual([[], false]);
      expect(line.errors).toEqual([expect.any(UnseenError)]);
      await line.listener.close();
    } finally {
      await hiding.end();
      await client.query('drop schema hiding cascade');
    }
  });

  test('on which nothing arrives any more goes down at the next proof, though nothing has ended it (rule 17)', async () => {
    const proxy = await Proxy.open(database.url);
    try {
      const line = await listen({ url: proxy.urlOf(database.url), every: 20 });
      expect(line.told).toEqual([true]);
      proxy.stall();
      await expect.poll(() => line.told).toEqual([true, false]);
      expect(line.errors).toEqual([expect.any(MissingNotificationError)]);
      await proxy.restore();
      await expect.poll(() => line.told).toEqual([true, false, true]);
    } finally {
      await Promise.all(opened.splice(0).map((listener) => listener.close()));
      await proxy.close();
    }
  });

  test('whose proof cannot be sent twice, as when the pool is exhausted, stays up', async () => {
    let sent = 0;
    const exhausted = (...words: Parameters<Pool['query']>) => {
      if (!words[0].includes('pg_notify')) return pool.query(...words);
      sent++;
      return sent === 2 || sent === 3 ? Promise.reject(new Error('timeout exceeded when trying to connect')) : pool.query(...words);
    };
    const line = await listen({ over: { query: exhausted as unknown as Pool['query'] }, every: 20 });
    await expect.poll(() => sent, { timeout: 10_000 }).toBeGreaterThan(5);
    expect([line.told, line.errors]).toEqual([[true], []]);
  });

  test('whose proof cannot be sent counts as down', async () => {
    const over = openPool(database.url);
    const line = await listen({ over, every: 20 });
    expect(line.told).toEqual([true]);
    await over.end();
    await expect.poll(() => line.told, { timeout: 10_000 }).toEqual([true, false]);
  });
});

describe('the advice when notices do not arrive in time', () => {
  const url = new Secret('postgres://localhost/entities');

  test.each([
    ['the embedded database has no pooler', undefined, undefined, /: the database is overloaded$/],
    [
      'DATABASE_URL may pool by transaction',
      url,
      undefined,
      /: if DATABASE_URL pools by transaction, set DATABASE_DIRECT_URL; otherwise the database is overloaded$/,
    ],
    [
      'DATABASE_DIRECT_URL may lead elsewhere',
      url,
      url,
      /: DATABASE_DIRECT_URL must lead to the database of DATABASE_URL and must not pool/,
    ],
  ])('%s', (_title, databaseUrl, databaseDirectUrl, advice) => {
    expect(adviceForMissingNotifications(new MissingNotificationError(), { databaseUrl, databaseDirectUrl })).toMatch(advice);
  });

  test('others do not see the connection', () => {
    expect(adviceForMissingNotifications(new UnseenError(), { databaseUrl: url, databaseDirectUrl: url })).toContain(
      'no pooler may change application_name',
    );
  });
});
