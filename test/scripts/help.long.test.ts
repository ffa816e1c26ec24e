/** Each script and command prints its options, and refuses an unknown one, without a database and outside of a git repository. */
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { commandWords, runOutside } from '../support/outside.ts';

const scripts = [...new Set(Object.values(packageJson.scripts).flatMap((text) => text.match(/\b(?:scripts|src)\/[\w/-]+\.ts\b/g) ?? []))];
const bench = ['lists', 'bulk', 'types'].map((kind) => ['scripts/bench/main.ts', kind]);

test('the scripts of package.json are found', () => {
  expect(scripts).toEqual(
    expect.arrayContaining(['src/main.ts', 'src/cli/main.ts', 'scripts/generate/main.ts', 'scripts/package/main.ts']),
  );
  expect(scripts.length).toBeGreaterThan(15);
});

test.each([...scripts.map((script) => [script]), ...bench, ...commandWords].map((words) => [words.join(' '), words] as const))(
  '%s --help ends with status 0, and --no-such-option with status 2 and the option',
  async (_name, words) => {
    const help = await runOutside(...words, '--help');
    expect(help, help.stderr).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('--help') });
    const unknown = await runOutside(...words, '--no-such-option');
    expect(unknown, unknown.stdout).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('--no-such-option') });
    expect(unknown.stderr).not.toMatch(/^ {4}at /m);
  },
);
