/** The order in which changes of several types can be carried out, since a type refers to declared names only. */
import type { TypeChange } from './plan.ts';
import { referencesOf, targetsOf } from './references.ts';
import type { Schema } from './subschemas.ts';

/**
 * The changes in an order in which each refers to names that are declared by then. Types that refer to each other are first declared
 * without these references, and lose them before they are deleted. Deletions come last, each after those of types that refer to it.
 * `inForce` has the documents of all declared names.
 */
export function inOrder(changes: readonly TypeChange[], inForce: ReadonlyMap<string, Schema>): TypeChange[] {
  const deletions = changes.filter(({ document }) => document === null);
  return [
    ...declarationsInOrder(
      changes.filter(({ document }) => document !== null),
      inForce,
    ),
    ...deletionsInOrder(deletions, inForce),
  ];
}

/**
 * Each declaration behind those that it refers to. In a circle one is first made without some of its references, and made whole at the end.
 */
function declarationsInOrder(changes: readonly TypeChange[], inForce: ReadonlyMap<string, Schema>): TypeChange[] {
  const byName = new Map(changes.map((change) => [change.name, change]));
  const declared = new Set(inForce.keys());
  const visited = new Set<string>();
  const ordered: TypeChange[] = [];
  const incomplete: TypeChange[] = [];
  const visit = (change: TypeChange): void => {
    if (visited.has(change.name)) return;
    visited.add(change.name);
    const targets = targetsOf(change.document ?? {}).flatMap((name) => byName.get(name) ?? []);
    for (const target of targets) visit(target);
    const open = targets.map(({ name }) => name).filter((name) => name !== change.name && !declared.has(name));
    if (open.length > 0) incomplete.push(change);
    ordered.push(open.length > 0 ? withoutReferences(change, open) : change);
    declared.add(change.name);
  };
  for (const change of changes) visit(change);
  return [...ordered, ...incomplete];
}

/** Each deletion behind those of types that refer to it. In a circle one of them first loses its references. */
function deletionsInOrder(deletions: readonly TypeChange[], inForce: ReadonlyMap<string, Schema>): TypeChange[] {
  const targetsOfName = new Map(deletions.map(({ name }) => [name, targetsOf(inForce.get(name) ?? {})]));
  const visited = new Set<string>();
  /** The names that refer to no other one any more, or are deleted. */
  const released = new Set<string>();
  const ordered: TypeChange[] = [];
  const visit = (change: TypeChange): void => {
    if (visited.has(change.name)) return;
    visited.add(change.name);
    const referring = deletions.filter(({ name }) => name !== change.name && targetsOfName.get(name)?.includes(change.name));
    for (const each of referring) visit(each);
    for (const each of referring.filter(({ name }) => !released.has(name))) {
      ordered.push(withoutReferences({ ...each, document: inForce.get(each.name) ?? {} }, targetsOfName.get(each.name) ?? []));
      released.add(each.name);
    }
    ordered.push(change);
    released.add(change.name);
  };
  for (const change of deletions) visit(change);
  return ordered;
}

function withoutReferences(change: TypeChange, targets: readonly string[]): TypeChange {
  const kept = referencesOf(change.document ?? {}).filter(({ to }) => !targets.includes(to));
  const references = Object.fromEntries(kept.map(({ field, ...reference }) => [field, reference]));
  const document: Schema = { ...change.document, 'x-references': references };
  return { ...change, document };
}
