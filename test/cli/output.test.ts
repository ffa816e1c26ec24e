import { describe, expect, test } from 'vitest';
import { printableText, tableText, timeText, toJson } from '../../src/cli/output.ts';

describe('table', () => {
  test('aligns columns, also with characters of double width or none', () => {
    const rows = [
      ['日本', 'x', 'end'],
      ['e\u0301🎉', 'long', ''],
    ];
    expect(tableText(['A', 'B', 'C'], rows, '').split('\n')).toEqual(['A     B     C', '日本  x     end', 'e\u0301🎉   long']);
  });

  test('says so when there are no rows', () => {
    expect(tableText(['A'], [], 'Nothing there.')).toBe('Nothing there.');
  });
});

test('terminal control and text direction characters are shown as escapes', () => {
  expect(printableText('a\u001b[31m\n\u009b\u202eb')).toBe(String.raw`a\u{1b}[31m\u{a}\u{9b}\u{202e}b`);
  const document = { text: 'a\u001b\u009b\u007f\u202e"é' };
  expect(toJson(document)).toMatch(/^[\n\u0020-\u007e\u00a0-\u{10ffff}]+$/u);
  expect(JSON.parse(toJson(document))).toEqual(document);
});

test('times are in UTC, to the second', () => {
  expect(timeText(new Date('2026-11-20T08:09:10.987+01:00'))).toBe('2026-11-20 07:09:10Z');
  expect(timeText(null)).toBe('-');
});
