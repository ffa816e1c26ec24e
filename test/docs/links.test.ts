/** Links between the project's documents. */
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readDocument } from '../support/markdown.ts';

const project = join(import.meta.dirname, '../..');

test.each(globSync(['*.md', 'docs/*.md', 'src/**/*.md'], { cwd: project }))('what %s links to in this project is there', (name) => {
  const targets = [...readDocument(name).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => join(dirname(name), target));
  for (const target of targets) expect(existsSync(join(project, target)), target).toBe(true);
});
