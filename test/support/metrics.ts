/** Reads /metrics as Prometheus does. */
import { expect } from 'vitest';

export const metricsToken = 'a-token-for-scraping-0123456789abcdef';

type Labels = Record<string, string>;

interface Sample {
  name: string;
  labels: Labels;
  value: number;
}

export interface Metrics {
  /** The types by name, from the TYPE lines. */
  types: Map<string, string>;
  samples: Sample[];
  /**
   * The value of the one sample with exactly these labels. Without such a sample it returns `absent`, or fails the test if that is not
   * given.
   */
  value(name: string, labels?: Labels, absent?: number): number;
  /** The labels of every sample of that name. */
  labels(name: string): Labels[];
}

/** Requests /metrics of the service at `url` with {@link metricsToken}. */
export async function scrape(url: string): Promise<Metrics> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}`, connection: 'close' } });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  const samples = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', pairs = '', value = '']) => ({
    name,
    labels: Object.fromEntries([...pairs.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text])),
    value: value === '+Inf' ? Infinity : Number(value),
  }));
  const named = (name: string) => samples.filter((sample) => sample.name === name);
  const keyOf = (labels: Labels) =>
    Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .toSorted()
      .join();
  return {
    types,
    samples,
    value(name, labels = {}, absent) {
      const value = named(name).find((sample) => keyOf(sample.labels) === keyOf(labels))?.value ?? absent;
      if (value === undefined) throw new Error(`no ${name} ${JSON.stringify(labels)} in\n${text}`);
      return value;
    },
    labels: (name) => named(name).map(({ labels }) => labels),
  };
}
