/** Runs the administration command: in a process of its own, as operators do, or in the test's process, which is faster. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { runCommand } from '../../src/cli/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** The command's standard input; empty by default. */
  input?: string | Buffer;
  environment?: Record<string, string>;
  /** Sends Ctrl-C to the process when it is fulfilled. */
  interrupt?: Promise<unknown>;
  /** The file that becomes standard output; without it the output is read. */
  outputFile?: string;
}

/** Starts a process whose environment is only `environment`. */
export async function startAdmin(
  words: readonly string[],
  { input = '', environment = {}, interrupt, outputFile }: RunOptions = {},
): Promise<Run> {
  const file = outputFile === undefined ? undefined : await open(outputFile, 'w');
  const child = spawn(process.execPath, ['src/cli/main.ts', ...words], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://api.example.com',
      NODE_COMPILE_CACHE: 'node_modules/.cache/node',
      ...environment,
    },
    stdio: ['pipe', file?.fd ?? 'pipe', 'pipe'],
  });
  await file?.close();
  void interrupt?.then(() => child.kill('SIGINT'));
  // A process that does not read its input may end first.
  child.stdin?.on('error', () => undefined).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** Runs the command in this process. */
export async function runAdmin(words: readonly string[], { input = '', environment = {} }: RunOptions = {}): Promise<Run> {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const desk = { input: Readable.from(input === '' ? [] : [input]), output, errors, environment: () => environment, exitCode: 0 as const };
  const written = Promise.all([text(output), text(errors)]);
  await runCommand(words, desk);
  output.end();
  errors.end();
  const [stdout, stderr] = await written;
  return { code: desk.exitCode, stdout, stderr };
}

/** Runs the command on one database. */
export class AdminCommand {
  readonly #environment: Record<string, string>;

  constructor(databaseUrl: string, settings: Record<string, string> = {}) {
    this.#environment = { DATABASE_URL: databaseUrl, ...settings };
  }

  run(words: readonly string[], input: string | Buffer = ''): Promise<Run> {
    return runAdmin(words, { input, environment: this.#environment });
  }

  /** Returns the text for people on standard output. Fails the test if the command failed, or wrote to standard error. */
  async say(words: readonly string[], input: string | Buffer = ''): Promise<string> {
    const run = await this.run(words, input);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    return run.stdout;
  }

  /** Returns the document that `--json` prints. Fails the test if the command failed, or printed anything else. */
  async json<T>(words: readonly string[], input: string | Buffer = ''): Promise<T> {
    return JSON.parse(await this.say([...words, '--json'], input)) as T;
  }

  /**
   * Returns the error line of a refused command. Fails the test if the command succeeded, wrote to standard output, or wrote more than one
   * line of error.
   */
  async refusal(words: readonly string[], input: string | Buffer = '', code = 1): Promise<string> {
    const run = await this.run(words, input);
    expect(run).toMatchObject({ code, stdout: '' });
    expect(run.stderr).toMatch(/^error: [^\n]+\n$/);
    return run.stderr.slice('error: '.length, -1);
  }
}
