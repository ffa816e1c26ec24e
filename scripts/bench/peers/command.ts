/** Runs commands that end: a package manager, a peer's own installation. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ending } from '../../lib/processes.ts';

const writtenCharacters = 4_000;

/** Runs `command` to its end. When it fails, rejects with the end of its output. It is killed when `opened` is disposed of. */
export async function run(
  command: string,
  args: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
  opened: AsyncDisposableStack,
): Promise<void> {
  if (opened.disposed) throw new Error('everything is being stopped');
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  opened.defer(ending(child, 'SIGKILL'));
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (written = (written + text).slice(-writtenCharacters)));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(written.trim() || `${command} ended with ${code}`);
}
