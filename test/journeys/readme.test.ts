import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { runDocument, stepsOf } from '../support/document-runner.ts';
import { readDocument } from '../support/markdown.ts';

vi.setConfig({ testTimeout: 120_000 });

const readme = readDocument('README.md');

test('the commands of README.md and its program, run one after the other, print the documented answers', async () => {
  expect(stepsOf(readme).length).toBeGreaterThan(3);
  const { cwd, asRun } = await runDocument(readme);

  const [, program = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];
  const [, printed = ''] = /console\.log\(.*\); \/\/ (.*)$/m.exec(program) ?? [];
  // This project's client, without its package, which test/client/package.long.test.ts tests.
  await writeFile(join(cwd, 'program.ts'), asRun(program).replace("'entity-service-client'", "'./src/client/index.ts'"));
  const { stdout } = await promisify(execFile)(process.execPath, ['program.ts'], { cwd });
  expect(stdout.trim()).toBe(printed);
  expect(printed).not.toBe('');
});

test('README.md has about a hundred lines', () => {
  expect(readme.split('\n').length).toBeLessThan(115);
});
