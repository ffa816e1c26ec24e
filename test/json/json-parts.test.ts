/** Parts of a JSON text are cut out as they were sent. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { itemTexts, memberTexts } from '../../src/json/json-parts.ts';

test('items and members keep their digits, escapes and spaces inside', () => {
  expect(itemTexts(' [1.50, {"a": [1, 2]}, "x,\\"]" ,[]] ')).toEqual(['1.50', '{"a": [1, 2]}', '"x,\\"]"', '[]']);
  expect([...memberTexts('{"a\\u0062" : 1e2,"c":{"d":","}}')]).toEqual([
    ['ab', '1e2'],
    ['c', '{"d":","}'],
  ]);
  expect([itemTexts('[ ]'), memberTexts('{}').size]).toEqual([[], 0]);
});

test('the parts of any JSON text are the texts of its parts', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue()),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom(undefined, 2),
      (items, members, space) => {
        expect(itemTexts(JSON.stringify(items, null, space)).map((text) => JSON.parse(text) as unknown)).toEqual(
          JSON.parse(JSON.stringify(items)),
        );
        const found = [...memberTexts(JSON.stringify(members, null, space))].map(([name, text]) => [name, JSON.parse(text) as unknown]);
        expect(Object.fromEntries(found)).toEqual(JSON.parse(JSON.stringify(members)));
      },
    ),
  );
});
