/** Expectations of tests are values: "one of several" passes for a wrong answer. Exceptions are races, whose outcome no test decides, each with the reason. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

const race = 'of two requests at once, either may be first';
const slow = 'on a slow machine a statement waits for a lock until it is refused';
/** By file, how many of its expectations allow several outcomes, and why they must. */
const exceptions: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  'test/contract/bodies.test.ts': [1, 'the operations differ; each is then compared with itself'],
  'test/contract/keywords.test.ts': [1, 'the code depends on the keyword; another test has each'],
  'test/contract/credentials.test.ts': [1, 'the example of an operation may name something that does not exist'],
  'test/database/poolers.test.ts': [1, 'such a pooler breaks a statement only if its server connection is a new one'],
  'test/entities/writing/delete-entity.test.ts': [1, race],
  'test/entities/writing/heavy.test.ts': [1, slow],
  'test/faults/outage.test.ts': [2, 'each statement is before, during or after the outage'],
  'test/monitoring/metrics.test.ts': [1, slow],
  'test/oidc/create-session.test.ts': [1, race],
  'test/oidc/unlink-identity.test.ts': [2, race],
  'test/password/change-password.test.ts': [1, race],
  'test/profiles/select-profile.test.ts': [1, race],
  'test/races/refresh-logout.test.ts': [1, race],
  'test/sessions/refresh-session.test.ts': [1, race],
  'test/transfer/import-streams.test.ts': [1, 'a portion may be under way when the client leaves'],
};

const isMatcher = (node: ts.Node, names: readonly string[]): node is ts.CallExpression & { expression: ts.PropertyAccessExpression } =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && names.includes(node.expression.name.text);

/** The value that `expect` takes in the chain before a matcher. */
function expectedOf(node: ts.Expression): ts.Expression | undefined {
  if (ts.isPropertyAccessExpression(node)) return expectedOf(node.expression);
  return ts.isCallExpression(node) && node.expression.getText() === 'expect' ? node.arguments[0] : undefined;
}

const textOf = (node: ts.Node | undefined): string => node?.getText() ?? '';

/** Whether it is `expect([a, b]).toContain(value)`, or a range of statuses. A status below 300 says that what prepares a test has succeeded. */
function allowsSeveral(node: ts.Node): boolean {
  if (isMatcher(node, ['toContain', 'toContainEqual'])) {
    const chain = node.expression.expression;
    const allowed = expectedOf(chain);
    return allowed !== undefined && ts.isArrayLiteralExpression(allowed) && !textOf(chain).endsWith('.not');
  }
  if (isMatcher(node, ['toBeLessThan', 'toBeGreaterThan', 'toBeLessThanOrEqual', 'toBeGreaterThanOrEqual']))
    return /\bstatus$/.test(textOf(expectedOf(node.expression.expression))) && textOf(node.arguments[0]) !== '300';
  return isMatcher(node, ['toBeOneOf', 'oneOf']);
}

/** Finds each file that may have such an expectation, and some others: to read all of them takes seconds. */
const suspicious = /\]\s*(?:,[^;]*)?\)\.toContain|status[^;]*\.toBe(?:Less|Greater)|OneOf\b/;

function lenientLines(file: string): number[] {
  const text = readFileSync(join(root, file), 'utf8');
  if (!suspicious.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lines: number[] = [];
  const visit = (node: ts.Node): void => {
    if (allowsSeveral(node)) lines.push(source.getLineAndCharacterOfPosition(node.getEnd()).line + 1);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines;
}

const lenient = globSync('test/**/*.ts', { cwd: root })
  .toSorted()
  .flatMap((file) => lenientLines(file).map((line) => ({ file, line })));

test('an expectation is a value, but for the exceptions', () => {
  const found = Object.fromEntries(
    [...Map.groupBy(lenient, ({ file }) => file)].map(([file, some]) => [file, some.map(({ line }) => line)]),
  );
  const unexpected = Object.entries(found).filter(([file, lines]) => exceptions[file]?.[0] !== lines.length);
  expect(unexpected, 'expect one value, or add a race to the exceptions').toEqual([]);
  expect(Object.keys(exceptions).filter((file) => !(file in found))).toEqual([]);
});
