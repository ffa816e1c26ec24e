/**
 * What happens between a signal and the end of a process (rule 92): lists of steps with their time limits, in order.
 *
 * With `WORKERS=1` one process has a service and the database. With more, the primary process has the workers and the database, and each
 * worker has a service. docs/reliability.md shows both lists.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { acceptWaiting, hasConnections, stopListening } from './http/drain.ts';
import { nextTurn, waitForPrimary, type Workers } from './workers.ts';

/** Time limit of all steps together. A process that is not done by then ends with status 1. */
export const stopTimeoutMs = 10_000;
/** The last step of a process begins after this time at the latest, so that its embedded database always stops. */
export const lastStepMs = 9_000;
/**
 * After this time a worker does not wait for the reader of the log. Once the start is over, it gets its signal within 3 s of the primary process, and
 * is killed after `lastStepMs`.
 */
export const workerFlushMs = 5_000;

export interface ShutdownStep {
  /** A description of the work, for an operator. */
  name: string;
  /** Time limit in milliseconds: then the next step begins, and this one may continue beside it. Without it the next step waits for the end. */
  timeoutMs?: number;
  /** `timeout` fires when the next step begins although this one has not ended. */
  run: (timeout: AbortSignal) => unknown;
}

/** The resources that a process has opened so far. */
export interface Opened {
  service?: { close(): Promise<void> };
  workers?: Workers;
  archive?: { close(): Promise<void> };
  database?: { close(): Promise<void> };
}

/** The steps of a process. `started` settles when its start is over; `opened` is read step by step. */
export function processStopSteps(opened: Opened, started: Promise<void>): ShutdownStep[] {
  return [
    { name: 'wait until a start under way is over', timeoutMs: 3_000, run: () => started.catch(() => undefined) },
    { name: 'stop the service of this process', run: () => opened.service?.close() },
    // The last worker still accepts the clients that these send away. When it stops listening, waiting connections are reset. The time limit
    // leaves the last worker 7 s for its own steps, should one of the others have a slow client.
    { name: 'stop all workers but one', timeoutMs: 3_000, run: () => opened.workers?.stopAllButOne() },
    { name: 'stop the last worker', run: (timeout) => opened.workers?.stopAll(timeout) },
    { name: 'archive the rest of the log', timeoutMs: 2_000, run: () => opened.archive?.close() },
    { name: 'leave the embedded database', run: () => opened.database?.close() },
  ];
}

/** The parts of a service on which its steps act. */
export interface ServiceParts {
  app: FastifyInstance;
  background: { stop(): Promise<void> };
  /** Writes the audit event `service.stop`; does not throw. */
  recordStop: () => Promise<void>;
  traces: { close(): Promise<void> } | undefined;
  listener: { close(): Promise<void> };
  pool: { close(): Promise<void> };
}

/** The steps of a service, from listening to closed. */
export function serviceStopSteps({ app, background, recordStop, traces, listener, pool }: ServiceParts): ShutdownStep[] {
  const { server } = app;
  let closed: Promise<void> | undefined;
  return [
    { name: 'end periodic work, and wait for the runs under way', timeoutMs: 1_000, run: () => background.stop() },
    {
      name: 'answer 503 at /health/ready',
      run: () => {
        app.stopping = true;
      },
    },
    {
      name: 'serve everything else for 750 ms, if a client is connected',
      run: async () => {
        if (await hasConnections(app)) await delay(750);
      },
    },
    { name: 'accept the connections that are waiting', timeoutMs: 1_500, run: (timeout) => acceptWaiting(server, nextTurn, timeout) },
    { name: 'stop listening', run: () => stopListening(app) },
    { name: 'wait until the primary process knows', run: () => waitForPrimary() },
    { name: 'tell clients to close, and close idle connections', run: () => app.drain({ silenceMs: 250, timeoutMs: 2_000 }) },
    { name: 'answer the requests under way', timeoutMs: 4_500, run: () => (closed = app.close()) },
    {
      name: 'cut off slow clients',
      run: async () => {
        server.closeAllConnections();
        await closed;
      },
    },
    { name: 'write the audit event service.stop', run: recordStop },
    { name: 'send the remaining spans', timeoutMs: 2_000, run: () => traces?.close() },
    { name: 'close the connection for notifications', run: () => listener.close() },
    { name: 'close the pool', run: () => pool.close() },
  ];
}

/**
 * Runs all steps, one after the other. When `deadline` fires, no step is waited for except the last one.
 *
 * @throws after the last step: the first error of a step, or else an Error that names the step under way when the deadline fired.
 */
export async function runSteps(steps: readonly ShutdownStep[], deadline = new AbortController().signal): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    const { name, timeoutMs, run } = step;
    const limits = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
    if (step !== steps.at(-1)) limits.push(deadline);
    const timeout = AbortSignal.any(limits);
    const wasLate = deadline.aborted;
    try {
      const timedOut = timeout.aborted ? undefined : once(timeout, 'abort');
      await Promise.race([run(timeout), timedOut]);
    } catch (error) {
      failures.push(error);
    }
    if (limits.includes(deadline) && deadline.aborted && !wasLate) failures.push(new Error(`not done in time: ${name}`));
  }
  if (failures.length > 0) throw failures[0];
}
