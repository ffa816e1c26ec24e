/** Installs the peers, which are no dependencies of the project, from the npm registry into the user's cache. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from './command.ts';

/** What of the registry a peer is. */
export interface Package {
  /** For a person. */
  title: string;
  name: string;
  /** Pinned, so that figures can be repeated. */
  version: string;
  /** Other versions of what it depends on than it asks for. */
  overrides?: Record<string, string>;
}

/** Where they are kept from one run to the next. */
export function cacheDirectory(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'entity-service', 'peers');
}

/**
 * Returns the directory whose node_modules has the package, installing it if it is not there. No script of any package is run. Rejects
 * with what npm says when it fails, and leaves nothing then.
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
