/** docs/architecture.md, compared with the code. */
import { existsSync, globSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';

const project = join(import.meta.dirname, '../..');
const text = readDocument('docs/architecture.md');

test('the map in docs/architecture.md has every folder of the code, and no others', () => {
  const places = tableRows(section(text, '## Map of the code')).map(([place]) => codeOf(place));
  for (const place of places) expect(existsSync(join(project, place)), place).toBe(true);
  const folders = readdirSync(join(project, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(places.filter((place) => place.startsWith('src/')).toSorted()).toEqual(folders.map(({ name }) => `src/${name}`).toSorted());
});

test('the files and folders that docs/architecture.md names exist', () => {
  const named = [...text.matchAll(/(?<![\w/])(?:src|test|docs|scripts)\/[\w./-]*\w/g)].map(([path]) => path);
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((path) => !existsSync(join(project, path)))).toEqual([]);
});

test('the functions that docs/architecture.md names are defined in src', () => {
  const code = globSync('src/**/*.ts', { cwd: project, exclude: ['src/client/**'] })
    .map(readDocument)
    .join('\n');
  const named = [...text.matchAll(/`(\w+)\(\)`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !new RegExp(String.raw`\b(function\*?|const|async) ${name}\b|^  ${name}[(<]`, 'm').test(code))).toEqual([]);
});
