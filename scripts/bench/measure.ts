/** Measures a scenario on the service and on the limit in turn, and sums the rounds up. */
import { ask, drive } from './load.ts';
import { processorMicroseconds, type Server } from './processes.ts';
import type { Scenario } from './scenarios.ts';

export interface Plan {
  rounds: number;
  /** Of one round. */
  seconds: number;
  connections: number;
}

export interface Figures {
  answers: number;
  /** Answers that were not 2xx, warm-up included. */
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
}

/** One server under one scenario, round after round. */
class Series {
  readonly server: Server;
  readonly #scenario: Scenario;
  readonly #connections: number;
  #answers = 0;
  #seconds = 0;
  #refused = 0;
  #first: string | undefined;
  #processor = 0;
  readonly #latencies: number[][] = [];

  constructor(server: Server, scenario: Scenario, connections: number) {
    this.server = server;
    this.#scenario = scenario;
    this.#connections = connections;
  }

  async round(seconds: number, counts: boolean): Promise<void> {
    const before = await processorMicroseconds(this.server);
    const { answers, latencies, refused } = await drive(this.server.port, this.#connections, seconds, this.#scenario.requestOf);
    const after = await processorMicroseconds(this.server);
    this.#refused += refused.count;
    this.#first ??= refused.first;
    if (!counts) return;
    this.#answers += answers;
    this.#seconds += seconds;
    this.#latencies.push(latencies);
    this.#processor += (after ?? Number.NaN) - (before ?? Number.NaN);
  }

  /** The first answer that was not 2xx. */
  get firstRefused(): string | undefined {
    return this.#first;
  }

  figures(): Figures {
    const sorted = Float64Array.from(this.#latencies.flat()).sort();
    const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
    const processor = this.#processor / this.#answers;
    return {
      answers: this.#answers,
      refused: this.#refused,
      requestsPerSecond: this.#answers / this.#seconds,
      p50: quantile(0.5),
      p99: quantile(0.99),
      processorMicroseconds: Number.isFinite(processor) ? processor : undefined,
    };
  }
}

/**
 * Measures `scenario`: both servers are warmed up, then they take turns, so that drift of the machine and of the database meets both alike.
 * `onRound` hears what is about to be done. Throws when the two do not answer alike, or anything but 2xx.
 */
export async function compare(
  scenario: Scenario,
  servers: { service: Server; limit: Server },
  plan: Plan,
  onRound: (step: string) => void,
): Promise<Comparison> {
  await requireLikeness(scenario, servers);
  const connections = Math.min(plan.connections, scenario.maximumConnections ?? plan.connections);
  const service = new Series(servers.service, scenario, connections);
  const limit = new Series(servers.limit, scenario, connections);
  onRound('warm-up');
  for (const series of [service, limit]) await series.round(plan.seconds / 2, false);
  for (let round = 1; round <= plan.rounds; round++) {
    onRound(`round ${round} of ${plan.rounds}`);
    // Each goes first in every other round.
    for (const series of round % 2 === 1 ? [service, limit] : [limit, service]) await series.round(plan.seconds, true);
  }
  for (const [name, { firstRefused }] of Object.entries({ service, limit })) {
    if (firstRefused !== undefined) throw new Error(`${scenario.name}: the ${name} answered other than 2xx, at first:\n${firstRefused}`);
  }
  const figures = { service: service.figures(), limit: limit.figures() };
  return { name: scenario.name, connections, ...figures, ratio: figures.service.requestsPerSecond / figures.limit.requestsPerSecond };
}

/** A limit that did something else would be none: both must answer 2xx, and the service with all that the limit says. */
async function requireLikeness({ name, requestOf }: Scenario, { service, limit }: { service: Server; limit: Server }): Promise<void> {
  const answers = await Promise.all([service, limit].map(({ port }) => ask(port, requestOf(0))));
  const [ours = [], theirs = []] = answers.map(({ status, body }) => {
    if (status < 200 || status > 299) throw new Error(`${name}: answered ${status} ${body}`);
    return Object.keys(JSON.parse(body) as object);
  });
  const missing = theirs.filter((member) => !ours.includes(member));
  if (missing.length > 0) throw new Error(`${name}: the service does not answer with ${missing.join(', ')}`);
}
