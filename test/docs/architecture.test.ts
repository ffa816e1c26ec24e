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

test('the calls of four requests are in the files that docs/architecture.md names, and none comes back to a room more than twice', () => {
  const requests = section(text, '### The calls of four requests').split(/^\*\*/m).slice(1);
  expect(requests).toHaveLength(4);
  for (const request of requests) {
    const calls = [...request.matchAll(/^\d+\. `(src\/[\w/.-]+)`: (.*)$/gm)].map(([, file = '', rest = '']) => ({ file, rest }));
    expect(calls.length).toBe(request.match(/^\d+\. /gm)?.length);
    for (const { file, rest } of calls) {
      const [, name = ''] = /^`(\w+)\(\)`/.exec(rest) ?? [];
      expect(readDocument(file), `${name} of ${file}`).toMatch(new RegExp(String.raw`\b${name}(\(|<| =)`));
    }
    const rooms = calls.map(({ file }) => file.split('/')[1]).filter((room, at, all) => room !== all[at - 1]);
    for (const room of new Set(rooms)) expect(rooms.filter((each) => each === room).length, room).toBeLessThanOrEqual(3);
  }
});

test('the functions that docs/architecture.md names are defined in src', () => {
  const code = globSync('src/**/*.ts', { cwd: project, exclude: ['src/client/**'] })
    .map(readDocument)
    .join('\n');
  const named = [...text.matchAll(/`(\w+)\(\)`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !new RegExp(String.raw`\b(function\*?|const|async) ${name}\b|^  ${name}[(<]`, 'm').test(code))).toEqual([]);
});
