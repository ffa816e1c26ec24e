/** The service as an operator starts it: the real `npm start` in a process group of its own, as a terminal would give it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { freePort } from '../../src/database/embedded/launch.ts';

const project = join(import.meta.dirname, '../..');
const readyLine = 'Press Ctrl-C to stop.';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** From the first signal that was sent until the end. */
  milliseconds: number;
}

export interface Started {
  /** Of npm, whose child the service is. */
  pid: number;
  url: string;
  port: number;
  /** What was written for people, so far. */
  told(): string;
  /** The log so far, a JSON object a line. */
  log(): Record<string, unknown>[];
  /** Resolves once it says that it is ready; rejects with what it told when it ends before. */
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
  /** Defaults to any free one, which is also where PUBLIC_URL then points to. */
  port?: number;
  /** Defaults to the project. */
  cwd?: string;
}

/** Runs `npm start` with nothing but these settings; kills what is left of it when the test is over. */
export async function npmStart(
  settings: Record<string, string>,
  { port: given, cwd = project, ...identity }: StartOptions = {},
): Promise<Started> {
  const port = given ?? (await freePort());
  const child = spawn('npm', ['start'], {
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
  if (pid === undefined) throw new Error('npm cannot be run');
  onTestFinished(() => send(-pid, 'SIGKILL'));
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

/** Only what a login shell would have, so that neither the suite's settings nor its Node.js help. */
export function loginEnvironment(settings: Record<string, string> = {}): Record<string, string> {
  const path = (process.env['PATH'] ?? '').split(':').filter((entry) => !entry.endsWith('node_modules/.bin'));
  return { PATH: path.join(':'), HOME: process.env['HOME'] ?? '/', ...settings };
}

const stopLimitMilliseconds = 10_000;

export async function signIn({ url }: Started, user: string, password: string): Promise<string> {
  const answer = await fetch(`${url}/auth`, { method: 'POST', body: new URLSearchParams({ user, password }) });
  expect(answer.status, await answer.text()).toBe(200);
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

export async function create({ url }: Started, cookie: string, fields: object): Promise<string> {
  const answer = await fetch(`${url}/rest/entity/note`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { key: string }).key;
}

export async function read({ url }: Started, cookie: string, key: string): Promise<unknown> {
  const answer = await fetch(`${url}/rest/entity/note/${key}`, { headers: { cookie } });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { fields: unknown }).fields;
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
