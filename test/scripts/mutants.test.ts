/** `npm run test:mutants`: which mistakes it makes, and that it separates those that a test notices from the others. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { withProbes } from '../../scripts/mutants/functions.ts';
import { findMutations } from '../../scripts/mutants/mutations.ts';
import { nearestTests, recordReach } from '../../scripts/mutants/reach.ts';
import { applyMutation, orderedMutations, showMutation } from '../../scripts/mutants/select.ts';
import { runTests } from '../../scripts/mutants/tests.ts';

/** All texts that one mistake can make of a text. */
const mistakesIn = (text: string) => findMutations('src/a.ts', text).map((mutation) => applyMutation(text, mutation));

describe('a mistake', () => {
  test.each([
    ['moves a boundary', 'a < b;', ['a <= b;']],
    ['inverts a comparison', 'a !== b;', ['a === b;']],
    ['swaps "and" and "or"', 'a && b;', ['a || b;']],
    ['negates a condition', 'if (a) b;', ['if (!(a)) b;']],
    ['removes await and call', 'await settle();', [';', 'settle();']],
    ['removes an early return', 'function f() { if (a) return 1; return b; }', ['if (!(a))', 'if (a) ;', 'return 2;']],
    ['removes a throw', 'throw fault;', [';']],
    ['moves a limit', 'const most = 50;', ['const most = 51;']],
    ['removes a condition of Kysely', "db.where('id', '=', id).select('id');", ["db.select('id');"]],
    ['removes a lock', "db.selectFrom('a').forUpdate();", ["db.selectFrom('a');"]],
    ['removes a lock of SQL', 'sql`select 1 from a for update`;', ['sql`select 1 from a `;']],
    ['removes a condition of SQL', 'sql`delete from a where b\nand c`;', ['sql`delete from a where b\n`;']],
    ['swaps a method', 'a.some(b);', ['a.every(b);']],
    ['removes an anchor', '/^a$/;', ['/a$/;', '/^a/;']],
  ])('%s', (_what, text, wanted) => {
    const made = mistakesIn(text);
    for (const one of wanted) expect(made).toContainEqual(expect.stringContaining(one));
  });

  test('is never made in types, imports and log lines, nor where it would change nothing', () => {
    const text = `import { a } from 'a'; type B = 1 | 2; log.info({ n: 1 }, 'select 1 from a limit 1'); async function f() { return await a(); }`;
    expect(mistakesIn(text)).toEqual([]);
  });

  test('is shown with its line before and after', () => {
    const text = 'const a = 1;\n  return a < 2;\n';
    const mutation = findMutations('src/a.ts', text).find(({ kind }) => kind === 'operator');
    expect(mutation && showMutation(text, mutation)).toEqual({
      file: 'src/a.ts',
      line: 2,
      kind: 'operator',
      before: 'return a < 2;',
      after: 'return a <= 2;',
    });
  });

  test('has a place in an order that the seed determines', () => {
    const order = (seed: number) =>
      orderedMutations(process.cwd(), ['src/authn'], seed).map(({ file, start, kind }) => `${file} ${start} ${kind}`);
    expect(order(1)).toEqual(order(1));
    expect(order(1)).not.toEqual(order(2));
    expect(order(1).toSorted()).toEqual(order(2).toSorted());
  });
});

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
      const files = nearestTests(mutation, text, reach, 60_000);
      expect(files).toEqual(['test/limits/limit.test.ts']);
      writeFileSync(path, applyMutation(text, mutation));
      const { status, failure } = await runTests(files, options);
      outcomes[mutation.replacement] = failure ?? status;
    }
    expect(outcomes).toEqual({ '<=': 'passed', 11: 'passed' });

    writeFileSync(path, text.replace('<', '>'));
    expect(await runTests(['test/limits/limit.test.ts'], options)).toMatchObject({
      status: 'failed',
      failure: 'test/limits/limit.test.ts: nine signs are short',
    });
    writeFileSync(path, text.replace('return', 'for (;;);\n return'));
    const { status } = await runTests(['test/limits/limit.test.ts'], { ...options, timeoutMs: 5_000 });
    expect(status).not.toBe('passed');
  },
);

test('every function with a body has a probe', () => {
  const text = 'function a() { return 1; }\nconst b = () => { return () => 2; };';
  expect(withProbes('src/a.ts', text)).toBe(
    `function a() { globalThis.noteReached?.('src/a.ts#0'); return 1; }\nconst b = () => { globalThis.noteReached?.('src/a.ts#1'); return () => 2; };`,
  );
});

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
