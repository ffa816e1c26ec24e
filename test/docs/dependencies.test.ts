/** What may be installed, held to the lock file: versions that have the fixes we lean on, and no code that runs at installation. */
import { expect, test } from 'vitest';
import { readDocument } from '../support/markdown.ts';

interface Lock {
  packages: Record<string, { version?: string; hasInstallScript?: boolean; resolved?: string; integrity?: string; link?: boolean }>;
}

const lock = JSON.parse(readDocument('package-lock.json')) as Lock;
const { allowScripts } = JSON.parse(readDocument('package.json')) as { allowScripts: Record<string, boolean> };
/** Whatever comes from a registry: neither this package nor its workspace, which is linked. */
const installed = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

test.each([
  ['fastify', 5, 12, 2],
  ['kysely', 0, 28, 17],
])('%s has the fixes of %i.%i.%i (rules 74 and 90)', (name, ...least) => {
  const versions = installed.filter(([path]) => nameOf(path) === name).map(([, { version }]) => version ?? '');
  expect(versions).not.toEqual([]);
  for (const version of versions) {
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
    const [wantedMajor, wantedMinor, wantedPatch] = least;
    expect(major * 1e6 + minor * 1e3 + patch, version).toBeGreaterThanOrEqual(wantedMajor * 1e6 + wantedMinor * 1e3 + wantedPatch);
  }
});

test('every package is locked with its hash, and one that wants to run at installation has been decided on (rule 93)', () => {
  for (const [path, { integrity }] of installed) expect(integrity, path).toMatch(/^sha512-/);
  const wanting = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
  expect(wanting.filter((name) => !(name in allowScripts))).toEqual([]);
  expect(readDocument('.npmrc')).toContain('strict-allow-scripts=true');
});

test('nothing adapts the middleware of Express, whose paths are not ours (rule 93)', () => {
  const names = installed.map(([path]) => nameOf(path));
  expect(names.filter((name) => ['@fastify/express', '@fastify/middie', 'middie', 'express'].includes(name))).toEqual([]);
});
