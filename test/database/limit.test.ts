/** Limits in the texts of statements. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { builder } from '../../src/database/driver/prepared.ts';
import { limitOf } from '../../src/database/limit.ts';

test('a limit in the text of a statement is a whole number, and nothing else comes into the text (rule 90)', () => {
  const { sql: text, parameters } = sql`select limit ${limitOf(51)}`.compile(builder);
  expect([text, parameters]).toEqual(['select limit 51', []]);
  for (const wrong of [1.5, -1, Number.NaN, Infinity, 2 ** 53, '51', '1; drop table entity', null, undefined, {}])
    expect(() => limitOf(wrong as number), JSON.stringify(wrong)).toThrow(TypeError);
});
