/**
 * Several processes on one port: starts `WORKERS` of them, replaces one that ends, and stops them together. Each is a whole service; what
 * they share is the database alone.
 */
import cluster, { type Worker } from 'node:cluster';
import { setImmediate } from 'node:timers/promises';

const restartMs = 1_000;
/** How the primary tells its workers which database it has opened. */
const databaseVariable = 'WORKER_DATABASE_URL';

/** A worker's message, which the primary sends back. `close`: at once. `turn`: after a turn of the primary's event loop. */
interface Asked {
  asked?: 'close' | 'turn' | undefined;
}

/** A line for the log: a worker ended or could not be started, or its replacement listens. `worker` is a process id. */
export type WorkerChange =
  { event: 'worker.lost'; worker: number | undefined; reason: string } | { event: 'worker.replaced'; worker: number | undefined };

export interface Workers {
  /** Fulfilled when all listen. Rejected with the reason of the first one that ends before, or cannot be started. */
  ready: Promise<void>;
  /** Sends SIGTERM to all workers but one and waits for their end. No worker is started any more. */
  stopAllButOne(): Promise<void>;
  /**
   * Sends SIGTERM to all workers and waits for their end. A worker ignores a second SIGTERM. No worker is started any more. When `timeout` fires,
   * the workers that are left get SIGKILL.
   */
  stopAll(timeout?: AbortSignal): Promise<void>;
}

/** In a worker: the database that its primary has opened. Undefined in any other process. */
export function inheritedDatabase(): string | undefined {
  return cluster.isWorker ? process.env[databaseVariable] : undefined;
}

/** In a worker: ends it, and lets the primary say why. */
export function endWorker(reason: string): void {
  process.send?.({ reason }, undefined, {}, () => process.exit(1));
}

/**
 * In a worker that has stopped listening: resolves when its primary knows that. The primary accepts connections for all workers until the last
 * one has stopped listening. Resolves at once in any other process.
 */
export async function waitForPrimary(): Promise<void> {
  await askPrimary('close');
}

/** Resolves after a turn of the event loop. In a worker the primary has had a turn too: it accepts connections and hands them to workers. */
export async function nextTurn(): Promise<void> {
  await askPrimary('turn');
  await setImmediate();
}

async function askPrimary(asked: Asked['asked']): Promise<void> {
  if (!cluster.isWorker || !process.connected) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const listen = (message: Asked) => {
    if (message.asked === asked) resolve();
  };
  process.on('message', listen).once('disconnect', resolve);
  // A primary that has just died does not get it; 'disconnect' follows.
  process.send?.({ asked } satisfies Asked, undefined, {}, () => undefined);
  await promise;
  process.off('message', listen).off('disconnect', resolve);
}

/**
 * Starts `count` workers on the database. Once all were ready, a worker that ends or cannot be started is replaced by another one a second
 * later. `onChange` receives both.
 */
export function startWorkers(count: number, databaseUrl: string, onChange: (change: WorkerChange) => void): Workers {
  const ready = Promise.withResolvers<void>();
  /** The running workers, each with a promise that is fulfilled when it has ended or could not be started. */
  const running = new Map<Worker, Promise<void>>();
  let listening = 0;
  let stopping = false;

  const fork = () => {
    if (stopping) return;
    const worker = cluster.fork({ [databaseVariable]: databaseUrl });
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    running.set(worker, ended);
    let told: string | undefined;
    let isOver = false;
    const over = (why: string) => {
      if (isOver) return;
      isOver = true;
      running.delete(worker);
      end();
      if (stopping) return;
      const reason = told ?? why;
      if (listening < count) return ready.reject(new Error(reason));
      onChange({ event: 'worker.lost', worker: worker.process.pid, reason });
      // The timer keeps this process alive: without any worker it has nothing else to do, and would end beside its embedded database.
      setTimeout(fork, restartMs);
    };
    // A process that could not be started has no pid and no exit. Any other error is of a message to a worker that has died: its exit follows.
    worker.on('error', ({ message }) => worker.process.pid === undefined && over(`a worker could not be started: ${message}`));
    worker.once('exit', (code, signal) => over(`worker ${worker.process.pid} ended with ${signal ?? `code ${code}`}`));
    worker.on('message', ({ reason, asked }: { reason?: string } & Asked) => {
      told = reason ?? told;
      // Node's own message about the closed port came before this one. So the port is closed if this was the last worker.
      const answer = () => worker.send({ asked } satisfies Asked, () => undefined);
      if (asked === 'close') answer();
      if (asked === 'turn') void setImmediate().then(answer);
    });
    worker.once('listening', () => {
      listening += 1;
      if (listening === count) ready.resolve();
      if (listening > count) onChange({ event: 'worker.replaced', worker: worker.process.pid });
    });
  };
  for (let index = 0; index < count; index++) fork();

  const stop = async (workers: [Worker, Promise<void>][]) => {
    stopping = true;
    // A worker that could not be started has no process number, and a signal to it would go to this process.
    for (const [worker] of workers) if (worker.process.pid !== undefined) worker.process.kill('SIGTERM');
    await Promise.all(workers.map(([, ended]) => ended));
  };
  return {
    ready: ready.promise,
    stopAllButOne: () => stop([...running].slice(1)),
    stopAll: async (timeout) => {
      const kill = () => running.forEach((_, worker) => worker.process.pid !== undefined && worker.process.kill('SIGKILL'));
      const ended = stop([...running]);
      if (timeout?.aborted) kill();
      timeout?.addEventListener('abort', kill);
      await ended;
    },
  };
}
