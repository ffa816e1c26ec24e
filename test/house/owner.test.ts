/** Use cases of administration take an `Owner`, and one function makes one (rule 169). */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test('src/cli/owner.ts alone makes an Owner, and the command line alone calls it', () => {
  const files = globSync('src/**/*.ts', { cwd: root });
  expect(files.filter((file) => /\bas (?:unknown as )?Owner\b|<Owner>/.test(read(file)))).toEqual(['src/cli/owner.ts']);
  const callers = files.filter((file) => read(file).includes('asOwner('));
  expect(callers.length).toBeGreaterThan(1);
  expect(callers.filter((file) => !file.startsWith('src/cli/'))).toEqual([]);
});

test('each use case of a resource takes a store and an Owner', () => {
  const found = globSync('src/administration/*/use-cases.ts', { cwd: root }).flatMap((file) =>
    ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest).statements.flatMap((node) =>
      ts.isFunctionDeclaration(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
        ? [
            {
              name: node.name?.text,
              takes: node.parameters
                .slice(0, 2)
                .map(({ type }) => type && ts.isTypeReferenceNode(type) && (type.typeName as ts.Identifier).text),
            },
          ]
        : [],
    ),
  );
  expect(found.length).toBeGreaterThan(15);
  expect(found.filter(({ takes: [store, by] }) => store !== 'Store' || by !== 'Owner')).toEqual([]);
});
