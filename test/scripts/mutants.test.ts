/** The mistakes that `npm run test:mutants` makes. `mutants.long.test.ts` runs it. */
import { describe, expect, test } from 'vitest';
import { functionBodies, withProbes } from '../../scripts/mutants/functions.ts';
import { findMutations } from '../../scripts/mutants/mutations.ts';
import { applyMutation, orderedMutations, showMutation } from '../../scripts/mutants/select.ts';

/** All texts that one mistake can make of a text. */
const mistakesIn = (text: string) => findMutations('src/a.ts', text).map((mutation) => applyMutation(text, mutation));

describe('a mistake', () => {
  test.each([
    ['moves a boundary', 'a < b;', ['a <= b;']],
    ['inverts a comparison', 'a !== b;', ['a === b;']],
    ['swaps "and" and "or"', 'a && b;', ['a || b;']],
    ['negates a condition', 'if (a) b;', ['if (!(a)) b;']],
    ['removes a call', 'await settle();', [';']],
    ['removes await', 'if (await settled()) a();', ['if (settled())']],
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

test('every function with a body has a probe, with an id that lasts when other functions come', () => {
  const text = 'function a() { return 1; }\nconst b = () => { return () => 2; };';
  const probed = `function a() { globalThis.noteReached?.('src/a.ts#a'); return 1; }\nconst b = () => { globalThis.noteReached?.('src/a.ts#b'); return () => 2; };`;
  expect(withProbes('src/a.ts', text)).toBe(probed);
  const idsOf = (code: string) => functionBodies('src/a.ts', code).map(({ id }) => id.replace('src/a.ts#', ''));
  expect(idsOf(`function z() {}\n${text}`)).toEqual(['z', 'a', 'b']);
  expect(idsOf('class A { #b() { run(() => {}); run(() => {}); } get c() {} } const { d } = { e: function () {} };')).toEqual([
    'A.b',
    'A.b.function',
    'A.b.function~1',
    'A.c',
    'e',
  ]);
});
