import { expect, test } from 'vitest';
import { inOrder } from '../../src/entity-types/order.ts';
import { targetsOf } from '../../src/entity-types/references.ts';
import type { Schema } from '../../src/entity-types/subschemas.ts';

const names = ['a', 'b', 'c'];

/** Each set of references among three types, those of a type to itself included. */
const graphs = Array.from({ length: 2 ** 9 }, (_, bits) =>
  names.map((name, row): [name: string, document: Schema] => {
    const targets = names.filter((__, column) => (bits >> (3 * row + column)) & 1);
    return [name, { 'x-references': Object.fromEntries(targets.map((to) => [`to-${to}`, { to }])) }];
  }),
);

/** Carries the changes out. Throws if one refers to a name that is not declared, or deletes a type to which another one refers. */
function carryOut(declared: Map<string, Schema>, changes: ReturnType<typeof inOrder>): Map<string, Schema> {
  for (const { name, document } of changes) {
    const targets = targetsOf(document ?? {}).filter((to) => to !== name && !declared.has(to));
    expect(targets, `undeclared targets of ${name}`).toEqual([]);
    if (document) declared.set(name, document);
    else declared.delete(name);
    const referring = document ? [] : [...declared].filter(([, other]) => targetsOf(other).includes(name));
    expect(referring, `types that refer to ${name}, which is deleted`).toEqual([]);
  }
  return declared;
}

test('types that refer to each other in any way are declared in at most two changes each, and deleted likewise', () => {
  for (const graph of graphs) {
    const declarations = graph.map(([name, document]) => ({ name, document, source: 'command' as const }));
    const declaring = inOrder(declarations, new Map());
    expect(declaring.length).toBeLessThanOrEqual(6);
    const declared = carryOut(new Map(), declaring);
    expect(new Map(declared)).toEqual(new Map(graph));

    const deletions = graph.map(([name]) => ({ name, document: null, source: 'command' as const }));
    const deleting = inOrder(deletions, declared);
    expect(deleting.length).toBeLessThanOrEqual(6);
    expect(carryOut(declared, deleting).size).toBe(0);
  }
});

test('a type that is declared already is no reason for a second change', () => {
  const [a, b] = ['b', 'a'].map((to): Schema => ({ 'x-references': { to: { to } } }));
  const changes = [{ name: 'a', document: { ...a, title: 'A' }, source: 'command' as const }];
  expect(inOrder(changes, new Map(Object.entries({ a: a ?? {}, b: b ?? {} })))).toEqual(changes);
});
