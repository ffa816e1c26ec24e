/** Gauges and counters of one registry whose values other code counts. */
import { Counter, Gauge, Registry, type Aggregator } from 'prom-client';

/** Begins the name of each metric of the service. */
export const metricPrefix = 'entity_service_';

/** Creates metrics of one registry. With several workers their values are added up, unless another aggregator is given. */
export class MetricSet {
  readonly registry = new Registry();

  /** A gauge with the value of `read` at each scrape; absent while that is undefined. */
  gauge(name: string, help: string, read: () => number | undefined | Promise<number | undefined>, aggregator: Aggregator = 'sum'): void {
    this.registry.registerMetric(
      new Gauge({
        name: metricPrefix + name,
        help,
        aggregator,
        registers: [],
        async collect() {
          const value = await read();
          if (value === undefined) this.remove();
          else this.set(value);
        },
      }),
    );
  }

  /** Gauges that differ by one label; a label value that `read` does not return is removed. */
  gauges(name: string, help: string, label: string, read: () => Record<string, number>, aggregator: Aggregator = 'sum'): void {
    this.registry.registerMetric(
      new Gauge({
        name: metricPrefix + name,
        help,
        labelNames: [label],
        aggregator,
        registers: [],
        collect() {
          this.reset();
          for (const [value, number] of Object.entries(read())) this.set({ [label]: value }, number);
        },
      }),
    );
  }

  /** A counter whose value other code counts. */
  counter(name: string, help: string, read: () => number): void {
    this.registry.registerMetric(
      new Counter({
        name: metricPrefix + name,
        help,
        registers: [],
        collect() {
          this.reset();
          this.inc(read());
        },
      }),
    );
  }

  /** Counters that differ by one label, whose values other code counts. */
  counters(name: string, help: string, label: string, read: () => Record<string, number>): void {
    this.registry.registerMetric(
      new Counter({
        name: metricPrefix + name,
        help,
        labelNames: [label],
        registers: [],
        collect() {
          this.reset();
          for (const [value, number] of Object.entries(read())) this.inc({ [label]: value }, number);
        },
      }),
    );
  }

  /** Counters that differ by several labels, whose values other code counts. */
  labelledCounters<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    read: () => { labels: Record<L, string>; value: number }[],
  ): void {
    this.registry.registerMetric(
      new Counter({
        name: metricPrefix + name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset();
          for (const { labels, value } of read()) this.inc(labels, value);
        },
      }),
    );
  }
}
