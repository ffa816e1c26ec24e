/** How rows of a companion table are written while the table is built, and afterwards. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import { companionOf, rulesOf } from '../../../src/entities/companion/rule-layout.ts';
import { insertRows, updateRows } from '../../../src/entities/companion/rows.ts';
import { builder } from '../../../src/database/driver/prepared.ts';
import { fieldTypesOf } from '../../../src/entity-types/field-types.ts';

const types = fieldTypesOf({ type: 'object', properties: { email: { type: 'string' } } });

function layoutOf(state: Companion['state']): Companion {
  const layout = companionOf(rulesOf({ 'x-unique': [{ fields: ['email'] }] }, types), 7, null, false);
  if (!layout) throw new Error('the rule needs a table');
  return { ...layout, state };
}

const textOf = (query: ReturnType<typeof updateRows>) => query?.compile(builder).sql.replaceAll(/\s+/g, ' ');
const input = sql`input`;

test('while the table is built, a row is written over the one that the build may have committed meanwhile', () => {
  for (const write of [insertRows, updateRows]) {
    expect(textOf(write(layoutOf('building'), input))).toMatch(/insert into .* on conflict \(key\) do update /);
  }
});

test('in a table that is ready, a second row of an entity is a conflict, and rows are inserted in the order of the unique values', () => {
  expect(textOf(insertRows(layoutOf('ready'), input))).toMatch(/^insert into .* from input order by "c1"$/);
  expect(textOf(updateRows(layoutOf('ready'), input))).toMatch(/^ ?update /);
});
