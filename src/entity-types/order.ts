/** The order in which changes of several types can be carried out, since a type refers to declared names only. */
import type { RuleKeywords } from '../companion/rules.ts';
import type { TypeChange } from './plan.ts';
import { targetsOf } from './references.ts';
import type { Schema } from './subschemas.ts';

/**
 * The changes in an order in which each refers to names that are declared by then. Types that refer to each other are first declared without these references, and lose
 * them before they are deleted. Deletions come last, each after those of types that refer to it. `inForce` has the documents of all declared names.
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

function declarationsInOrder(changes: readonly TypeChange[], inForce: ReadonlyMap<string, Schema>): TypeChange[] {
  const ordered: TypeChange[] = [];
  let waiting = changes;
  // Other names are not declared at all, which the change itself tells.
  const open = new Set(changes.map(({ name }) => name).filter((name) => !inForce.has(name)));
  const openTargets = ({ name, document }: TypeChange) => targetsOf(document ?? {}).filter((to) => to !== name && open.has(to));
  while (waiting.length > 0) {
    const ready = waiting.filter((change) => openTargets(change).length === 0);
    const [first] = waiting;
    if (ready.length === 0 && first) {
      ordered.push(withoutReferences(first, openTargets(first)));
      open.delete(first.name);
    }
    ordered.push(...ready);
    for (const { name } of ready) open.delete(name);
    waiting = waiting.filter((change) => !ready.includes(change));
  }
  return ordered;
}

function deletionsInOrder(deletions: readonly TypeChange[], inForce: ReadonlyMap<string, Schema>): TypeChange[] {
  const ordered: TypeChange[] = [];
  /** Types that do not refer to others any more. */
  const released = new Set<string>();
  let waiting = deletions;
  while (waiting.length > 0) {
    const targets = (name: string) => (released.has(name) ? [] : targetsOf(inForce.get(name) ?? {}));
    const ready = waiting.filter(({ name }) => !waiting.some((other) => other.name !== name && targets(other.name).includes(name)));
    const [first] = waiting;
    if (ready.length === 0 && first) {
      ordered.push(withoutReferences({ ...first, document: inForce.get(first.name) ?? {} }, targets(first.name)));
      released.add(first.name);
    }
    ordered.push(...ready);
    waiting = waiting.filter((change) => !ready.includes(change));
  }
  return ordered;
}

function withoutReferences(change: TypeChange, targets: readonly string[]): TypeChange {
  const { 'x-references': references = {} }: RuleKeywords = change.document ?? {};
  const kept = Object.entries(references).filter(([, { to }]) => !targets.includes(to));
  const document: Schema = { ...change.document, 'x-references': Object.fromEntries(kept) };
  return { ...change, document };
}
