/**
 * Makes the package `entity-service` in `dist` (`--out` names another directory) and packs it: the compiled service, what it reads, and the
 * command. Node.js runs no TypeScript below `node_modules`, so the package has JavaScript.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readOptions } from '../lib/options.ts';
import { listFiles } from '../lib/repository.ts';

const project = join(import.meta.dirname, '../..');
const usage = `npm run package -- [options]

  --out PATH  the directory of the package (dist)
  --help      print this
`;

const { values } = readOptions('package', usage, { out: { type: 'string', default: join(project, 'dist') } });

/** What the service reads at run time besides its modules, and what people read. */
const copied = [
  'bin/entity-service.cjs',
  'scripts/bootstrap.cjs',
  'scripts/node-version.cjs',
  'openapi.yaml',
  'generated/openapi.json',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'src/client/README.md',
  ...listFiles('package', 'docs').filter((path) => !path.startsWith(join('docs', 'released'))),
  ...listFiles('package', 'deploy'),
  ...globSync('src/**/*.{sql,css,txt}', { cwd: project }),
];

/** Runs a program to its end, with its output on standard error. Throws if it fails. */
function run(command: string, args: string[], cwd = project): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw error ?? new Error(`${command} ended with status ${status}`);
}

const readJson = (path: string) => JSON.parse(readFileSync(join(project, path), 'utf8')) as Record<string, unknown>;

/**
 * The manifest of the package: without what only the repository needs. Its dependencies are also those of its dependencies, each in the version of the lock
 * file: npm reads no lock file of a package that it installs (decision 123).
 */
function manifest(): object {
  const { name, version, description, license, type, engines } = readJson('package.json');
  const command = { bin: { 'entity-service': 'bin/entity-service.cjs' } };
  const [optionalDependencies, dependencies] = [true, false].map(lockedPackages);
  return { name, version, description, license, type, ...command, engines, dependencies, optionalDependencies };
}

interface Locked {
  version: string;
  dev?: boolean;
  link?: boolean;
  optional?: boolean;
}

/** The versions of the packages of the service, those that are optional or the others. A second version of a package is left out. */
function lockedPackages(isOptional: boolean): Record<string, string> {
  const { packages } = readJson('package-lock.json') as { packages: Record<string, Locked> };
  const versions = Object.entries(packages).flatMap(([path, { version, dev, link, optional = false }]) => {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    return name === undefined || dev || link || optional !== isOptional ? [] : [[name, version] as const];
  });
  return Object.fromEntries(versions);
}

/** The lock file without the packages of development, for `npm ci` in the container. */
function shrinkwrap(): object {
  const { packages, ...lock } = readJson('package-lock.json') as { packages: Record<string, Locked> };
  const kept = Object.entries(packages).filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link);
  return { ...lock, packages: { '': manifest(), ...Object.fromEntries(kept) } };
}

/** Makes plain text of the links of a document that lead to files which the package does not have, such as tests. */
function unlinkAbsent(out: string, path: string): void {
  const text = readFileSync(join(out, path), 'utf8');
  const linked = text.replaceAll(/\[([^\]]*)\]\((?!https?:)([^)#\s]+)(?:#[^)\s]*)?\)/g, (link: string, label: string, target: string) =>
    existsSync(join(out, dirname(path), target)) ? link : label,
  );
  writeFileSync(join(out, path), linked);
}

function build(out: string): void {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  run(process.execPath, [join(project, 'node_modules/typescript/bin/tsc'), '-p', 'scripts/package', '--outDir', out]);
  for (const path of copied) {
    mkdirSync(join(out, dirname(path)), { recursive: true });
    cpSync(join(project, path), join(out, path));
  }
  for (const path of copied.filter((each) => each.endsWith('.md'))) unlinkAbsent(out, path);
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest(), undefined, 2)}\n`);
  writeFileSync(join(out, 'npm-shrinkwrap.json'), `${JSON.stringify(shrinkwrap(), undefined, 2)}\n`);
}

const out = resolve(values.out);
build(out);
const { status, stdout } = spawnSync('npm', ['pack', '--silent'], { cwd: out, stdio: ['ignore', 'pipe', 2], encoding: 'utf8' });
if (status !== 0) throw new Error(`npm pack ended with status ${status}`);
process.stdout.write(`${join(out, stdout.trim())}\n`);
