/** The project's documents: their readers, and the links between them. */
import { existsSync, globSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readDocument } from '../support/markdown.ts';

const project = join(import.meta.dirname, '../..');
const documents = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md', 'src/*/*.md', 'src/database/**/*.md'], { cwd: project });

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  const titles = [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) => title);
  return titles.map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test.each(documents)('what %s links to in this project is there, and so are its headings', (name) => {
  const links = [...readDocument(name).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  for (const [, path = '', anchor] of links) {
    const target = path === '' ? name : join(dirname(name), path);
    expect(existsSync(join(project, target)), target).toBe(true);
    // The documentation site has no page for a directory.
    expect(statSync(join(project, target)).isFile(), target).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(readDocument(target)), `${target}#${anchor}`).toContain(anchor);
  }
});

test('each document of docs begins with its readers', () => {
  const found = documents.filter((name) => name.startsWith('docs/'));
  expect(found.length).toBeGreaterThan(25);
  expect(found.filter((name) => !/^# .+\n\nFor [a-z]/.test(readDocument(name)))).toEqual([]);
});
