/** Writes the measurements of the peers as tables for people. */
import type { Figures } from '../measure.ts';
import type { Memory, Report } from '../report.ts';
import { table } from '../table.ts';

export interface PeerFacts {
  /** The title with the version. */
  name: string;
  /** Start on the database that its first process had set up. */
  startMilliseconds: number;
  /** Empty where the system does not provide it. */
  memory: Memory[];
}

/** The peers' tables; each also has the service. */
export function describePeers({
  comparisons,
  startUp,
  memory,
  peers,
}: Pick<Report, 'comparisons' | 'startUp' | 'memory' | 'peers'>): string {
  const parts: string[] = [];
  const names = ['service', ...peers.map(({ name }) => name)];
  if (comparisons.length > 0) {
    parts.push(
      table(
        ['operation', 'service req/s', ...peers.flatMap(({ name }) => [`${name} req/s`, 'factor'])],
        comparisons.map((comparison) => [
          comparison.name,
          rate(comparison.service),
          ...comparison.peers.flatMap(({ figures, ratio }) => [rate(figures), ratio.toFixed(1)]),
        ]),
      ),
      table(
        ['operation', ...names.map((name) => `${name} p50 / p99 ms`), 'CPU µs / request, in this order'],
        comparisons.map((comparison) => {
          const all = [comparison.service, ...comparison.peers.map(({ figures }) => figures)];
          const times = all.map(({ p50, p99 }) => `${p50.toFixed(2)} / ${p99.toFixed(2)}`);
          return [comparison.name, ...times, all.map(({ processorMicroseconds }) => processorMicroseconds?.toFixed(0) ?? '-').join(' / ')];
        }),
      ),
    );
  }
  const service = { name: 'service', startMilliseconds: startUp.at(-1)?.milliseconds ?? Number.NaN, memory };
  const moments = memory.map(({ name }) => `RSS MiB ${name}`);
  parts.push(table(['server', 'ms until ready, running database', ...moments], [service, ...peers].map(describeServer)));
  return parts.join('\n\n');
}

function describeServer({ name, startMilliseconds, memory }: PeerFacts): string[] {
  return [name, startMilliseconds.toFixed(0), ...memory.map(({ bytes }) => (bytes / 2 ** 20).toFixed(0))];
}

function rate({ requestsPerSecond }: Figures): string {
  return requestsPerSecond.toFixed(requestsPerSecond < 1_000 ? 1 : 0);
}
