/** The statements that lock rows of entities. After a wait PostgreSQL tests the new row by the condition beside the lock, and nothing of a lateral join again. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const text = readFileSync(new URL('../../generated/statements.sql', import.meta.url), 'utf8');

/** The query that ends with the lock at the position. */
function lockingQuery(end: number): string {
  let begin = end;
  for (let depth = 0; depth >= 0 && text[begin] !== ';';) {
    begin -= 1;
    if (text[begin] === ')') depth += 1;
    if (text[begin] === '(') depth -= 1;
  }
  return text.slice(begin + 1, end);
}

test('no lateral join stands between the condition of a permit and the lock of its row (rule 179)', () => {
  const queries = [...text.matchAll(/for (no key )?update/g)].map(({ index }) => lockingQuery(index));
  const ofEntities = queries.filter((query) => /from "?entity"?\s/.test(query));
  // The lock of one row, and the locks of updates, restores and imports.
  expect(ofEntities.length).toBeGreaterThan(5);
  expect(ofEntities.filter((query) => query.includes('lateral'))).toEqual([]);
  expect(ofEntities.filter((query) => !query.includes('entity.created_by'))).toEqual([]);
});
