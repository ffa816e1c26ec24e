/**
 * Each statement on entities has the condition on the rows that its permit covers, and writes the audit event of a change.
 * other-owners.test.ts runs the statements.
 */
import { globSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import {
  candidatesQuery,
  countQuery,
  estimateQuery,
  pageQuery,
  selectRows,
  selectedRows,
  scanEndQuery,
  scannedRows,
  type EntityRows,
} from '../../../src/entities/querying/list-statements.ts';
import { entityOf } from '../../../src/entities/shown-rows.ts';
import { matchedKeysQuery } from '../../../src/entities/querying/match-statements.ts';
import { isMatchedKey } from '../../../src/entities/reference-tests.ts';
import { writeStatementsOf, type WriteStatements } from '../../../src/entities/writing/write-statements.ts';
import { builder } from '../../../src/database/driver/prepared.ts';
import { findByUnique } from '../../../src/entities/writing/upsert-statements.ts';
import { trashedEntities } from '../../../src/entities/trash.ts';
import type { Permit } from '../../../src/rights/permit.ts';
import type { SpanDescription } from '../../../src/telemetry/spans.ts';
import { orderOf } from '../../../src/filter/order.ts';
import type { SortTerm } from '../../../src/filter/sort.ts';
import { entitySource } from '../../../src/filter/source.ts';
import { filterCondition } from '../../../src/filter/compile.ts';
import { constantOperand, not, type Filter } from '../../../src/filter/syntax.ts';
import { rowsCoveredFor } from '../../support/coverage.ts';
import { fullRights, wholeView } from '../../../src/rights/field-view.ts';
import { findHeavy, findLightOne, findState } from '../../../src/entities/find-entity.ts';
import { previewOne } from '../../../src/entities/writing/preview.ts';

const companion = (state: Companion['state']): Companion => ({
  table: 'x1',
  columns: [{ name: 'c1', field: ['a'], type: 'string', fold: true, maximumLength: 600 }],
  indexes: [],
  uniques: [{ name: 'x1_u2', columns: ['c1'] }],
  substrings: [],
  references: [],
  search: { texts: [{ name: 't1', field: ['a'] }], language: 'simple' },
  next: 3,
  state,
});

/** The texts of statements, by their names and `variant`. */
const textsOf = (variant: string, statements: Partial<WriteStatements> | { work: SpanDescription }[]) =>
  Object.values(statements).map(({ work }) => [work.name + variant, String(work.attributes?.['db.query.text'])] as const);
const texts = [
  ...textsOf(
    '',
    [findHeavy, findLightOne, findState, previewOne].map((each) => each(fullRights)),
  ),
  ...textsOf('', writeStatementsOf(null, fullRights)),
  ...textsOf(', with a companion row', writeStatementsOf(companion('ready'), fullRights)),
  ...textsOf(', while the companion table is built', writeStatementsOf(companion('building'), fullRights)),
];
const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** A text that names the table `entity` in SQL or in a call of Kysely. */
const onEntity = /\b(?:from|join|into|update|using) "?entity\b(?![.-])|(?:From|Table|Into|Join|using)\(\s*'entity[ ']/;
const reads = /\b(?:from|join|using) "?entity"?(?![\w".])/g;
const value = String.raw`(?:\$\d+|"input"\."\w+")`;
const condition = new RegExp(
  String.raw`\bentity\.name = (?:${value}|pinned\(${value}::text\)) and \(${value}::text is null or entity\.created_by = ${value}\)`,
  'g',
);

describe('a statement on the table entity', () => {
  test('is in one of eighteen files', () => {
    const root = new URL('../../../', import.meta.url);
    const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => onEntity.test(readFileSync(new URL(file, root), 'utf8')));
    expect(files.toSorted()).toEqual([
      'src/administration/attributes/change.ts',
      ...[
        'companion/fill',
        'companion/scan',
        'companion/verify',
        'find-entity',
        'history/history',
        'querying/list-statements',
        'writing/conflict-statements',
        'writing/create-statements',
        'writing/grouped-writes',
        'writing/import-statements',
        'writing/natural-keys',
        'writing/preview',
        'writing/references',
        'writing/referrers',
        'writing/removal-statements',
        'writing/statements',
        'writing/upsert-statements',
      ].map((name) => `src/entities/${name}.ts`),
    ]);
    expect(texts).toHaveLength(40);
  });

  test('is in one of four files if it changes rows', () => {
    const root = new URL('../../../', import.meta.url);
    const changes =
      /\b(?:insert into|update|delete from|merge into) "?(?:only )?"?entity\b(?![.-])|\b(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*'entity[ ']/i;
    const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => changes.test(readFileSync(new URL(file, root), 'utf8')));
    expect(files.toSorted()).toEqual(
      ['create-statements', 'grouped-writes', 'removal-statements', 'statements'].map((name) => `src/entities/writing/${name}.ts`),
    );
  });

  test.each(texts)('writes the companion row of each row that it changes, and none without a companion table: %s', (name, text) => {
    const changes = count(text, /\b(?:insert into|update|delete from) entity\b/g);
    const isPlain = !name.includes('companion');
    const writes =
      /, companion as \(\s*(?:insert into|update) "entity_data"\."x1"|select key, entity_companion_delete\('x1', "key"\) from written/g;
    expect(count(text, writes)).toBe(isPlain ? 0 : changes);
    expect(text.includes('entity_data')).toBe(!isPlain && changes > 0 && !text.includes('entity_companion_delete'));
  });

  test.each(texts)('has the condition wherever it reads or deletes rows: %s (rule 64)', (name, text) => {
    expect(count(text, condition)).toBe(count(text, reads));
    // A merge reads the rows that it changes, and those that it leaves as they are.
    const isMerge = /^entity\.(?:update|restore)\b/.test(name);
    expect(count(text, reads) + count(text, /\binsert into entity\b/g)).toBe(isMerge ? 2 : 1);
    // An update changes only rows that it has read with the condition.
    const updates = /\bupdate entity set [^;]*?from merged\s+where entity\.name = merged\.name and entity\.key = merged\.key\b/g;
    expect(count(text, updates)).toBe(count(text, /\bupdate entity\b/g));
  });

  test('takes rows from the trash with the condition on its rows (rule 64)', () => {
    const onTrash = texts.filter(([, text]) => /delete from entity_trash\b/.test(text));
    expect(onTrash.map(([name]) => name.split(',')[0])).toEqual(Array.from({ length: 3 }, () => 'entity.undelete'));
    for (const [, text] of onTrash)
      expect(text).toMatch(
        /delete from entity_trash where entity_trash\.name = \$\d+ and \(\$\d+::text is null or entity_trash\.created_by = \$\d+\) and entity_trash\.key = /,
      );
  });

  test.each(texts)('writes an audit event for each row that it changes: %s (rule 85)', (_name, text) => {
    const changes = count(text, /\b(?:insert into|update|delete from) entity\b/g);
    expect(count(text, /, events as \(\s*insert into audit_event\b[^;]*?from (?:"?written"?|written join input using \(n\))\s*\)/g)).toBe(
      changes,
    );
  });
});

describe('the statement of an upsert', () => {
  const layout = companion('ready');
  const [unique] = layout.uniques;

  test('has the condition beside the values of the rule, and finds a row of another owner without its version (rule 64)', () => {
    if (!unique) throw new Error('no unique rule');
    const permit = { ...rowsCoveredFor('note', 'bob'), userName: 'bob' } as Permit<'update'>;
    const { sql: text, parameters } = findByUnique(layout, unique, { c1: 'x' }, permit).compile(builder);
    expect(count(text, reads)).toBe(1);
    expect(text).toMatch(
      /left join entity on entity\.name = \$\d+ and \(\$\d+::text is null or entity\.created_by = \$\d+\) and entity\.key = found\.key/,
    );
    expect(parameters.filter((parameter) => parameter === 'bob')).toHaveLength(2);
  });
});

describe('a statement of a list', () => {
  const key: Filter = { kind: 'compare', field: ['$key'], operator: '>', type: 'int64', operand: constantOperand('1') };
  const tests = not({ kind: 'compare', field: ['$createdBy'], operator: '=', type: 'string', operand: constantOperand('ada') });
  const query: EntityRows = { permit: rowsCoveredFor('note', 'bob'), fields: entitySource, table: sql`entity`, keys: key, tests };
  const page = { view: wholeView, limit: 50, bytes: 1_000, projection: undefined, includes: [] };
  const sort: SortTerm[] = [{ field: ['a'], type: 'any', descending: true }];
  const sorted = { ...page, order: orderOf(sort, tests, entitySource), projection: { a: true as const } };
  const scan = { keyDescending: false, after: { values: [], key: '1' }, budget: 5_000 };
  const byKey = { ...page, order: orderOf([], tests, entitySource) };
  const rows = selectRows(query);

  test.for([
    ['a page', pageQuery({ ...byKey, ...selectedRows(query, scan.after) })],
    ['a page of a scan', pageQuery({ ...byKey, ...scannedRows(query, scan) })],
    ['a sorted page', pageQuery({ ...sorted, ...selectedRows(query, { values: ['1', '2', null], key: '1' }) })],
    ['a count', countQuery(rows, 10_001)],
    ['an exact count', countQuery(rows, undefined)],
    ['an estimate', estimateQuery(rows)],
  ] as const)('has the condition beside the filter: %s (rule 64)', ([, { sql: text, parameters }]) => {
    expect(count(text, reads)).toBe(1);
    expect(count(text, condition)).toBe(1);
    // The condition is part of the outermost conjunction, so no filter can widen it.
    const [, conjunction = ''] =
      /where (entity\.name = (?:\$\d+|pinned\(\$\d+::text\)) and \(\$\d+::text is null or entity\.created_by = \$\d+\) and .*)/s.exec(
        text,
      ) ?? [];
    expect(conjunction).toMatch(/^[^;]* and .*\("entity"\."created_by" collate "C" = \$\d+::text\) is not true/s);
    expect(parameters.filter((parameter) => parameter === 'bob')).toHaveLength(2);
  });

  test('of the trash has the condition too (rule 64)', () => {
    const trash = { ...query, table: trashedEntities };
    for (const part of [scannedRows(trash, scan), selectedRows(trash, scan.after)]) {
      const text = pageQuery({ ...byKey, ...part, isTrash: true }).sql;
      expect([count(text, /from entity_trash\b/g), count(text, reads), count(text, condition)]).toEqual([1, 0, 1]);
    }
  });

  test('that looks through a reference has the condition on the entity that it leads to (rule 64)', () => {
    const target = rowsCoveredFor('customer', 'bob');
    const { sql: text, parameters } = sql`select ${isMatchedKey(target, sql`x.c1`, filterCondition(tests, entitySource))}`.compile(builder);
    expect([count(text, reads), count(text, condition)]).toEqual([1, 1]);
    expect(parameters.slice(0, 3)).toEqual(['customer', 'bob', 'bob']);
    const keys = matchedKeysQuery(selectedRows(query, undefined), sql`entity.key`, 1_001).sql;
    expect([count(keys, reads), count(keys, condition)]).toEqual([1, 1]);
  });

  test('over a companion table reads entities by their keys, with the condition (rule 64)', () => {
    const text = pageQuery({
      ...byKey,
      from: entityOf(rowsCoveredFor('note', 'bob'), sql`x.key`),
      where: sql`true`,
      after: undefined,
      isInOrder: true,
    }).sql;
    expect([count(text, reads), count(text, condition)]).toEqual([1, 1]);
    expect(text).toMatch(/lateral \(select entity\.\* from entity where entity\.name = [^;]* and entity\.key = x\.key offset 0\)/);
  });

  test('without the condition returns no entity: how many there are at most, and where a scan ends', () => {
    for (const [{ sql: text }, columns] of [
      [candidatesQuery(query, 10_001), 'count(*)::int as count'],
      [scanEndQuery(query, scan), "entity.key, '{}'::text[] as position"],
    ] as const) {
      expect(count(text, reads)).toBe(1);
      expect(text.trim().replaceAll(/\s+/g, ' ')).toMatch(
        new RegExp(`^select ${columns.replaceAll(/[()*[\]{}]/g, String.raw`\$&`)} from `),
      );
    }
  });
});
