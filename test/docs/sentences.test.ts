/** No comment, document or message gains a sentence that begins with a relative clause; `scripts/sentences/exceptions.txt` has those of before. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exceptionsOf, findClauseFirst } from '../../scripts/sentences/find.ts';
import { readDocument } from '../support/markdown.ts';

test('sentences begin with their subject, but for the exceptions', () => {
  const exceptions = exceptionsOf(readDocument('scripts/sentences/exceptions.txt'));
  const found = findClauseFirst(join(import.meta.dirname, '../..'));
  expect(found.filter((sentence) => !exceptions.has(sentence))).toEqual([]);
});
