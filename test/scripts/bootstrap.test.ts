/** The start of Node.js: the settings of `npm start`, and those that `npm run start:lean` adds. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Admission } from '../../src/admission/admission.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { readDocument } from '../support/markdown.ts';

const project = join(import.meta.dirname, '../..');
const directory = join(project, 'node_modules/.cache/node');

/** Runs a command in the project. Its environment has only `settings` and the path to this Node.js. */
function run(command: string, args: string[], settings: Record<string, string> = {}) {
  const env = { PATH: `${join(process.execPath, '..')}:${process.env['PATH']}`, ...settings };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: project, encoding: 'utf8', env });
  return { status, stdout: stdout.trim(), stderr };
}

function bootstrapped(script: string, settings?: Record<string, string>): string {
  const { status, stdout, stderr } = run(process.execPath, ['-r', './scripts/bootstrap.cjs', '-e', script], settings);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const countThreads = `
  const { readdirSync, readFileSync } = require('node:fs');
  require('node:crypto').randomBytes(8, () => {
    const names = readdirSync('/proc/self/task').map((task) => readFileSync('/proc/self/task/' + task + '/comm', 'utf8'));
    console.log(names.filter((name) => name.startsWith('libuv-worker')).length);
  });`;

test('npm start replaces the shell by Node.js, so that signals reach it, with the bootstrap as its only option', () => {
  expect(packageJson.scripts.start).toBe('exec node -r ./scripts/bootstrap.cjs src/main.ts');
});

test('an old Node.js is reported in one line', () => {
  const script = `Object.defineProperty(process.versions, 'node', { value: '22.9.0' }); require('./scripts/bootstrap.cjs')`;
  const { status, stderr } = run(process.execPath, ['-e', script]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^entity-service: this is Node\.js 22\.9\.0, and 24\.18 or later is needed: .*\n$/);
  expect(packageJson.engines.node).toBe('>=24.18 <25');
});

test.runIf(process.platform === 'linux')(
  'the thread pool has four threads more than hash passwords, or the number in UV_THREADPOOL_SIZE (rule 38)',
  () => {
    expect(bootstrapped(countThreads)).toBe(String(new Admission().queueOf('hashing').limit + 4));
    expect(bootstrapped(countThreads, { UV_THREADPOOL_SIZE: '5' })).toBe('5');
  },
);

test('compiled code is stored in node_modules, or in NODE_COMPILE_CACHE', () => {
  const script = `console.log(require('node:module').getCompileCacheDir())`;
  expect(bootstrapped(script).startsWith(directory)).toBe(true);
  const other = join(directory, 'other');
  expect(bootstrapped(script, { NODE_COMPILE_CACHE: other }).startsWith(other)).toBe(true);
});

test('npm run start:lean is npm start with options and variables that take effect, each with its reason', () => {
  const lean = packageJson.scripts['start:lean'];
  expect(lean).toBe(packageJson.scripts.start.replace('node', 'sh scripts/lean-node.sh'));
  const file = readDocument('scripts/lean-node.sh');
  const settings = [...file.matchAll(/^(.*)\n(?:export (\w+)=|options="\$options (\S+)")/gm)];
  expect(settings).toHaveLength(7);
  for (const [, reason] of settings) expect(reason).toMatch(/^# .+\.$/);
  const options = settings.flatMap(([, , , option]) => option ?? []);
  const script = `console.log(JSON.stringify([process.execArgv, process.env.MALLOC_ARENA_MAX]))`;
  const { status, stdout } = run('sh', ['scripts/lean-node.sh', '-e', script]);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual([[...options, '-e', script], '2']);
});
