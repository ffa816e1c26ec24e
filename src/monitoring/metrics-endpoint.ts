/**
 * `GET /metrics`, for clients with a token of METRICS_TOKEN or METRICS_TOKEN_FILE; without these settings there is no such route. With several workers any of
 * them answers for all: it requests the metrics of every worker through the primary.
 */
import cluster from 'node:cluster';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { Current } from '../config/secret-file.ts';
import type { Secret } from '../config/secrets.ts';
import type { MonitoringContext } from './context.ts';
import { Problem } from '../problems/errors.ts';
import type { Connections } from '../admission/connections.ts';
import type { PacedStarts } from '../admission/starts.ts';
import { measureRequests } from '../telemetry/request-metrics.ts';
import { createMetricSet } from './metrics.ts';

/** More than the five seconds after which the primary gives up on a worker. */
const workerAnswerTimeoutMs = 6_000;

interface Question {
  scrape: number;
}

interface Reply extends Question {
  /** Undefined if a worker did not answer. */
  text?: string;
}

/**
 * Measures the requests of `app` on `context` and serves the metrics of this process or of all workers. Callers need one of `tokens` as
 * their bearer token. Call it before any other hook is added, so that requests which those refuse are counted.
 */
export function exposeMetrics(
  app: FastifyInstance,
  context: MonitoringContext,
  tokens: Current<readonly Secret[]>,
  { connections, starts }: { connections: Connections; starts: PacedStarts },
): void {
  const meters = createMetricSet(context);
  meters.gauge('connections_open', 'Open connections of clients.', () => connections.open);
  meters.counters('connections_refused_total', 'Connections closed at once, by the limit that they exceeded.', 'limit', () => ({
    ...connections.refused,
  }));
  meters.gauge('requests_waiting', 'Requests that have arrived and have not been started.', () => starts.waiting);
  meters.counter(
    'requests_abandoned_total',
    'Requests that were not started, because their connections had ended.',
    () => starts.abandoned,
  );
  const { registry } = meters;
  measureRequests(app, meters);
  // A worker needs a registry of this kind to answer the primary.
  const { contentType } = cluster.isWorker ? new AggregatorRegistry() : registry;
  const scrape = cluster.isWorker ? askPrimary(registry) : () => registry.metrics();
  app.get('/metrics', async (request, reply) => {
    const shown = digest(/^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '');
    if (!tokens.current.some((token) => timingSafeEqual(shown, digest(token.reveal())))) throw new Problem('unauthenticated');
    return reply.type(contentType).send(await scrape());
  });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** In a worker: answers the primary from `registry`, and returns the function that requests the metrics of all workers. */
function askPrimary(registry: Registry): () => Promise<string> {
  AggregatorRegistry.setRegistries(registry);
  const waiting = new Map<number, (text: string | undefined) => void>();
  let questions = 0;
  process.on('message', ({ scrape, text }: Partial<Reply>) => {
    if (scrape !== undefined) waiting.get(scrape)?.(text);
  });
  return async () => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const question = questions++;
    const timer = setTimeout(() => resolve(undefined), workerAnswerTimeoutMs);
    waiting.set(question, resolve);
    // A primary that has just died does not answer, and its worker ends.
    process.send?.({ scrape: question } satisfies Question, undefined, {}, () => undefined);
    const text = await promise;
    clearTimeout(timer);
    waiting.delete(question);
    if (text === undefined) throw new Problem('unavailable', { headers: { 'Retry-After': '5' } });
    return text;
  };
}

/** In the primary: answers requests of workers for the metrics of all. */
export function answerWorkers(): void {
  const all = new AggregatorRegistry();
  cluster.on('message', (worker, { scrape }: Partial<Question>) => {
    if (scrape === undefined) return;
    const answer = (reply: Reply) => worker.isConnected() && worker.send(reply);
    all.clusterMetrics().then(
      (text) => answer({ scrape, text }),
      () => answer({ scrape }),
    );
  });
}
