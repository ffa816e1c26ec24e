/**
 * `GET /metrics`, for who has the token of METRICS_TOKEN; without that setting there is no such route. Of several workers any one answers
 * for all: it asks the primary, which asks every worker.
 */
import cluster from 'node:cluster';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { Secret } from '../config/secrets.ts';
import type { Context } from '../context.ts';
import { Problem } from '../errors.ts';
import { measureRequests } from '../telemetry/request-metrics.ts';
import { createMetricSet } from './metrics.ts';

/** The primary gives up on a worker after five seconds. */
const workerAnswerTimeoutMs = 6_000;

interface Question {
  scrape: number;
}

interface Reply extends Question {
  /** Undefined when a worker did not tell. */
  text?: string;
}

/**
 * Measures what `app` does on `context` and serves the metrics, of this process or of all its siblings, to callers with `token` as their bearer
 * token. Call it before any other hook is added, so that what those refuse is counted.
 */
export function exposeMetrics(app: FastifyInstance, context: Context, token: Secret): void {
  const meters = createMetricSet(context);
  const { registry } = meters;
  measureRequests(app, meters);
  const expected = digest(token.reveal());
  // Making a registry of this kind is also what lets a worker answer the primary.
  const { contentType } = cluster.isWorker ? new AggregatorRegistry() : registry;
  const scrape = cluster.isWorker ? askPrimary(registry) : () => registry.metrics();
  app.get('/metrics', { exposeHeadRoute: false }, async (request, reply) => {
    if (!timingSafeEqual(digest(/^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''), expected))
      throw new Problem('unauthenticated');
    return reply.type(contentType).send(await scrape());
  });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** In a worker: answers the primary from `registry`, and returns what asks it for the metrics of all. */
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

/** In the primary: answers workers that ask for the metrics of all. */
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
