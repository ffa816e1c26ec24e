/** Runs a program to its end. */
import { spawn } from 'node:child_process';

export interface RunOptions {
  cwd: string;
  env: Record<string, string>;
  uid?: number;
  gid?: number;
}

/** @throws Error with one line for a person when the program fails. */
export async function runToEnd(program: string, args: string[], options: RunOptions, input = ''): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  child.on('error', reject);
  child.on('close', (code, signal) => {
    if (code === 0) return resolve();
    const lines = complaint.split('\n').filter((line) => /error|fatal|panic|hint/i.test(line));
    reject(new Error(lines.join(' ').trim() || `${program} ended with ${code ?? signal}: ${complaint.trim()}`));
  });
  child.stdin.on('error', () => {}); // a program that ends before it has read everything says why on stderr
  child.stdin.end(input);
  return promise;
}
