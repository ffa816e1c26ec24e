/** `npm run test:mutants` in a tiny project: it separates the mistakes that a test notices from the others. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { findMutations } from '../../scripts/mutants/mutations.ts';
import { nearestTests, recordReach } from '../../scripts/mutants/reach.ts';
import { applyMutation } from '../../scripts/mutants/select.ts';
import { runTests } from '../../scripts/mutants/tests.ts';

/** A project with one limit, whose tests check one side only. */
function tinyProject(): string {
  const directory = mkdtempSync(join(tmpdir(), 'mutants-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const files = {
    'package.json': '{ "type": "module" }',
    'vitest.config.ts': `export default { test: { include: ['test/**/*.test.ts'] } };`,
    'src/limits/limit.ts': 'export function isShort(text: string): boolean {\n  return text.length < 10;\n}\n',
    'src/limits/other.ts': 'export function other(): number {\n  return 1;\n}\n',
    'test/limits/limit.test.ts': `import { expect, test } from 'vitest';
      import { isShort } from '../../src/limits/limit.ts';
      test('nine signs are short', () => expect(isShort('123456789')).toBe(true));`,
    'test/limits/other.test.ts': `import { expect, test } from 'vitest';
      import { other } from '../../src/limits/other.ts';
      test('other', () => expect(other()).toBe(1));`,
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(directory, file, '..'), { recursive: true });
    writeFileSync(join(directory, file), text);
  }
  cpSync('scripts/mutants', join(directory, 'scripts/mutants'), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

test(
  'the tests that reach a mistake are run, fail on a noticed mistake, pass otherwise, and the sources are restored',
  { timeout: 120_000 },
  async () => {
    const directory = tinyProject();
    const file = 'src/limits/limit.ts';
    const path = join(directory, file);
    const text = readFileSync(path, 'utf8');
    const options = { directory, timeoutMs: 60_000, env: {} };

    const reach = await recordReach(join(directory, 'reach.json'), options, () => undefined);
    expect(readFileSync(path, 'utf8')).toBe(text);
    const outcomes: Record<string, unknown> = {};
    for (const mutation of findMutations(file, text)) {
      const { near, further } = nearestTests(mutation, text, reach, 60_000);
      expect([near, further]).toEqual([['test/limits/limit.test.ts'], []]);
      writeFileSync(path, applyMutation(text, mutation));
      const { status, failure } = await runTests(near, options);
      outcomes[mutation.replacement] = failure ?? status;
    }
    expect(outcomes).toEqual({ '<=': 'passed', 11: 'passed' });

    writeFileSync(path, text.replace('<', '>'));
    expect(await runTests(['test/limits/limit.test.ts'], options)).toMatchObject({
      status: 'failed',
      failure: 'test/limits/limit.test.ts: nine signs are short',
    });
    writeFileSync(path, text.replace('return', 'for (;;);\n return'));
    // A busy machine may reach the limit on the clock before the one of the processor time.
    const { status } = await runTests(['test/limits/limit.test.ts'], { ...options, timeoutMs: 5_000 });
    expect(status).not.toBe('passed');

    const endless = `import { expect, test } from 'vitest';
      test('waits', { timeout: 50 }, () => new Promise(() => undefined));
      test('polls', () => expect.poll(() => 1, { timeout: 50 }).toBe(2));`;
    writeFileSync(join(directory, 'test/limits/endless.test.ts'), endless);
    for (const name of ['waits', 'polls'])
      expect(await runTests(['test/limits/endless.test.ts', `--testNamePattern=${name}`], options)).toMatchObject({
        status: 'timed out',
        failure: `test/limits/endless.test.ts: ${name}`,
      });
  },
);

test.each([
  [['--count', '0'], '--count must be a whole number above 0'],
  [['--only', 'test'], '--only test: must be below src/'],
  [['--sed', '1'], "Unknown option '--sed'"],
])('%j is refused with the reason and the usage, and no mistake is made', async (options, reason) => {
  const run = promisify(execFile)(process.execPath, ['scripts/mutants/main.ts', ...options]);
  const refused = await run.catch((error: { code: number; stdout: string; stderr: string }) => error);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain(reason);
  expect(refused.stderr).toContain('npm run test:mutants');
});
