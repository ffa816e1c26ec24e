/**
 * Several processes on one port: starts `WORKERS` of them, replaces one that ends, and stops them together. Each is a whole service; what
 * they share is the database alone.
 */
import cluster, { type Worker } from 'node:cluster';

const restartMilliseconds = 1_000;
/** How the primary tells its workers which database it has opened. */
const databaseVariable = 'WORKER_DATABASE_URL';

export interface Workers {
  /** Fulfilled when all listen. Rejected with the reason of the first one that ends before. */
  ready: Promise<void>;
  /** Sends SIGTERM to all and waits for their end. */
  stop(): Promise<void>;
}

/** In a worker: the database that its primary has opened. Undefined in any other process. */
export function inheritedDatabase(): string | undefined {
  return cluster.isWorker ? process.env[databaseVariable] : undefined;
}

/** In a worker: ends it, and lets the primary say why. */
export function endWorker(reason: string): void {
  process.send?.({ reason }, undefined, {}, () => process.exit(1));
}

/** Starts `count` workers on the database. `onLoss` hears of every worker that ends once all were ready and is then replaced. */
export function startWorkers(count: number, databaseUrl: string, onLoss: (reason: string) => void): Workers {
  const ready = Promise.withResolvers<void>();
  const running = new Set<Worker>();
  let listening = 0;
  let stopping = false;

  const fork = () => {
    if (stopping) return;
    const worker = cluster.fork({ [databaseVariable]: databaseUrl });
    running.add(worker);
    let told: string | undefined;
    worker.on('message', (message: { reason?: string }) => (told = message.reason ?? told));
    worker.once('listening', () => {
      listening += 1;
      if (listening === count) ready.resolve();
    });
    worker.once('exit', (code, signal) => {
      running.delete(worker);
      if (stopping) return;
      const reason = told ?? `worker ${worker.process.pid} ended with ${signal ?? `code ${code}`}`;
      if (listening < count) return ready.reject(new Error(reason));
      onLoss(reason);
      setTimeout(fork, restartMilliseconds).unref();
    });
  };
  for (let index = 0; index < count; index++) fork();

  const stop = async () => {
    stopping = true;
    await Promise.all(
      Array.from(running, (worker) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        worker.once('exit', () => resolve());
        worker.process.kill('SIGTERM');
        return promise;
      }),
    );
  };
  return { ready: ready.promise, stop };
}
