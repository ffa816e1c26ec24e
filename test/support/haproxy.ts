/** Debian's HAProxy. Without it, tests that need it are skipped with the reason. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitForPort } from './open-port.ts';

const program = process.env['HAPROXY'] ?? '/usr/sbin/haproxy';

/**
 * Why there is no HAProxy; undefined when there is one.
 * @throws Error if there is none and HAPROXY_REQUIRED is set.
 */
export function whyNoHaproxy(): string | undefined {
  if (existsSync(program)) return undefined;
  const reason = `no HAProxy at ${program}: run "apt-get install haproxy", or set HAPROXY to its path`;
  if (process.env['HAPROXY_REQUIRED']) throw new Error(reason);
  return reason;
}

/** What HAProxy finds wrong with the file: its status and output. */
export const checkHaproxy = (file: string) => spawnSync(program, ['-c', '-q', '-f', file], { encoding: 'utf8' });

/** Runs HAProxy with `configuration`, which listens on `port` of 127.0.0.1, until the returned function is called. */
export async function runHaproxy(port: number, configuration: string): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  await writeFile(file, configuration);
  const haproxy = spawn(program, ['-db', '-q', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(haproxy, 'exit');
  const stop = async () => {
    haproxy.kill('SIGTERM');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  await waitForPort(port, haproxy);
  return stop;
}
