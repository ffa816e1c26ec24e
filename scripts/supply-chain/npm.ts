/** Runs npm in the project's directory. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const project = join(import.meta.dirname, '../..');

/** Standard output, whatever the exit status: npm prints JSON for failures too. npm's messages on standard error are dropped. */
export async function npmOutput(...options: string[]): Promise<string> {
  const child = spawn('npm', options, { cwd: project, stdio: ['ignore', 'pipe', 'ignore'] });
  const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
  return Promise.race([text(child.stdout), failed]);
}
