/** What is measured of a list, and its table. */
import { drive, type RequestOf } from '../../lib/load.ts';
import { processorMicroseconds, type Server } from '../../lib/processes.ts';
import { table } from '../table.ts';

export type MeasuredServer = Pick<Server, 'pid' | 'port'>;

export interface Figures {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Of the processor for one request, in the process of the server; undefined where the system does not say. */
  processorMicroseconds: number | undefined;
}

export interface ListFigures {
  entities: number;
  name: string;
  /** Undefined if the service refuses the list. */
  service: Figures | undefined;
  limit: Figures | undefined;
  /** The limit whose statements have names. */
  namedLimit: Figures | undefined;
  /** By name. Empty without peers. */
  peers: Record<string, Figures>;
  /** The status and the code of the refusal. */
  refused: string | undefined;
}

export type Round = Awaited<ReturnType<typeof drive>> & { microseconds: number | undefined };

/** Sends requests for `seconds` over `connections`. Throws when an answer is not 200. */
export async function round(server: MeasuredServer, requestOf: RequestOf, connections: number, seconds: number): Promise<Round> {
  const before = await processorMicroseconds(server);
  const driven = await drive(server.port, connections, seconds, requestOf);
  const after = await processorMicroseconds(server);
  if (driven.refused.count > 0) throw new Error(`a list was refused:\n${driven.refused.first}`);
  return { ...driven, microseconds: before === undefined || after === undefined ? undefined : after - before };
}

export function figuresOf(rounds: readonly Round[]): Figures {
  const sum = (of: (one: Round) => number) => rounds.reduce((total, one) => total + of(one), 0);
  const answers = sum((one) => one.answers);
  const latencies = Float64Array.from(rounds.flatMap(({ latencies: some }) => some)).sort();
  const quantile = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  const isKnown = rounds.every(({ microseconds }) => microseconds !== undefined);
  return {
    requestsPerSecond: answers / sum(({ seconds }) => seconds),
    p50: quantile(0.5),
    p99: quantile(0.99),
    processorMicroseconds: isKnown ? sum(({ microseconds }) => microseconds ?? 0) / answers : undefined,
  };
}

/** A row for each list. */
export function describeLists(all: readonly ListFigures[]): string {
  const [smallest] = all;
  const peers = Object.keys(all.find((one) => one.service)?.peers ?? {});
  const rows = all.map(({ entities, name, service, limit, namedLimit, refused, peers: ofPeers }) => {
    if (!service || !limit || !namedLimit)
      return [`${entities}: ${name}`, refused ?? '', ...Array<string>(7).fill(''), ...peers.flatMap(() => ['', ''])];
    const small = all.find((one) => one.entities === smallest?.entities && kindOf(one.name) === kindOf(name))?.service;
    const growth = small ? (small.requestsPerSecond / service.requestsPerSecond).toFixed(2) : '';
    const shares = [limit, namedLimit].map(({ requestsPerSecond }) => (service.requestsPerSecond / requestsPerSecond).toFixed(2));
    const [perSecond, p50, p99] = [service.requestsPerSecond.toFixed(0), service.p50.toFixed(2), service.p99.toFixed(2)];
    const besides = peers.flatMap((peer) => {
      const rate = ofPeers[peer]?.requestsPerSecond ?? Number.NaN;
      return [rate.toFixed(1), (service.requestsPerSecond / rate).toFixed(1)];
    });
    return [`${entities}: ${name}`, perSecond, p50, p99, ...shares, growth, microsecondsOf(service), microsecondsOf(limit), ...besides];
  });
  return table(
    [
      'list',
      'per second',
      'p50 ms',
      'p99 ms',
      'of the limit',
      'of the named limit',
      'cost, fewest entities = 1',
      'CPU µs',
      'of the limit',
      ...peers.flatMap((peer) => [peer, 'factor']),
    ],
    rows,
  );
}

const microsecondsOf = ({ processorMicroseconds: some }: Figures) => some?.toFixed(0) ?? '-';

/** The deep pages of all sizes are one kind. */
function kindOf(name: string): string {
  return name.replace(/\d+/, '');
}
