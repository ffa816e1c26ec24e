/** Runs a program to its end. */
import { spawn } from 'node:child_process';

export interface RunOptions {
  cwd: string;
  env: Record<string, string>;
  uid?: number;
  gid?: number;
}

/**
 * Returns what the program has written to its standard error. When `signal` fires, the program gets SIGTERM, and the promise is still pending until it has ended.
 *
 * @throws Error with one line for a person when the program fails.
 */
export async function runToEnd(
  program: string,
  args: string[],
  options: RunOptions,
  { input = '', signal }: { input?: string; signal?: AbortSignal | undefined } = {},
): Promise<string> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const terminate = () => void child.kill();
  signal?.addEventListener('abort', terminate, { once: true });
  child.on('error', reject);
  child.on('close', (code, signalName) => {
    signal?.removeEventListener('abort', terminate);
    if (signal?.aborted) return reject(signal.reason as Error);
    if (code === 0) return resolve(complaint);
    const lines = complaint.split('\n').filter((line) => /error|fatal|panic|hint/i.test(line));
    reject(new Error(lines.join(' ').trim() || `${program} ended with ${code ?? signalName}: ${complaint.trim()}`));
  });
  child.stdin.on('error', () => {}); // a program that ends before it has read everything says why on stderr
  child.stdin.end(input);
  return promise;
}
