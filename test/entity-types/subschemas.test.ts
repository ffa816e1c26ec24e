/** The depth to which the schemas of a document are visited. */
import { expect, test } from 'vitest';
import { walkSchemas, type Schema } from '../../src/entity-types/subschemas.ts';

/** Objects inside each other: as many schemas as `depth`. */
function nested(depth: number): Schema {
  return depth === 1 ? { type: 'string' } : { properties: { a: nested(depth - 1) } };
}

function visited(document: Schema, deepest: number) {
  const pointers: string[] = [];
  const complete = walkSchemas(document, deepest, (_schema, pointer) => pointers.push(pointer));
  return { complete, pointers };
}

test('a document as deep as the limit is visited as a whole, and a deeper one down to the limit', () => {
  const three = ['', '/properties/a', '/properties/a/properties/a'];
  expect(visited(nested(3), 3)).toEqual({ complete: true, pointers: three });
  expect(visited(nested(4), 3)).toEqual({ complete: false, pointers: three });
});
