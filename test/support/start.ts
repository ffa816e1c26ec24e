/** The service as an operator starts it: `npm start` in a process group of its own, as in a terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { ClientOptions, EntityServiceClient } from '../../src/client/index.ts';
import { fixedPort } from './fixed-port.ts';
import { checkedFetch } from './checked-fetch.ts';
import { clientOf } from './client.ts';
import { found } from './contract.ts';

export const project = join(import.meta.dirname, '../..');
const readyLine = 'Press Ctrl-C to stop.';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** From the first signal until the end. */
  milliseconds: number;
}

export interface Started {
  /** The process id of npm, whose child the service is. */
  pid: number;
  url: string;
  port: number;
  /** The text for people so far. */
  told(): string;
  /** The log so far, one JSON object a line. */
  log(): Record<string, unknown>[];
  /** Resolves once the service reports that it is ready. Rejects with its output if it ends before. */
  ready: Promise<void>;
  /** Signals the whole process group, as Ctrl-C does. */
  signal(name: NodeJS.Signals): void;
  /** Signals npm alone, as a supervisor does. */
  signalParent(name: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export interface StartOptions {
  uid?: number;
  gid?: number;
  /** Defaults to any free port, which PUBLIC_URL then contains. */
  port?: number;
  /** Defaults to the project's directory. */
  cwd?: string;
  /** Defaults to `npm start`. */
  command?: readonly string[];
}

/** Runs `npm start`, or another command, with only these settings. Kills the remaining processes when the test is over. */
export async function npmStart(
  settings: Record<string, string>,
  { port: given, cwd = project, command: [program = 'npm', ...words] = ['npm', 'start'], ...identity }: StartOptions = {},
): Promise<Started> {
  const port = given ?? (await fixedPort());
  const child = spawn(program, words, {
    cwd,
    env: loginEnvironment({ PORT: String(port), ...settings }),
    detached: true,
    ...identity,
  });
  const output = { stdout: '', stderr: '' };
  let signalled = 0;
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  ready.catch(() => {}); // only some tests wait for it
  child.stdout.on('data', (data: Buffer) => (output.stdout += data.toString()));
  child.stderr.on('data', (data: Buffer) => {
    output.stderr += data.toString();
    if (output.stderr.includes(readyLine)) resolve();
  });
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    reject(new Error(`it ended before it was ready: ${output.stderr}`));
    return { code, signal, milliseconds: performance.now() - signalled };
  });
  const send = (pid: number, name: NodeJS.Signals) => {
    signalled ||= performance.now();
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} cannot be run`);
  onTestFinished(() => {
    send(-pid, 'SIGKILL');
    expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
  });
  return {
    pid,
    url: `http://localhost:${port}`,
    port,
    told: () => output.stderr,
    log: () =>
      output.stdout
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    ready,
    signal: (name) => send(-pid, name),
    signalParent: (name) => send(pid, name),
    ended,
  };
}

/** Only the variables of a login shell: neither the suite's settings nor its Node.js. */
export function loginEnvironment(settings: Record<string, string> = {}): Record<string, string> {
  const path = (process.env['PATH'] ?? '').split(':').filter((entry) => !entry.endsWith('node_modules/.bin'));
  return { PATH: path.join(':'), HOME: process.env['HOME'] ?? '/', ...settings };
}

async function children(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/** The process of the service, which is the primary of its workers. */
export async function primaryOf({ pid }: Started): Promise<number> {
  const [primary] = await children(pid);
  if (primary === undefined) throw new Error('npm has not started the service yet, or it has ended');
  return primary;
}

/** The workers, in the order of their start. */
export async function workersOf(service: Started): Promise<number[]> {
  const pids = await children(await primaryOf(service));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')));
  // An embedded PostgreSQL is a child too.
  return pids.filter((_, index) => commands[index]?.includes('main.ts'));
}

const stopLimitMilliseconds = 10_000;

/** A client of the service with a session. Its answers are checked against openapi.yaml. */
export async function signIn(
  service: Started,
  user: string,
  password: string,
  options: Pick<ClientOptions, 'retry'> = {},
): Promise<EntityServiceClient> {
  const client = clientOf(service, { fetch: checkedFetch, ...options });
  await client.createSession({ user, password });
  return client;
}

/** The generated credentials, as a person reads them. */
export function credentialsIn(told: string): { user: string; password: string } | undefined {
  const [, user, password] = /^\s+user\s+(\S+)\n\s+password\s+(\S+)$/m.exec(told) ?? [];
  return user && password ? { user, password } : undefined;
}

export async function expectStopped(service: Started): Promise<void> {
  const { milliseconds, ...how } = await service.ended;
  expect(how, service.told()).toEqual({ code: 0, signal: null });
  expect(milliseconds).toBeLessThan(stopLimitMilliseconds);
}

/** The lines after the one that says that the service cannot start. */
export function reasonsIn(told: string): string[] {
  const lines = told.split('\n').filter((line) => line.startsWith('entity-service: '));
  expect(lines.shift()).toBe('entity-service: the service cannot start:');
  return lines.map((line) => line.slice('entity-service: '.length));
}
