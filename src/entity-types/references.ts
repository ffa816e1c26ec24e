/** How types refer to each other: whether the targets are declared, and how far a deletion cascades. */
import type { Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';
import type { Fault } from '../problems/faults.ts';
import { pointerTo } from '../problems/pointer.ts';
import type { TypeChange } from './plan.ts';
import { listCompanions, listTypes } from './store.ts';
import { isSchemaObject, type Schema } from './subschemas.ts';

/** The most types in a row whose entities one deletion reaches, beyond the first. */
const maximumCascades = 4;

/** The entities called `from` refer to those called `to`. */
interface TypeReference {
  from: string;
  to: string;
  onDelete: string;
}

/**
 * The faults of the references in the document of a change: 422 at those whose target is not declared, and at cascades that come back to
 * where they began or reach more than four types. `planned` has the documents of changes that are carried out together with this one.
 */
export async function faultsOfReferences(
  db: Kysely<Database>,
  { name, document }: TypeChange,
  planned: ReadonlyMap<string, Schema | null> = new Map(),
): Promise<Fault[]> {
  if (document === null) return [];
  const own = referencesOf(document);
  if (own.length === 0) return [];
  const declared = new Set([...(await listTypes(db)).map((type) => type.name), name]);
  for (const [other, plannedDocument] of planned) if (plannedDocument !== null) declared.add(other);
  const others = (await listReferences(db)).filter(({ from }) => from !== name && !planned.has(from));
  for (const [from, plannedDocument] of planned)
    if (from !== name && plannedDocument) others.push(...referencesOf(plannedDocument).map(({ to, onDelete }) => ({ from, to, onDelete })));
  const cascades = [...others, ...own.map(({ to, onDelete }) => ({ from: name, to, onDelete }))].filter(
    ({ onDelete }) => onDelete === 'cascade',
  );
  return own.flatMap(({ field, to, onDelete }): Fault[] => {
    if (!declared.has(to)) return [{ pointer: pointerTo(['x-references', field, 'to']), code: 'reference-not-found' }];
    if (onDelete !== 'cascade') return [];
    if (comesBack(cascades, name)) return [{ pointer: pointerTo(['x-references', field, 'onDelete']), code: 'not-supported' }];
    // The deletion of a `to` deletes entities of this type, and so on; further types above `to` make the way longer.
    const steps = 1 + longestWay(cascades, name, 'down') + longestWay(cascades, to, 'up');
    return steps <= maximumCascades
      ? []
      : [{ pointer: pointerTo(['x-references', field, 'onDelete']), code: 'too-deep', values: { limit: maximumCascades } }];
  });
}

/** Throws 409 `type-conflict` if other types refer to entities called `name`, with those names for which `mayName` is true. */
export async function assertNotReferenced(db: Kysely<Database>, name: string, mayName: (name: string) => boolean): Promise<void> {
  const names = new Set((await listReferences(db)).filter(({ from, to }) => to === name && from !== name).map(({ from }) => from));
  if (names.size === 0) return;
  const types = [...names].filter(mayName).join(', ');
  throw new Problem('type-conflict', { faults: [{ pointer: '', code: 'referenced', values: types === '' ? {} : { types } }] });
}

/** The names of the entities that those of the document refer to. */
export function targetsOf(document: Schema): string[] {
  return [...new Set(referencesOf(document).map(({ to }) => to))];
}

/** The references of the document, those of a stored one as far as it names what they lead to. */
export function referencesOf({ 'x-references': references }: Schema): (Omit<TypeReference, 'from'> & { field: string })[] {
  return Object.entries(isSchemaObject(references) ? references : {}).flatMap(([field, reference]) => {
    const { to, onDelete = 'restrict' } = isSchemaObject(reference) ? reference : {};
    return typeof to === 'string' ? [{ field, to, onDelete: String(onDelete) }] : [];
  });
}

async function listReferences(db: Kysely<Database>): Promise<TypeReference[]> {
  const tables = await listCompanions(db);
  return tables.flatMap(({ name, companion }) => companion.references.map(({ to, onDelete }) => ({ from: name, to, onDelete })));
}

/** Whether the deletion of an entity called `name` deletes further ones with that name. */
function comesBack(cascades: readonly TypeReference[], name: string): boolean {
  const reached = new Set<string>();
  const follow = (target: string): void => {
    for (const { from } of cascades.filter(({ to }) => to === target)) {
      if (reached.has(from)) continue;
      reached.add(from);
      follow(from);
    }
  };
  follow(name);
  return reached.has(name);
}

/** The number of cascades one after the other from `start`, towards the entities that are deleted too or back; Infinity in a circle. */
function longestWay(cascades: readonly TypeReference[], start: string, way: 'down' | 'up', passed: readonly string[] = []): number {
  if (passed.includes(start)) return Infinity;
  const next = cascades.flatMap(({ from, to }) => (way === 'down' ? (to === start ? [from] : []) : from === start ? [to] : []));
  // A way of more than four cascades is refused, so none of these takes long.
  return passed.length > maximumCascades
    ? Infinity
    : Math.max(0, ...next.map((each) => 1 + longestWay(cascades, each, way, [...passed, start])));
}
