/**
 * Debian's Prometheus for tests of the files that operators load into it. Without it, plain `npm test` skips these tests and prints the
 * reason.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { fixedPort } from './fixed-port.ts';

const program = process.env['PROMETHEUS'] ?? '/usr/bin/prometheus';

/**
 * Why there is no Prometheus; undefined when there is one.
 * @throws Error if there is none and PROMETHEUS_REQUIRED is set.
 */
export function whyNoPrometheus(): string | undefined {
  if (existsSync(program)) return undefined;
  const reason = `no prometheus at ${program}: run "apt-get install prometheus", or set PROMETHEUS to its path`;
  if (process.env['PROMETHEUS_REQUIRED']) throw new Error(reason);
  return reason;
}

export interface Series {
  metric: Record<string, string>;
  /** Its finite numbers, in the order of time. */
  numbers: number[];
}

export interface Prometheus {
  /** The answer of its API at a path under `/api/v1/`. Throws the error that Prometheus reports, such as an invalid expression. */
  ask<T>(path: string, parameters?: Record<string, string>): Promise<T>;
  /** The series of an expression over the last half minute, one second apart. */
  series(expression: string): Promise<Series[]>;
  stop(): Promise<void>;
}

/** Runs Prometheus with this configuration on its own port until it is stopped. */
export async function startPrometheus(configuration: object): Promise<Prometheus> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-prometheus-'));
  const file = join(directory, 'prometheus.yml');
  await writeFile(file, stringify(configuration));
  const address = `127.0.0.1:${await fixedPort()}`;
  const flags = [`--config.file=${file}`, `--storage.tsdb.path=${directory}/data`, `--web.listen-address=${address}`, '--log.level=error'];
  const prometheus = spawn(program, flags, { stdio: 'inherit' });
  const ended = once(prometheus, 'exit');
  const url = `http://${address}`;
  const ask = async <T>(path: string, parameters: Record<string, string> = {}): Promise<T> => {
    const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`);
    const { data, error } = (await answer.json()) as { data?: T; error?: string };
    if (data === undefined) throw new Error(`${error}: ${JSON.stringify(parameters)}`);
    return data;
  };
  while (!(await isReady(url))) {
    if (prometheus.exitCode !== null) throw new Error('Prometheus did not start');
    await delay(10);
  }
  return {
    ask,
    series: async (expression) => {
      const now = Date.now() / 1_000;
      const range = { query: expression, start: String(now - 30), end: String(now), step: '1' };
      const { result } = await ask<{ result: { metric: Record<string, string>; values: [number, string][] }[] }>('query_range', range);
      return result.map(({ metric, values }) => ({ metric, numbers: values.map(([, value]) => Number(value)).filter(Number.isFinite) }));
    },
    stop: async () => {
      prometheus.kill('SIGTERM');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Runs the unit tests of rules in a file of promtool's own format. The thrown error contains the failures. */
export async function testRules(file: string): Promise<void> {
  await promisify(execFile)(join(dirname(program), 'promtool'), ['test', 'rules', file]);
}
