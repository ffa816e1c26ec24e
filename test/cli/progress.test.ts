import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Progress, TypeProgress } from '../../src/cli/progress.ts';

const tables = [
  { name: 'user_account', columns: ['id'], rows: 2, checksum: '' },
  { name: 'entity', columns: ['key'], rows: 6, checksum: '' },
];
const [users, entities] = tables as [(typeof tables)[0], (typeof tables)[0]];
const contents = { takenAt: '2026-11-22T08:00:00.000Z', migrations: [], tables, sequences: [] };

function run(isTTY: boolean): string {
  const errors = Object.assign(new PassThrough(), { isTTY });
  const progress = new Progress(errors);
  progress.start(contents);
  progress.add(users, 1);
  progress.add(users, 1);
  progress.add(entities, 2);
  progress.add(entities, 4);
  progress.end();
  return String(errors.read());
}

test('on a terminal one line is drawn again, up to 100 %', () => {
  const drawn = run(true).split('\r');
  expect(drawn[1]).toContain('[####--------------------------] 12 %  1 of 8 rows  user_account');
  expect(drawn.at(-1)).toBe('[##############################] 100 %  8 of 8 rows  entity\u001b[K\n');
});

test('without a terminal each table that is done is a line', () => {
  expect(run(false)).toBe('user_account: 2 rows\nentity: 6 rows\n');
});

describe('a build of types', () => {
  const report = (isTTY: boolean) => {
    const errors = Object.assign(new PassThrough(), { isTTY });
    const progress = new TypeProgress(errors);
    for (const done of [2, 8, 8]) progress.report({ name: 'order', phase: 'rows', done, total: 8 });
    for (const done of [0, 1]) progress.report({ name: 'order', phase: 'indexes', done, total: 1 });
    progress.end();
    return String(errors.read());
  };

  test('on a terminal one line is drawn again for each phase', () => {
    const drawn = report(true).split('\r');
    expect(drawn).toContain('[##############################] 100 %  order: 8 of 8 entities indexed\u001b[K');
    expect(drawn.at(-1)).toBe('[##############################] 100 %  order: 1 of 1 indexes built\u001b[K\n');
  });

  test('without a terminal each phase that is done is a line', () => {
    expect(report(false)).toBe('order: 8 of 8 entities indexed\norder: 1 of 1 indexes built\n');
  });
});
