/**
 * The package as it would be published: packed, installed without a network, compiled against, and run with all Node versions on this
 * machine.
 */
import { useService } from '../support/service.ts';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import packageJson from '../../src/client/package.json' with { type: 'json' };
import { document } from '../support/operations.ts';
import { declareType } from '../support/entities.ts';
import { readDocument } from '../support/markdown.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');
const service = useService();
let directory = '';
let packed: string[] = [];

/** The examples of the package's README as one program. */
const examples = [...readDocument('src/client/README.md').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code).join('\n');
/** The expected output of the examples, line by line. */
const promised = [...examples.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line = '']) => line);

beforeAll(async () => {
  await declareType(service(), 'customer', { type: 'object' });
  await declareType(service(), 'order', {
    type: 'object',
    properties: { customer: { type: 'string', format: 'int64' } },
    'x-references': { customer: { to: 'customer' } },
  });
  directory = await mkdtemp(join(tmpdir(), 'entity-service-package-'));
  const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', directory], {
    cwd: join(project, 'src/client'),
  });
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string; files: { path: string }[] }];
  packed = files.map(({ path }) => path);
  await writeFile(join(directory, 'package.json'), '{"name":"consumer","private":true,"type":"module"}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: directory });
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Runs the command of the README, with the address and a key of this service, for the type of the documents. */
async function writeTypes(apiKey: string): Promise<void> {
  await declareType(service(), 'invoice', parse(readDocument('docs/types/invoice.yaml')) as Record<string, unknown>);
  const [, command = ''] = /^npx --no (entity-service-client types .*)$/m.exec(readDocument('src/client/README.md')) ?? [];
  const env = { ...process.env, ENTITY_SERVICE_API_KEY: apiKey };
  const [name = '', ...options] = command.replace('http://localhost:3000', service().url).split(' ');
  const bin = join(directory, 'node_modules/.bin', name);
  await rm(join(directory, 'entity-types.ts'), { force: true });
  const wrote = await run(bin, options, { cwd: directory, env });
  expect(wrote).toEqual({ stdout: '', stderr: 'wrote entity-types.ts\n' });
  expect(await run(bin, [...options, '--check'], { cwd: directory, env })).toEqual({ stdout: '', stderr: '' });
}

/** The examples with this service's URL and key, compiled strictly against the installed types. */
async function compile(): Promise<string> {
  const { id } =
    (await service().db.selectFrom('user_account').where('name', '=', 'ada').select('id').executeTakeFirst()) ??
    (await service().createUser('ada'));
  const apiKey = await service().createKey(id);
  await writeTypes(apiKey);
  const program = examples.replaceAll('http://localhost:3000', service().url).replaceAll(/esk_\w+/g, apiKey);
  await writeFile(join(directory, 'program.ts'), program);
  const options = {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
  };
  await writeFile(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...options, skipLibCheck: false }, files: ['program.ts'] }),
  );
  const { stdout } = await run(join(project, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: directory }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
  return join(directory, 'program.js');
}

/** This Node, the machine's own, and Deno and Bun where they are installed, each with the way to run a program. */
function runtimes(): [name: string, path: string, options: string[]][] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes(join('node_modules', '.bin')));
  const others = ['node', 'deno', 'bun'].flatMap((name): [string, string, string[]][] => {
    const path = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
    return path === undefined ? [] : [[`the ${name} of this machine`, path, name === 'deno' ? ['run', '--allow-net'] : []]];
  });
  return [['Node 24', process.execPath, []], ...others];
}

test('has its required files and no others, and no dependency', () => {
  const modules = ['src/client', 'src/client/cli', 'generated/client'].flatMap((folder) =>
    readdirSync(join(project, folder))
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.slice(0, -3)}`),
  );
  const built = modules.flatMap((module) => [
    `dist/${module}.js`,
    `dist/${module}.js.map`,
    `dist/${module}.d.ts`,
    `dist/sources/${module}.ts`,
  ]);
  expect(packed.toSorted()).toEqual([...built, 'LICENSE', 'README.md', 'package.json'].toSorted());
  expect(packageJson).not.toHaveProperty('dependencies');
  expect(readdirSync(join(directory, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['entity-service-client']);
});

test('has the licence of the project', async () => {
  const installed = join(directory, 'node_modules/entity-service-client');
  expect(await readFile(join(installed, 'LICENSE'), 'utf8')).toBe(readDocument('LICENSE'));
  expect(packageJson.license).toBe('Apache-2.0');
});

test('has the version of its contract', () => {
  expect(packageJson.version).toBe((document as unknown as { info: { version: string } }).info.version);
});

test('contains its sources for debuggers: each source map leads to a file of the package', async () => {
  const installed = join(directory, 'node_modules/entity-service-client');
  const maps = packed.filter((file) => file.endsWith('.map'));
  expect(maps.length).toBeGreaterThan(10);
  for (const file of maps) {
    const map = JSON.parse(await readFile(join(installed, file), 'utf8')) as {
      sourceRoot: string;
      sources: string[];
      sourcesContent: string[];
    };
    expect(map.sources, file).toHaveLength(1);
    const source = join(dirname(file), map.sourceRoot, map.sources[0] ?? '');
    expect(packed, file).toContain(source);
    expect(map.sourcesContent, file).toEqual([await readFile(join(installed, source), 'utf8')]);
  }
});

test('contains what its README links to', () => {
  const links = [...readDocument('src/client/README.md').matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => target);
  expect(links).not.toEqual([]);
  expect(links.filter((target) => !target.startsWith('#') && !packed.includes(target))).toEqual([]);
});

describe('its command', () => {
  const call = (options: string[], env: Record<string, string> = {}) =>
    run(join(directory, 'node_modules/.bin/entity-service-client'), options, {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', ...env },
    }).catch(({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }));

  test.each([
    [[], 2, 'give a command: types'],
    [['typos'], 2, 'there is no command typos; there is types'],
    [['types', '--url'], 2, "'--url <value>' argument missing"],
    [['types', '--nonsense'], 2, "Unknown option '--nonsense'"],
    [['types', '--url', 'http://localhost:1', '--api-key', 'esk_x'], 2, 'Secrets come from the environment or a prompt'],
    [['types', '--url', 'http://localhost:1', '--user', 'ada'], 2, 'no terminal to ask for a secret'],
    [['types', '--url', 'http://127.0.0.1:1'], 1, 'No answer from the service'],
  ])('%j ends with the status %i and says why', async (options, status, message) => {
    const env = options.includes('--user') ? {} : { ENTITY_SERVICE_API_KEY: 'esk_nonsense' };
    expect(await call(options, env)).toMatchObject({ code: status, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('explains itself, and what the service refuses', async () => {
    expect(await call(['--help'])).toMatchObject({ stdout: expect.stringContaining('--out FILE'), stderr: '' });
    const refused = await call(['types', '--url', service().url], { ENTITY_SERVICE_API_KEY: 'esk_nonsense' });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The service refused: .*\(401 \w+(-\w+)*\)\n$/) });
  });
});

describe('the examples of its README', () => {
  test.each(runtimes())('compile, and print the documented output with %s', async (_name, path, options) => {
    const { stdout, stderr } = await run(path, [...options, await compile()], { cwd: directory });
    expect(stderr).toBe('');
    expect(promised.length).toBeGreaterThan(10);
    expect(stdout.trimEnd().split('\n')).toEqual(promised);
  });
});
