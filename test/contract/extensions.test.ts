import { expect, test } from 'vitest';
import { extensionValues } from '../../src/contract/extensions.ts';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';
import { document } from '../support/operations.ts';

const declared = Object.entries(extensionValues).flatMap(([name, values]) => values.map((value) => `${name}: ${value}`));

test('docs/architecture.md explains each value of each extension, and no other', () => {
  const rows = tableRows(section(readDocument('docs/architecture.md'), '## Extensions of the contract'));
  expect(rows.map(([name, value]) => `${codeOf(name)}: ${codeOf(value)}`)).toEqual(declared);
  for (const [, , meaning] of rows) expect(meaning).toMatch(/^[A-Z].+\.$/);
});

test('openapi.yaml has a use for each value of each extension', () => {
  const used = Object.values(document.paths).flatMap((item) =>
    Object.values(item).flatMap((operation) => Object.entries(operation).map(([name, value]) => `${name}: ${String(value)}`)),
  );
  expect(declared.filter((each) => !used.includes(each))).toEqual([]);
});
