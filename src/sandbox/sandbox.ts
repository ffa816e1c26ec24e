/**
 * A worker thread for work on what callers define, which may take any time. It has one job at a time; further ones wait in the class `sandbox` of the admission. A
 * job that exceeds its time or the memory of the thread ends the thread, and the process goes on (rule 101).
 */
import { Worker } from 'node:worker_threads';

export interface SandboxLimits {
  /** Milliseconds of a processor that one job may take. */
  processorMs: number;
  /** Milliseconds that one job may take while the processor does other work. */
  elapsedMs: number;
  /** MiB of the thread's heap for objects that outlive a collection. */
  heapMb: number;
  /** Milliseconds without a job after which the thread ends. */
  idleMs: number;
}

const defaultLimits: SandboxLimits = { processorMs: 1_000, elapsedMs: 10_000, heapMb: 40, idleMs: 30_000 };

/** The thread was ended, or ended itself, before the job was done. */
export class SandboxEndedError extends Error {
  override readonly name = 'SandboxEndedError';
  /** `elapsed`: the processor did other work, so that the same job may succeed later. */
  readonly limit: 'processor' | 'elapsed' | 'memory';
  /** The latest place that the job reported; empty if it reported none. */
  readonly place: string;

  constructor(limit: SandboxEndedError['limit'], place: string) {
    super(`a job of the sandbox exceeded its limit: ${limit}`);
    this.limit = limit;
    this.place = place;
  }
}

/** What the thread sends: first that it is ready, then for each job its places and its output. */
export type SandboxMessage<Output> = { kind: 'ready' } | { kind: 'place'; place: string } | { kind: 'output'; output: Output };

export class Sandbox<Input, Output> {
  readonly #module: URL;
  readonly #limits: SandboxLimits;
  #worker: Promise<Worker> | undefined;
  #isRunning = false;
  #idle: NodeJS.Timeout | undefined;

  /** `module` calls `serveSandbox`. */
  constructor(module: URL, limits: Partial<SandboxLimits> = {}) {
    this.#module = module;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** The output for the input, which is copied. Throws {@link SandboxEndedError}, and what the job throws. */
  async run(input: Input): Promise<Output> {
    if (this.#isRunning) throw new Error('a sandbox has one job at a time');
    this.#isRunning = true;
    try {
      return await this.#runNow(input);
    } finally {
      this.#isRunning = false;
    }
  }

  async #runNow(input: Input): Promise<Output> {
    clearTimeout(this.#idle);
    const worker = await (this.#worker ??= this.#start());
    worker.ref();
    try {
      const output = await this.#outputOf(worker, input);
      worker.unref();
      this.#idle = setTimeout(() => void this.#end(worker), this.#limits.idleMs).unref();
      return output;
    } catch (error) {
      await this.#end(worker);
      throw error;
    }
  }

  async #outputOf(worker: Worker, input: Input): Promise<Output> {
    const { promise, resolve, reject } = Promise.withResolvers<Output>();
    let place = '';
    const receive = (message: SandboxMessage<Output>) => {
      if (message.kind === 'place') ({ place } = message);
      if (message.kind === 'output') resolve(message.output);
    };
    const fail = (error: Error & { code?: string }) =>
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new SandboxEndedError('memory', place) : error);
    const exceed = (limit: SandboxEndedError['limit']) => reject(new SandboxEndedError(limit, place));
    worker.on('message', receive).on('error', fail);
    const elapsed = setTimeout(() => exceed('elapsed'), this.#limits.elapsedMs);
    const watch = watchProcessor(worker, this.#limits.processorMs, () => exceed('processor'));
    try {
      worker.postMessage(input, []);
      return await promise;
    } finally {
      clearTimeout(elapsed);
      watch.stop();
      worker.off('message', receive).off('error', fail);
    }
  }

  async #start(): Promise<Worker> {
    const { heapMb } = this.#limits;
    // The thread has no use for secrets in the environment, nor for options of this process.
    const worker = new Worker(this.#module, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 8 },
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    worker.once('message', resolve).once('error', reject);
    try {
      await promise;
    } catch (error) {
      this.#worker = undefined;
      throw error;
    } finally {
      worker.off('error', reject);
    }
    // An error of a thread that has been ended concerns no job.
    return worker.on('error', () => undefined);
  }

  async #end(worker: Worker): Promise<void> {
    this.#worker = undefined;
    await worker.terminate();
  }
}

/** Calls `exceed` when the thread has used more than `limitMs` of a processor from now on. */
function watchProcessor(worker: Worker, limitMs: number, exceed: () => void): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const before = worker.cpuUsage();
  const look = async () => {
    const { user, system } = await worker.cpuUsage(await before);
    const leftMs = limitMs - (user + system) / 1_000;
    if (isStopped) return;
    if (leftMs <= 0) exceed();
    else timer = later(leftMs);
  };
  // A thread that has ended has no usage, and its job is over.
  const later = (ms: number) => setTimeout(() => void look().catch(() => undefined), ms);
  before.catch(() => undefined);
  timer = later(limitMs);
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
