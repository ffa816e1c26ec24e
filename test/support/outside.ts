/** Runs scripts and commands of the repository as if it were no git repository, and without a database. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const project = join(import.meta.dirname, '../..');

/** The command of the package, alone and with each of its words. */
export const commandWords = [['bin/entity-service.cjs'], ['bin/entity-service.cjs', 'start'], ['bin/entity-service.cjs', 'admin']];

/** Runs a file with words. */
export async function runOutside(...words: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const env = { ...process.env, GIT_DIR: join(project, 'no-repository'), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  const child = spawn(process.execPath, words, { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { status, stdout, stderr };
}
