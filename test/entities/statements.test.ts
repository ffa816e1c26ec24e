/**
 * Each statement on entities has the condition on the rows that its permit covers, and writes the audit event of a change.
 * other-owners.test.ts runs the statements.
 */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as grouped from '../../src/entities/grouped-writes.ts';
import * as statements from '../../src/entities/statements.ts';

const texts = Object.values({ ...statements, ...grouped }).flatMap((each) =>
  'work' in each ? [[each.work.name, String(each.work.attributes?.['db.query.text'])] as const] : [],
);
const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** A text that names the table `entity` in SQL or in a call of Kysely. */
const onEntity = /\b(?:from|join|into|update|using) "?entity\b(?![.-])|\b(?:From|Table|Into|Join|using)\(\s*'entity[ ']/;
const reads = /\b(?:from|join|using) "?entity"?(?![\w".])/g;
const value = String.raw`(?:\$\d+|"input"\."\w+")`;
const condition = new RegExp(String.raw`\bentity\.name = ${value} and \(${value}::text is null or entity\.created_by = ${value}\)`, 'g');

describe('a statement on the table entity', () => {
  test('is in one of two files, except for the scan of all entities of a name, which no caller requests', () => {
    const root = new URL('../../', import.meta.url);
    const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => onEntity.test(readFileSync(new URL(file, root), 'utf8')));
    expect(files.toSorted()).toEqual(['src/entities/grouped-writes.ts', 'src/entities/scan.ts', 'src/entities/statements.ts']);
    expect(texts).toHaveLength(9);
  });

  test.each(texts)('has the condition wherever it reads or deletes rows: %s (rule 64)', (_name, text) => {
    expect(count(text, condition)).toBe(count(text, reads));
    expect(count(text, reads) + count(text, /\binsert into entity\b/g)).toBe(1);
    // An update changes only rows that it has read with the condition.
    const updates = /\bupdate entity set [^;]*?from merged\s+where entity\.name = merged\.name and entity\.key = merged\.key\b/g;
    expect(count(text, updates)).toBe(count(text, /\bupdate entity\b/g));
  });

  test.each(texts)('writes an audit event for each row that it changes: %s (rule 85)', (_name, text) => {
    const changes = count(text, /\b(?:insert into|update|delete from) entity\b/g);
    expect(count(text, /, events as \(\s*insert into audit_event\b[^;]*?from (?:"?written"?|written join input using \(n\))\s*\)/g)).toBe(
      changes,
    );
  });
});
