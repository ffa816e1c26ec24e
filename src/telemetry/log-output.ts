/** Standard output for the log: lines are written in batches, and what cannot be written is dropped and counted. */
import { write, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const writeSome = promisify(write);

/** Lines are written out when they have 32 KiB together, or after 200 milliseconds: a write for each line costs as much as its request. */
const batchCharacters = 32_768;
const flushIntervalMs = 200;
/** Lines beyond are dropped: the reader of a pipe may have stopped. */
const maximumCharacters = 16_777_216;
/** How long to wait for a pipe that is full. */
const fullPipeMs = 100;
const maximumWaitsAtExit = 50;

const isFullPipe = (error: unknown) => ['EAGAIN', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '');

export class LogOutput {
  readonly #descriptor: number;
  readonly #onFirstLoss: (error: Error) => void;
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** Whether the last line that was written lacks its end. */
  #isTorn = false;
  /** The number of lines that could not be written. */
  lost = 0;

  /** `onFirstLoss` is called once, when the first line is lost. */
  constructor(descriptor: number, onFirstLoss: (error: Error) => void) {
    this.#descriptor = descriptor;
    this.#onFirstLoss = onFirstLoss;
    process.on('exit', () => this.flushSync());
  }

  /** Adds a line, which ends with a line feed. */
  write(line: string): void {
    if (this.#waiting.length + line.length > maximumCharacters) return this.#count(1, new Error('it is not read fast enough'));
    this.#waiting += line;
    if (this.#waiting.length >= batchCharacters) void this.#start();
    else this.#startLater();
  }

  /** Writes the lines in memory. Resolves also when they cannot be written. */
  async flush(): Promise<void> {
    await this.#writing;
    await this.#start();
  }

  /** Writes the lines in memory before it returns. A batch that is being written may follow them. */
  flushSync(): void {
    let bytes = this.#takeWaiting();
    for (let waits = 0; bytes.length > 0;) {
      try {
        bytes = bytes.subarray(writeSync(this.#descriptor, bytes));
      } catch (error) {
        if (!isFullPipe(error) || waits++ === maximumWaitsAtExit) return this.#lose(bytes, error as Error);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeMs);
      }
    }
  }

  #startLater(): void {
    if (!this.#writing) this.#timer ??= setTimeout(() => void this.#start(), flushIntervalMs).unref();
  }

  async #start(): Promise<void> {
    if (this.#waiting === '' && !this.#writing) return;
    await (this.#writing ??= this.#writeBatches());
  }

  async #writeBatches(): Promise<void> {
    do await this.#writeOut(this.#takeWaiting());
    while (this.#waiting.length >= batchCharacters);
    this.#writing = undefined;
    if (this.#waiting !== '') this.#startLater();
  }

  #takeWaiting(): Buffer {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const bytes = Buffer.from(this.#waiting === '' || !this.#isTorn ? this.#waiting : `\n${this.#waiting}`);
    this.#waiting = '';
    return bytes;
  }

  async #writeOut(batch: Buffer): Promise<void> {
    let bytes = batch;
    while (bytes.length > 0) {
      try {
        const { bytesWritten } = await writeSome(this.#descriptor, bytes);
        bytes = bytes.subarray(bytesWritten);
        this.#isTorn = false;
      } catch (error) {
        if (!isFullPipe(error)) return this.#lose(bytes, error as Error, bytes.length < batch.length);
        await wait(fullPipeMs);
      }
    }
  }

  #lose(bytes: Buffer, error: Error, isTorn = false): void {
    this.#isTorn ||= isTorn;
    let lines = 0;
    for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', end + 1)) lines++;
    this.#count(lines, error);
  }

  #count(lines: number, error: Error): void {
    const isFirst = this.lost === 0;
    this.lost += lines;
    if (isFirst) this.#onFirstLoss(error);
  }
}
