import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDocument, section, tableRows } from '../support/markdown.ts';

const project = join(import.meta.dirname, '../..');
const rows = tableRows(section(readDocument('docs/security.md'), '## Rules'));
const rules = rows.map(([rule = '']) => rule);
const filesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);

/** The rules that a test file names in brackets: `(rule 3)`, `(rules 71, 73 and 74)`, `(rules 39 to 41)`. */
function rulesIn(text: string): string[] {
  const named = [...text.matchAll(/\((?:security )?rules? ([^():'`]*)/g)].map(([, list = '']) => list);
  return named.flatMap((list) =>
    [...list.matchAll(/(\d+)(?: to (\d+))?/g)].flatMap(([, from, to]) =>
      Array.from({ length: Number(to ?? from) - Number(from) + 1 }, (_, index) => String(Number(from) + index)),
    ),
  );
}

test('docs/security.md has a row for every rule, in order, with what holds it and what proves it, or that it is later work', () => {
  expect(rules).toEqual([...new Set(rules.map(Number))].toSorted((one, other) => one - other).map(String));
  expect(rules.length).toBeGreaterThanOrEqual(94);
  for (const [rule, , held, proved] of rows) {
    if (held === 'later work') expect(proved, rule).toBe('');
    else for (const cell of [held, proved]) expect(filesIn(cell), rule).not.toEqual([]);
    for (const file of filesIn(held)) expect(existsSync(join(project, file)), `${rule}: ${file}`).toBe(true);
  }
});

test('each rule is told in whole sentences, so that a reference to its number can be resolved here', () => {
  for (const [rule, text] of rows) expect(text, `rule ${rule}`).toMatch(/^[A-Z`].{20,}[.]$/);
});

test('a test that names a rule is in its row, and a test in a row names the rule', () => {
  const named = new Map(rules.map((rule) => [rule, new Set<string>()]));
  for (const file of globSync('**/*.test.ts', { cwd: join(project, 'test') })) {
    if (file === 'docs/security.test.ts') named.get('94')?.add(file);
    else
      for (const rule of rulesIn(readFileSync(join(project, 'test', file), 'utf8'))) {
        expect(rules, file).toContain(rule);
        named.get(rule)?.add(file);
      }
  }
  for (const [rule = '', , , proved] of rows) expect(filesIn(proved), `rule ${rule}`).toEqual([...(named.get(rule) ?? [])].toSorted());
});

test('what deviates from ASVS by design is recorded as a decision (rule 94)', () => {
  expect(section(readDocument('docs/decisions/api.md'), '## 5. Logout by HEAD')).toContain('ASVS 3.5.3');
  expect(section(readDocument('docs/decisions/rights.md'), '## 6. No second factor yet')).toContain('ASVS 6.3.3');
});
