import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = (...options: string[]) => promisify(execFile)(process.execPath, ['scripts/fuzz/main.ts', ...options]);

test('--help prints the options', async () => {
  const { stdout, stderr } = await run('--help');
  expect(stdout).toContain('--cases N');
  expect(stdout).toContain('--seed N');
  expect(stderr).toBe('');
});

test.each([
  [['--cases', '1999'], '--cases must be a whole number of at least 2000'],
  [['--cases', 'many'], '--cases must be a whole number of at least 2000'],
  [['--seed', '0'], '--seed must be a whole number above 0'],
  [['--sed', '1'], "Unknown option '--sed'"],
])('%j is refused with the reason and the usage, and nothing is sent', async (options, reason) => {
  const refused = await run(...options).catch((error: { code: number; stdout: string; stderr: string }) => error);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain(reason);
  expect(refused.stderr).toContain('npm run fuzz -- [options]');
});
