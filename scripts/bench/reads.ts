/**
 * Reads entities by API key at a fixed rate, whether or not earlier reads have been answered, as clients do that know nothing of each
 * other: a closed loop would ask less of a service that is slow and hide how slow it is.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Seeds } from '../lib/seed.ts';

export interface Reads {
  answers: number;
  /** Answers other than 200. */
  refused: number;
  /** Milliseconds from the moment a read was due until its answer was complete. */
  p50: number;
  p99: number;
}

/** Starts `perSecond` reads a second for `seconds` over keep-alive connections and waits for all answers. Rejects when a connection breaks. */
export async function readAtRate(port: number, seeds: Seeds, perSecond: number, seconds: number): Promise<Reads> {
  const { apiKey, entityName, keys } = seeds;
  const agent = new Agent({ keepAlive: true });
  const latencies: number[] = [];
  let refused = 0;
  const start = performance.now();
  const read = async (n: number) => {
    const due = start + (n * 1_000) / perSecond;
    await delay(Math.max(1, due - performance.now()));
    const status = await get(agent, port, `/rest/entity/${entityName}/${keys[n % keys.length] ?? ''}`, apiKey);
    latencies.push(performance.now() - due);
    if (status !== 200) refused += 1;
  };
  await Promise.all(Array.from({ length: Math.round(perSecond * seconds) }, (_, n) => read(n)));
  agent.destroy();
  const sorted = Float64Array.from(latencies).sort();
  const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
  return { answers: sorted.length, refused, p50: quantile(0.5), p99: quantile(0.99) };
}

/** The status of the answer, once all of it has come. */
function get(agent: Agent, port: number, path: string, apiKey: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request({ agent, host: '127.0.0.1', port, path, headers: { 'x-api-key': apiKey } }, (response) => {
    response.resume();
    response.on('end', () => resolve(response.statusCode ?? 0));
    response.on('error', reject);
  })
    .on('error', reject)
    .end();
  return promise;
}
