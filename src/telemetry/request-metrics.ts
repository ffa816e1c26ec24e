/** Counts requests and measures their duration by operation and status: never by path, which the client chooses. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { MetricSet } from './metric-set.ts';
import { operationOf } from './operation-name.ts';

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Observe = (seconds: number) => void;

/** Measures every request to `app` from its first hook until the answer is sent or the client has disconnected. Call it before any other hook. */
export function measureRequests(app: FastifyInstance, { registry }: MetricSet): void {
  const registers = [registry];
  const inFlight = new Gauge({ name: 'entity_service_requests_in_flight', help: 'Requests being worked on.', registers });
  const duration = new Histogram({
    name: 'entity_service_request_duration_seconds',
    help: 'Time from the start of a request to the end of its answer. The status is `aborted` where the client did not wait for it.',
    labelNames: ['operation', 'status'],
    buckets,
    registers,
  });
  const problems = new Counter({
    name: 'entity_service_problems_total',
    help: 'Answers that were a problem, by its code.',
    labelNames: ['code'],
    registers,
  });
  /** By the route's configuration and the status, so that a request needs no lookup of its labels. */
  const observers = new Map<object, Map<string, Observe>>();

  const observerOf = ({ config, url }: FastifyRequest['routeOptions'], status: string): Observe => {
    let byStatus = observers.get(config);
    if (!byStatus) observers.set(config, (byStatus = new Map()));
    let observe = byStatus.get(status);
    if (!observe) {
      const child = duration.labels(operationOf(config.operationId, url), status);
      byStatus.set(status, (observe = (seconds) => child.observe(seconds)));
    }
    return observe;
  };

  const finish = (request: FastifyRequest, reply: FastifyReply) => {
    inFlight.dec();
    const status = reply.raw.writableFinished ? String(reply.raw.statusCode) : 'aborted';
    observerOf(request.routeOptions, status)(reply.elapsedTime / 1_000);
    if (request.problemCode !== '') problems.inc({ code: request.problemCode });
  };

  app.addHook('onRequest', (request, reply, done) => {
    inFlight.inc();
    // Unlike the hook `onResponse`, this event also comes when the client disconnects.
    reply.raw.once('close', () => finish(request, reply));
    done();
  });
}
