/** Four times as many requests a second as the capacity: the service serves what it can, and answers the rest with Retry-After. */
import { drive, offer, type OnAnswer, type RequestOf } from '../../scripts/lib/load.ts';
import { startService } from '../../scripts/lib/processes.ts';
import { fieldsOf } from '../../scripts/lib/seed.ts';
import { request } from '../../scripts/lib/scenarios.ts';
import { makeCallers, type Callers } from './callers.ts';
import { Caller } from './http.ts';
import type { Outcome, Progress } from './outcome.ts';

const overload = 4;
/** The minimum of the goodput as a fraction of the capacity. */
const aim = 0.8;
/** Thirty times as many clients as keep the service busy. */
const crowd = 1_000;
/** The limit of the 99th percentile of the granted. A sign-in waits for at most five seconds in the queue, and then takes its own time. */
const patienceMilliseconds = 6_000;

interface Kind {
  /** The number that keeps the service busy. */
  clients: number;
  /** The number of concurrent clients at which the goodput is checked; with the crowd it is only reported. */
  heldWith: number;
  requestOf: RequestOf;
}

export interface OverloadPlan {
  /** The duration of each load. */
  seconds: number;
  /** Whether to measure a crowd of clients too. */
  withCrowd: boolean;
}

/** `onStarted` is called when the service runs, before anything is measured. */
export async function overloadService(
  { seconds, withCrowd }: OverloadPlan,
  databaseUrl: string,
  settings: Record<string, string>,
  progress: Progress,
  onStarted: () => Promise<void> = () => Promise.resolve(),
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const server = await startService(settings, opened);
  await onStarted();
  const kinds = await kindsOf(await makeCallers(databaseUrl, { users: 200 }), server.port);
  const violations: string[] = [];
  const figures: Outcome['figures'] = {};
  for (const [name, { clients, heldWith, requestOf }] of Object.entries(kinds)) {
    const capacityOf = async (time: number) => {
      const tally = new Tally();
      await drive(server.port, clients, time, requestOf, tally.count);
      violations.push(...tally.wrong.map((what) => `${name} at capacity: ${what}`));
      return tally.granted.length / time;
    };
    await capacityOf(seconds / 2);
    for (const waiting of new Set(withCrowd ? [heldWith, crowd] : [heldWith])) {
      const before = await capacityOf(seconds / 2);
      const load = new Tally();
      await offer(server.port, waiting, seconds, requestOf, overload * before, load.count);
      const after = await capacityOf(seconds / 2);
      // The machine may have become faster or slower meanwhile.
      const capacity = (before + after) / 2;
      const goodput = load.granted.length / seconds / capacity;
      const what = `${name} of at most ${waiting} clients`;
      violations.push(...load.wrong.map((wrong) => `${what}: ${wrong}`));
      if (goodput < aim && waiting === heldWith) violations.push(`${what}: goodput is ${goodput.toFixed(2)} of the capacity`);
      if (after < aim * before) violations.push(`${what}: afterwards the capacity is ${(after / before).toFixed(2)} of what it was`);
      if (load.p99() > patienceMilliseconds)
        violations.push(`${what}: 1 % of those served waited for more than ${load.p99().toFixed(0)} ms`);
      figures[what] =
        `capacity ${capacity.toFixed(capacity < 100 ? 1 : 0)} a second, goodput ${goodput.toFixed(2)}, p99 ${load.p99().toFixed(0)} ms, ` +
        `${load.refused} answers 503, afterwards ${(after / before).toFixed(2)}`;
      progress(`${what}: ${figures[what]}`);
    }
  }
  return { violations, figures };
}

const maximumWrong = 20;

/** Counts the answers to a load. */
class Tally {
  /** The times of the 2xx answers in time, in milliseconds. */
  readonly granted: number[] = [];
  /** The number of 503 and 429 answers with `Retry-After`. */
  refused = 0;
  /** The first other answers, at most {@link maximumWrong}. */
  readonly wrong: string[] = [];

  readonly count: OnAnswer = ({ status, bytes, dueAt, at }, inTime) => {
    if (status >= 200 && status < 300) {
      if (inTime) this.granted.push(at - dueAt);
      return;
    }
    const answer = bytes.toString('latin1');
    if ((status === 503 || status === 429) && /\r\nretry-after: *[1-9]/i.test(answer)) this.refused += 1;
    else if (this.wrong.length < maximumWrong) this.wrong.push(answer);
  };

  p99(): number {
    const sorted = Float64Array.from(this.granted).sort();
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  }
}

async function kindsOf({ users, password, apiKey }: Callers, port: number): Promise<Record<string, Kind>> {
  const key = `x-api-key: ${apiKey}`;
  const caller = new Caller(() => port);
  const paths: string[] = [];
  for (let n = 0; n < 100; n++) {
    const { headers } = await caller.send('POST', '/rest/entity/read', { headers: { 'x-api-key': apiKey }, json: fieldsOf(n) });
    paths.push(headers.location ?? '');
  }
  caller.close();
  const signIns = users.map((user) => new URLSearchParams({ user, password }).toString());
  const among =
    (requests: Buffer[]): RequestOf =>
    (n) =>
      requests[n % requests.length] ?? Buffer.alloc(0);
  const json = { type: 'application/json', text: JSON.stringify(fieldsOf(0)) };
  return {
    reads: { clients: 32, heldWith: overload * 32, requestOf: among(paths.map((path) => request('GET', path, key))) },
    creates: { clients: 32, heldWith: overload * 32, requestOf: among([request('POST', '/rest/entity/created', key, json)]) },
    'sign-ins': {
      clients: 4,
      // The hashing queue refuses more than these at once.
      heldWith: crowd,
      requestOf: among(
        signIns.map((text) => request('POST', '/auth', 'accept: application/json', { type: 'application/x-www-form-urlencoded', text })),
      ),
    },
  };
}
