/** The servers that are compared, each a process of its own, started as its documentation says, and what the system tells of them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { freePort } from '../../src/embedded/launch.ts';

const root = new URL('../../', import.meta.url);
const startMilliseconds = 180_000;
const pollMilliseconds = 5;
/** Of the end of what a server that did not start has written. */
const writtenCharacters = 4_000;
/** Linux counts processor time in these. */
const tickMicroseconds = 10_000;

export interface Server {
  pid: number;
  port: number;
  /** From the spawn until it could serve. */
  startMilliseconds: number;
  /** Asks it to end and waits until it has; calling it again changes nothing. */
  stop(): Promise<void>;
  /** Kills it without a warning and waits for its end. */
  kill(): Promise<void>;
  /** Its status once it has ended; null when a signal ended it. */
  readonly exitCode: number | null;
}

type Environment = Record<string, string | undefined>;

/** How Node.js is started for the service and for the raw limit. */
export interface StartOptions {
  /** As `npm run start:lean` starts it; `npm start` otherwise. */
  lean: boolean;
  /** Any free port by default. */
  port?: number;
  /** The directory of the version to start; by default the project's. */
  cwd?: string;
}

/** As npm gives it to its scripts. */
const path = { PATH: `${fileURLToPath(new URL('node_modules/.bin', root))}:${process.env['PATH']}` };

/** What npm runs, with another script in place of the service's. The shell gives way to node, so the process number is that of node. */
function commandFor(script: string, { lean }: StartOptions = { lean: false }): string {
  return packageJson.scripts[lean ? 'start:lean' : 'start'].replace('src/main.ts', script);
}

/** How a server is started. */
export interface Launch {
  /** For a person. */
  name: string;
  command: string;
  args: string[];
  /** Lets a shell read `command`. */
  shell?: boolean;
  cwd: string;
  /** The whole environment. */
  env: Environment;
  port: number;
  /** Answers 200 once it can serve. */
  readyPath: string;
  /** What it writes to standard error as well when all of it can, where one of several processes may answer before the others. */
  readyText?: string;
  /** Shows the end of its standard output too when it does not start; it goes to the null device otherwise. */
  readsOutput?: boolean;
  /** What it is ended with when `opened` is disposed of; SIGTERM otherwise. */
  endsWith?: NodeJS.Signals;
}

/**
 * Starts the service, one process unless `settings` say otherwise, with them in addition to the environment, and waits until it is ready.
 * Its log goes to the null device. It is stopped with `opened` at the latest. Rejects with what it wrote to standard error when it ends
 * before it is ready.
 */
export async function startService(settings: Environment, opened: AsyncDisposableStack, options?: StartOptions): Promise<Server> {
  const port = options?.port ?? (await freePort());
  const env = {
    ...process.env,
    ...path,
    WORKERS: '1',
    RATE_LIMIT: 'off',
    ...settings,
    DATABASE: settings['DATABASE_URL'] ? '' : 'embedded',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://localhost:${port}`,
  };
  return launch(
    {
      name: 'the service',
      command: commandFor('src/main.ts', options),
      args: [],
      shell: true,
      cwd: options?.cwd ?? fileURLToPath(root),
      env,
      port,
      readyPath: '/health/ready',
      readyText: ' is ready.',
    },
    opened,
  );
}

/** Starts a server and waits until it is ready; see `startService`. */
export async function launch(how: Launch, opened: AsyncDisposableStack): Promise<Server> {
  if (opened.disposed) throw new Error('everything is being stopped');
  const startedAt = performance.now();
  const child = spawn(how.command, how.args, {
    cwd: how.cwd,
    shell: how.shell ?? false,
    stdio: ['ignore', how.readsOutput ? 'pipe' : 'ignore', 'pipe'],
    env: how.env,
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (written = (written + text).slice(-writtenCharacters)));
  }
  const stop = ending(child, how.endsWith ?? 'SIGTERM');
  opened.defer(stop);
  const isAnnounced = () => how.readyText === undefined || written.includes(how.readyText);
  while (!(await isReady(how.port, how.readyPath)) || !isAnnounced()) {
    if (hasEnded(child) || performance.now() - startedAt > startMilliseconds) {
      await stop();
      throw new Error(`${how.name} did not start:\n${written}`);
    }
    await delay(pollMilliseconds);
  }
  return serverOf(child, how.port, startedAt);
}

/** Starts the raw limit on the database, with the same options of Node.js as the service; it is stopped with `opened`. */
export async function startLimit(databaseUrl: string, opened: AsyncDisposableStack, options?: StartOptions): Promise<Server> {
  const startedAt = performance.now();
  const child = spawn(commandFor('scripts/bench/limit/main.ts', options), {
    cwd: fileURLToPath(root),
    shell: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...path, DATABASE_URL: databaseUrl },
  });
  const stop = ending(child, 'SIGTERM');
  opened.defer(stop);
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [{ port: number } | number | null];
  if (typeof message !== 'object' || message === null) throw new Error('the limit did not start');
  return serverOf(child, message.port, startedAt);
}

function serverOf(child: ChildProcess, port: number, startedAt: number): Server {
  return {
    pid: child.pid ?? 0,
    port,
    startMilliseconds: performance.now() - startedAt,
    stop: ending(child, 'SIGTERM'),
    kill: ending(child, 'SIGKILL'),
    get exitCode() {
      return child.exitCode;
    },
  };
}

/** A function that sends `signal` and waits for the end; it changes nothing once the process has ended. */
export function ending(child: ChildProcess, signal: NodeJS.Signals): () => Promise<void> {
  return async () => {
    if (hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function isReady(port: number, path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const request = get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  });
  request.on('error', () => resolve(false));
  return promise;
}

/** The memory of the process that is in RAM, in bytes; undefined where the system has no /proc. */
export async function residentBytes({ pid }: Server): Promise<number | undefined> {
  const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(await readProc(pid, 'status'))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}

/** The processor time that the process has taken since its start, in microseconds; undefined where the system has no /proc. */
export async function processorMicroseconds({ pid }: Pick<Server, 'pid'>): Promise<number | undefined> {
  // The program's name, in brackets, may contain spaces; the times are the 14th and 15th of all.
  const [, after] = (await readProc(pid, 'stat')).split(') ');
  const [user, system] = after?.split(' ').slice(11, 13).map(Number) ?? [];
  return user === undefined || system === undefined ? undefined : (user + system) * tickMicroseconds;
}

function readProc(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}
