/** Reads from a standby whose replay stops and goes on at random, and which is killed, cut off, too slow or promoted (decisions 170 to 172). */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { found } from '../support/contract.ts';
import { Proxy } from '../support/proxy.ts';
import { TestService, type Settings } from '../support/service.ts';
import { execute } from '../support/sql.ts';
import { startPair, type Pair } from '../support/standby.ts';

let pair: Pair;
let service: TestService;
let userId: string;
let cookie: string;

const open = (settings: Settings = {}) =>
  TestService.start(
    { DATABASE_URL: pair.primary.url, DATABASE_READ_URL: pair.standby.url, ...settings },
    { url: pair.primary.url, drop: async () => undefined },
  );
async function openUntilDone(settings: Settings): Promise<TestService> {
  const opened = await open(settings);
  onTestFinished(() => opened.close());
  return opened;
}

beforeAll(async () => {
  pair = await startPair();
  service = await open();
  ({ id: userId } = await service.createUser('ada'));
  cookie = await service.openSession(userId);
});
afterEach(() => {
  expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
});
afterAll(async () => {
  await service.close();
  await pair.close();
});

interface Page {
  items: { key: string; version: number }[];
  next: string | null;
}
const get = (at: TestService, path: string, token?: string, as = cookie) =>
  at.call<Page>('GET', `/rest/entity/${path}`, { cookie: as, headers: token === undefined ? {} : { 'consistency-token': token } });
const source = ({ headers }: { headers: Headers }) => headers.get('consistency')?.split(';')[0];
const used = (at: TestService) => expect.poll(async () => source(await get(at, 'none'))).toBe('bounded');

/** Numbers from 0 to less than 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A client that knows what it has written, and the newest token of its answers. */
class Writer {
  readonly #replicas: readonly TestService[];
  readonly #random: () => number;
  readonly #name: string;
  readonly #versions = new Map<string, number>();
  readonly #deleted = new Set<string>();
  #token: string | undefined;
  readonly violations: string[] = [];
  reads = 0;

  constructor(replicas: readonly TestService[], name: string, seed: number) {
    this.#replicas = replicas;
    this.#name = name;
    this.#random = randomFrom(seed);
  }

  async step(): Promise<void> {
    await (this.#random() < 0.4 ? this.#write() : this.#random() < 0.7 ? this.#list() : this.#walk());
  }

  #one<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  async #write(): Promise<void> {
    const path = `/rest/entity/${this.#name}`;
    const keys = [...this.#versions.keys()];
    const kind = keys.length === 0 ? 0 : this.#random();
    const key = kind < 0.5 ? undefined : this.#one(keys);
    const method = kind < 0.85 ? 'POST' : 'DELETE';
    const json = method === 'POST' ? { json: { n: this.#random() } } : {};
    const answer = await this.#one(this.#replicas).call<{ key: string; version: number }>(method, key ? `${path}/${key}` : path, {
      cookie,
      ...json,
    });
    if (answer.status >= 300) throw new Error(`${method} was ${answer.status}: ${answer.text}`);
    // Tokens of one timeline in hexadecimal have the order of their positions.
    const token = answer.headers.get('consistency-token') ?? '';
    const order = (text = '') => Buffer.from(text, 'base64url').toString('hex');
    if (order(token) > order(this.#token)) this.#token = token;
    if (key !== undefined && method === 'DELETE') {
      this.#versions.delete(key);
      this.#deleted.add(key);
    } else this.#versions.set(answer.body.key, answer.body.version);
  }

  async #list(): Promise<void> {
    const path = this.#random() < 0.5 ? `${this.#name}?limit=1000` : `${this.#name}?limit=1000&sort=-$updatedAt&count=exact`;
    const { body, status } = await get(this.#one(this.#replicas), path, this.#token);
    this.#compare(status, body.items, path);
  }

  /** The token goes with the first page alone: the cursors have what the other pages need. */
  async #walk(): Promise<void> {
    const items: Page['items'] = [];
    let status = 200;
    for (let cursor: string | null | undefined; cursor !== null && status === 200;) {
      const path = `${this.#name}?limit=7${cursor === undefined ? '' : `&cursor=${cursor}`}`;
      const page = await get(this.#one(this.#replicas), path, cursor === undefined ? this.#token : undefined);
      ({ status } = page);
      items.push(...(page.body.items ?? []));
      cursor = page.body.next;
    }
    this.#compare(status, items, 'pages');
  }

  #compare(status: number, items: Page['items'], what: string): void {
    this.reads++;
    const seen = new Map(items.map(({ key, version }) => [key, version]));
    const lacking = [...this.#versions].filter(([key, version]) => seen.get(key) !== version);
    const risen = [...this.#deleted].filter((key) => seen.has(key));
    if (status !== 200 || lacking.length + risen.length > 0)
      this.violations.push(`${what}: ${status}, lacks ${JSON.stringify(lacking)}, still has ${JSON.stringify(risen)}`);
  }
}

test(
  'each client sees all that it has written, in lists of both replicas, while the replay stops and goes on',
  { timeout: 120_000 },
  async () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
    const random = randomFrom(seed);
    const other = await openUntilDone({ WORKERS: '1' });
    await used(other);
    const writers = Array.from({ length: 6 }, (_, index) => new Writer([service, other], `note${index}`, seed + index + 1));
    const end = performance.now() + 30_000;
    const pauses = (async () => {
      for (; performance.now() < end; await delay(150 * random())) {
        await pair.pause();
        await delay(200 * random());
        await pair.resume();
      }
    })();
    await Promise.all(
      writers.map(async (writer) => {
        while (performance.now() < end && writer.violations.length === 0) await writer.step();
      }),
    );
    await pauses;
    expect(
      writers.flatMap(({ violations }) => violations),
      `SEED=${seed}`,
    ).toEqual([]);
    const outcomes = [service, other].map(({ context }) => context.readers.outcomes);
    // Both ways were taken often, so that the test says something about each.
    for (const { standby, behind } of outcomes) expect(Math.min(standby, behind), JSON.stringify(outcomes)).toBeGreaterThan(30);
  },
);

describe('lists go on without an error', () => {
  /** Lists from eight callers at once, with these cookies in turn, until `work` is over: their sources, and the longest that one took in milliseconds. */
  async function whileListing(at: TestService, work: () => Promise<unknown>, cookies = [cookie]) {
    const seen: Record<string, number> = {};
    let slowest = 0;
    const over = new AbortController();
    const callers = Array.from({ length: 8 }, async (_, caller) => {
      while (!over.signal.aborted) {
        const begin = performance.now();
        const answer = await get(at, 'note0?limit=20', undefined, cookies[caller % cookies.length]);
        slowest = Math.max(slowest, performance.now() - begin);
        const what = answer.status === 200 ? (source(answer) ?? 'none') : String(answer.status);
        seen[what] = (seen[what] ?? 0) + 1;
      }
    });
    await work();
    over.abort();
    await Promise.all(callers);
    return { seen, slowest };
  }
  const sources = ({ seen }: { seen: Record<string, number> }) => Object.keys(seen).toSorted();

  test('while the standby is killed and started again, which is used again', { timeout: 60_000 }, async () => {
    await used(service);
    const listed = await whileListing(service, async () => {
      await delay(500);
      await pair.standby.kill();
      await delay(3_000);
      await pair.standby.start();
      await expect.poll(() => service.context.readers.isUp).toBe(true);
      await delay(500);
    });
    expect(sources(listed)).toEqual(['bounded', 'primary']);
    await used(service);
  });

  test('while the standby says nothing: none waits long', { timeout: 60_000 }, async () => {
    const proxy = await Proxy.open(pair.standby.url);
    onTestFinished(() => proxy.close());
    const at = await openUntilDone({ DATABASE_READ_URL: proxy.urlOf(pair.standby.url) });
    await used(at);
    const listed = await whileListing(at, async () => {
      await delay(500);
      proxy.stall();
      await delay(8_000);
      await proxy.restore();
      await expect.poll(() => at.context.readers.isUp).toBe(true);
      await delay(500);
    });
    expect(sources(listed)).toEqual(['bounded', 'primary']);
    // Far below the six seconds after which a statement without an answer ends.
    expect(listed.slowest).toBeLessThan(4_000);
  });

  test('while the standby has fewer connections than lists', async () => {
    // Two connections, of which one is for questions. A user has one place for lists.
    const at = await openUntilDone({ DATABASE_POOL_SIZE: '2' });
    const others = await at.openSession((await at.createUser('other')).id);
    await used(at);
    const listed = await whileListing(at, () => delay(3_000), [cookie, others]);
    expect(sources(listed)).toEqual(['bounded', 'primary']);
    expect(at.context.readers.outcomes).toMatchObject({ down: 0, failed: 0 });
    expect(at.context.readers.outcomes.busy).toBeGreaterThan(0);
  });

  test('while the standby is too far behind', async () => {
    const at = await openUntilDone({ READ_LAG_SECONDS: '1' });
    await used(at);
    await pair.pause();
    await service.call('POST', '/rest/entity/late', { cookie, json: {} });
    await expect.poll(async () => source(await get(at, 'late'))).toBe('primary');
    expect(at.context.readers.outcomes.lagging).toBeGreaterThan(0);
    expect((await get(at, 'late')).body.items).toHaveLength(1);
    await pair.resume();
    await used(at);
  });

  test('a standby that replays each commit four seconds late has a lag of four seconds, although lists allow it one', async () => {
    const reader = await openUntilDone({ READ_LAG_SECONDS: '1' });
    const { readers } = reader.context;
    await expect.poll(() => readers.lagSeconds, { timeout: 20_000 }).toBeLessThan(2);
    await execute(pair.standby.url, `alter system set recovery_min_apply_delay = '4s'`);
    await execute(pair.standby.url, 'select pg_reload_conf()');
    const writing = setInterval(() => void service.call('POST', '/rest/entity/late', { cookie, json: {} }), 200);
    onTestFinished(async () => {
      clearInterval(writing);
      await execute(pair.standby.url, 'alter system reset recovery_min_apply_delay');
      await execute(pair.standby.url, 'select pg_reload_conf()');
      await pair.caughtUp();
    });
    await expect.poll(() => readers.lagSeconds, { timeout: 20_000 }).toBeGreaterThan(3.5);
    const lags: number[] = [];
    for (let sample = 0; sample < 20; sample++) {
      lags.push(readers.lagSeconds ?? Infinity);
      await delay(250);
    }
    expect(Math.max(...lags)).toBeLessThan(10);
    expect(Math.min(...lags)).toBeGreaterThan(3);
    expect(source(await get(reader, 'late'))).toBe('primary');
  });

  // The last one, since the pair is none afterwards.
  test('when the standby becomes a primary, which no list is read from', async () => {
    await used(service);
    await execute(pair.standby.url, 'select pg_promote()');
    await expect.poll(async () => source(await get(service, 'note0'))).toBe('primary');
    const listed = await whileListing(service, () => delay(5_000));
    expect(sources(listed)).toEqual(['primary']);
  });
});
