/** Measures a scenario on the service, the limit and the peers in turn, and sums the rounds up. */
import { ask, drive, pace, type RequestOf, type Round } from '../lib/load.ts';
import type { RunningPeer } from './peers/peer.ts';
import { processorMicroseconds, type Server } from '../lib/processes.ts';
import { median } from './significance.ts';
import type { Scenario } from '../lib/scenarios.ts';

export interface Plan {
  rounds: number;
  /** Of one round. */
  seconds: number;
  connections: number;
}

export interface Figures {
  answers: number;
  /** Answers with another status than the first one had, warm-up included. */
  refused: number;
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Processor time of the server for one request; undefined where the system does not tell. */
  processorMicroseconds: number | undefined;
}

export interface Comparison {
  name: string;
  connections: number;
  service: Figures;
  limit: Figures;
  /** Requests per second of the service over those of the limit. */
  ratio: number;
  /** Each with a part of the load that it can bear. */
  paced: { service: Paced; limit: Paced };
  /** In the order in which they were started; none unless they were asked for. */
  peers: Beside[];
}

/** Latencies at a fixed rate, in milliseconds from when each request was due: the medians of many short windows. */
export interface Paced {
  p50: number;
  p99: number;
  /** Of the p99 over the p50 of each window, too. */
  ratio: number;
  /** Of all windows together, those among them in which the machine did less than before. */
  p99OfAll: number;
}

/** The part of the highest rate, which is measured anew before each window: that of a machine which others share changes within seconds. */
const pacedShare = 0.8;
/** Of a window, unless so many requests take longer: short enough that the machine's own pauses do not meet most of them. */
const windowSeconds = 0.1;
const windowRequests = 200;

/** A peer that was measured beside the service. */
export interface Beside {
  name: string;
  figures: Figures;
  /** Requests per second of the service over those of the peer. */
  ratio: number;
}

export interface Servers {
  service: Server;
  limit: Server;
  peers: RunningPeer[];
}

/** One server under one scenario, round after round. */
class Series {
  readonly name: string;
  readonly #server: Server;
  readonly #requestOf: RequestOf;
  readonly #connections: number;
  #status = 0;
  #answers = 0;
  #seconds = 0;
  #refused = 0;
  #first: string | undefined;
  #processor = 0;
  readonly #latencies: number[][] = [];
  readonly #paced: number[][] = [];

  constructor(name: string, server: Server, requestOf: RequestOf, connections: number) {
    this.name = name;
    this.#server = server;
    this.#requestOf = requestOf;
    this.#connections = connections;
  }

  /** Asks once; the status of that answer, which must be 2xx, is what all others are held to. Returns its body. */
  async firstAnswer(): Promise<string> {
    const { status, body } = await ask(this.#server.port, this.#requestOf(0));
    if (status < 200 || status > 299) throw new Error(`${this.name} answered ${status} ${body}`);
    this.#status = status;
    return body;
  }

  async round(seconds: number, counts: boolean): Promise<void> {
    const before = await processorMicroseconds(this.#server);
    const round = await drive(this.#server.port, this.#connections, seconds, this.#requestOf);
    const after = await processorMicroseconds(this.#server);
    this.#look(round);
    if (!counts) return;
    this.#answers += round.answers;
    this.#seconds += seconds;
    this.#latencies.push(round.latencies);
    this.#processor += (after ?? Number.NaN) - (before ?? Number.NaN);
  }

  /** Counts the answers that are not what the first one was. */
  #look({ statuses, refused }: Round): void {
    for (const [status, count] of statuses) {
      if (status === this.#status) continue;
      this.#refused += count;
      this.#first ??= refused.first ?? `status ${status}`;
    }
  }

  /** For `seconds`, how long answers take at a part of the rate that the server can bear; at least one round must have counted. */
  async pace(seconds: number): Promise<void> {
    const perSecond = this.#answers / this.#seconds;
    const length = Math.max(windowSeconds, windowRequests / perSecond);
    for (let window = 0; window < Math.max(1, Math.round(seconds / length / 2)); window++) {
      const fastest = await drive(this.#server.port, this.#connections, length, this.#requestOf);
      const perSecond = (fastest.answers / length) * pacedShare;
      const paced = await pace(this.#server.port, this.#connections, length, this.#requestOf, perSecond);
      this.#look(fastest);
      this.#look(paced);
      this.#paced.push(paced.latencies);
    }
  }

  paced(): Paced {
    const windows = this.#paced.map((latencies) => quantilesOf([latencies]));
    return {
      p50: median(windows.map(({ p50 }) => p50)),
      p99: median(windows.map(({ p99 }) => p99)),
      ratio: median(windows.map(({ p50, p99 }) => p99 / p50)),
      p99OfAll: quantilesOf(this.#paced).p99,
    };
  }

  /** Throws when an answer had another status than the first one. */
  figures(): Figures {
    if (this.#first !== undefined) throw new Error(`${this.name} answered other than ${this.#status}, at first:\n${this.#first}`);
    const processor = this.#processor / this.#answers;
    return {
      answers: this.#answers,
      refused: this.#refused,
      requestsPerSecond: this.#answers / this.#seconds,
      ...quantilesOf(this.#latencies),
      processorMicroseconds: Number.isFinite(processor) ? processor : undefined,
    };
  }
}

function quantilesOf(latencies: readonly number[][]): { p50: number; p99: number } {
  const sorted = Float64Array.from(latencies.flat()).sort();
  const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
  return { p50: quantile(0.5), p99: quantile(0.99) };
}

/**
 * Measures `scenario`: all servers are warmed up, then they take turns, so that drift of the machine and of the database meets all alike.
 * `onRound` hears what is about to be done. Throws when they do not answer alike, or anything but 2xx.
 */
export async function compare(scenario: Scenario, servers: Servers, plan: Plan, onRound: (step: string) => void): Promise<Comparison> {
  const connections = Math.min(plan.connections, scenario.maximumConnections ?? plan.connections);
  const seriesOf = (name: string, server: Server, requestOf: RequestOf) =>
    new Series(`${scenario.name}: ${name}`, server, requestOf, connections);
  const service = seriesOf('the service', servers.service, scenario.requestOf);
  const limit = seriesOf('the limit', servers.limit, scenario.requestOf);
  const peers = servers.peers.map(({ name, server, operations }) => {
    const { requestOf, shows } = operations[scenario.name];
    return { name, shows, series: seriesOf(name, server, requestOf) };
  });
  await requireLikeness(service, limit);
  for (const { series, shows } of peers) await requireShown(series, shows);
  const all = [service, limit, ...peers.map(({ series }) => series)];
  onRound('warm-up');
  for (const series of all) await series.round(plan.seconds / 2, false);
  for (let round = 0; round < plan.rounds; round++) {
    onRound(`round ${round + 1} of ${plan.rounds}`);
    // Each goes first in its turn.
    const first = round % all.length;
    for (const series of [...all.slice(first), ...all.slice(0, first)]) {
      await series.round(plan.seconds, true);
      if (series === service || series === limit) await series.pace(plan.seconds);
    }
  }
  const ours = service.figures();
  const over = (theirs: Figures) => ours.requestsPerSecond / theirs.requestsPerSecond;
  const raw = limit.figures();
  const beside = peers.map(({ name, series }) => {
    const figures = series.figures();
    return { name, figures, ratio: over(figures) };
  });
  return {
    name: scenario.name,
    connections,
    service: ours,
    limit: raw,
    ratio: over(raw),
    paced: { service: service.paced(), limit: limit.paced() },
    peers: beside,
  };
}

/** A limit that did something else would be none: both must answer 2xx, and the service with all that the limit says. */
async function requireLikeness(service: Series, limit: Series): Promise<void> {
  const [ours = [], theirs = []] = (await Promise.all([service.firstAnswer(), limit.firstAnswer()])).map((body) =>
    Object.keys(JSON.parse(body) as object),
  );
  const missing = theirs.filter((member) => !ours.includes(member));
  if (missing.length > 0) throw new Error(`${service.name} does not answer with ${missing.join(', ')}`);
}

/** A peer whose rights or rows are amiss may still answer 2xx. */
async function requireShown(peer: Series, shows: string): Promise<void> {
  const body = await peer.firstAnswer();
  if (!body.includes(shows)) throw new Error(`${peer.name} answered without ${shows}: ${body}`);
}
