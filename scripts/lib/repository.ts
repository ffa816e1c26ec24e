/** The files of the git repository: others may have secrets, as `deploy/.env` of Docker Compose has. */
import { execFileSync } from 'node:child_process';
import { join, normalize } from 'node:path';

const project = join(import.meta.dirname, '../..');

/** The paths that `git ls-files` lists with these arguments. Ends the process called `name` with status 1 where there is no repository, or no git. */
export function listFiles(name: string, ...args: string[]): string[] {
  try {
    const files = execFileSync('git', ['ls-files', '-z', ...args], { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return files.split('\0').filter(Boolean).map(normalize);
  } catch (error) {
    const written = error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : '';
    const reason = written || String(error);
    process.stderr.write(`${name}: this needs git, and ${project} as a git repository, to know which files belong to it: ${reason}\n`);
    process.exit(1);
  }
}
