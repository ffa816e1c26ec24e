/** docs/architecture.md, compared with the folders of the code. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';

const project = join(import.meta.dirname, '../..');

test('the map in docs/architecture.md has every folder of the code, and no others', () => {
  const places = tableRows(section(readDocument('docs/architecture.md'), '## Map of the code')).map(([place]) => codeOf(place));
  for (const place of places) expect(existsSync(join(project, place)), place).toBe(true);
  const folders = readdirSync(join(project, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(places.filter((place) => place.startsWith('src/')).toSorted()).toEqual(folders.map(({ name }) => `src/${name}`).toSorted());
});
