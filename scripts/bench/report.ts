/** Writes what was measured as tables for a person. */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { Comparison, Plan } from './measure.ts';
import { describePeers, type PeerFacts } from './peers/report.ts';
import { table } from './table.ts';

export interface Report {
  machine: { cores: number; processor: string; memoryBytes: number; loadAverage: number; node: string; postgres: string; system: string };
  plan: Plan & { logLevel: string; lean: boolean };
  startUp: { name: string; milliseconds: number }[];
  comparisons: Comparison[];
  /** Of the service; empty where the system does not tell. */
  memory: Memory[];
  /** In the order in which they were started; none unless they were asked for. */
  peers: PeerFacts[];
}

/** Resident memory at a moment with a name, in bytes. */
export interface Memory {
  name: string;
  bytes: number;
}

/** The facts of this machine; `postgres` is the version the server reports. */
export function machineFacts(postgres: string): Report['machine'] {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryBytes: totalmem(),
    loadAverage: loadavg()[0] ?? 0,
    node: process.version,
    postgres,
    system: `${process.platform} ${process.arch}`,
  };
}

const milliseconds = ({ p50, p99 }: { p50: number; p99: number }): string => `${p50.toFixed(2)} / ${p99.toFixed(2)}`;

/** All tables; those of the peers only when there are any. */
export function describeReport({ machine, plan, startUp, comparisons, memory, peers }: Report): string {
  const parts = [describeMachine(machine), `started as by \`npm ${plan.lean ? 'run start:lean' : 'start'}\``];
  if (comparisons.length > 0) {
    const { rounds, seconds, logLevel } = plan;
    parts.push(
      `${rounds} rounds of ${seconds} s each in turn; LOG_LEVEL=${logLevel} to the null device, RATE_LIMIT=off; CPU: service / limit, without PostgreSQL`,
      table(
        [
          'operation',
          'connections',
          'service req/s',
          'limit req/s',
          'ratio',
          'service p50 / p99 ms',
          'limit p50 / p99 ms',
          'CPU µs / request',
        ],
        comparisons.map(({ name, connections, service, limit, ratio }) => [
          name,
          String(connections),
          ...[service, limit].map(({ requestsPerSecond }) => requestsPerSecond.toFixed(requestsPerSecond < 1_000 ? 1 : 0)),
          ratio.toFixed(2),
          ...[service, limit].map(milliseconds),
          [service, limit].map((figures) => figures.processorMicroseconds?.toFixed(0) ?? '-').join(' / '),
        ]),
      ),
      'At 80 % of its load, medians of short windows',
      table(
        [
          'operation',
          ...['service', 'limit'].flatMap((name) => [`${name} p50 / p99 ms`, 'p99 over p50 in a window', 'p99 of all windows together']),
        ],
        comparisons.map(({ name, paced }) => [
          name,
          ...[paced.service, paced.limit].flatMap((one) => [milliseconds(one), one.ratio.toFixed(1), one.p99OfAll.toFixed(1)]),
        ]),
      ),
    );
  }
  if (startUp.length > 0)
    parts.push(
      table(
        ['start-up', 'ms until /health/ready'],
        startUp.map(({ name, milliseconds }) => [name, milliseconds.toFixed(0)]),
      ),
    );
  if (memory.length > 0)
    parts.push(
      table(
        ['memory of the service', 'RSS MiB'],
        memory.map(({ name, bytes }) => [name, (bytes / 2 ** 20).toFixed(0)]),
      ),
    );
  if (peers.length > 0) parts.push(describePeers({ startUp, comparisons, memory, peers }));
  return parts.join('\n\n');
}

/** The machine in a line, and a second one when something else keeps it busy. */
export function describeMachine({ cores, processor, memoryBytes, loadAverage, node, postgres, system }: Report['machine']): string {
  const memory = `${Math.round(memoryBytes / 2 ** 30)} GiB`;
  const line = `${cores} cores (${processor}), ${memory}, ${system}; Node ${node}, PostgreSQL ${postgres}; load average ${loadAverage.toFixed(2)}`;
  // The bench itself keeps both cores busy; anything else that runs makes its figures worse.
  return loadAverage > cores / 4 ? `${line}\nThe machine is busy with something else: trust the ratios only.` : line;
}
