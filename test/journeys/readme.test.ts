import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { runDocument, stepsOf } from '../support/document-runner.ts';
import { readDocument } from '../support/markdown.ts';

vi.setConfig({ testTimeout: 120_000 });

const readme = readDocument('README.md');

test('the commands of README.md and its program, run one after the other, answer and print what stands there', async () => {
  expect(stepsOf(readme).length).toBeGreaterThan(3);
  const { cwd, asRun } = await runDocument(readme);

  const [, program = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];
  const [, printed = ''] = /console\.log\(.*\); \/\/ (.*)$/m.exec(program) ?? [];
  // The client is the one of this project, without the packaging that test/client/package.test.ts tries.
  await writeFile(join(cwd, 'program.ts'), asRun(program).replace("'entity-service-client'", "'./src/client/index.ts'"));
  const { stdout } = await promisify(execFile)(process.execPath, ['program.ts'], { cwd });
  expect(stdout.trim()).toBe(printed);
  expect(printed).not.toBe('');
});

test('README.md is short: about a hundred lines', () => {
  expect(readme.split('\n').length).toBeLessThan(115);
});
