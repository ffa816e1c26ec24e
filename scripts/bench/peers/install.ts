/** Installs the peers from the npm registry into the user's cache; they are not dependencies of the project. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from './command.ts';

/** A peer's package in the registry. */
export interface Package {
  /** The name for people. */
  title: string;
  name: string;
  /** Pinned, so that measurements can be repeated. */
  version: string;
  /** Versions of dependencies that differ from those the package requires. */
  overrides?: Record<string, string>;
}

/** The cache directory between runs. */
function cacheDirectory(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'entity-service', 'peers');
}

/**
 * Returns the directory whose node_modules has the package, and installs it if it is missing. No package script is run. On failure rejects
 * with npm's message, and leaves nothing behind.
 */
export async function installation(wanted: Package, note: (text: string) => void, opened: AsyncDisposableStack): Promise<string> {
  const { title, name, version, overrides = {} } = wanted;
  const cache = cacheDirectory();
  const directory = join(cache, `${name}-${version}`);
  if (existsSync(directory)) return directory;
  note(`installing ${title} ${version} into ${directory}`);
  await mkdir(cache, { recursive: true });
  const making = await mkdtemp(join(cache, '.installing-'));
  opened.defer(() => rm(making, { recursive: true, force: true, maxRetries: 5 }));
  const manifest = { private: true, dependencies: { [name]: version }, overrides };
  await writeFile(join(making, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--prefix', making, '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  try {
    await run('npm', args, { cwd: making, env: process.env }, opened);
  } catch (error) {
    throw new Error(`${title} ${version} could not be installed:\n${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  await rename(making, directory);
  return directory;
}
