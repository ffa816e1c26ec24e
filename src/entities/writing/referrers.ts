/** The types and entities that refer to an entity that is deleted. */
import { sql, type Kysely } from 'kysely';
import { readableCompanion, type Companion, type CompanionReference } from '../companion/layout.ts';
import type { Database } from '../../database/tables.ts';
import type { Permit } from '../../rights/permit.ts';
import { rowsOfPermit } from '../../rights/coverage.ts';
import { trashRetention } from '../retention.ts';

/** A declared type, and its fields that refer to entities of one name, which can be its own. */
export interface Referrer {
  name: string;
  revision: string;
  companion: Companion;
  /** How long its deleted entities stay in the trash, as an interval; null if they do not. */
  trashKeep: string | null;
  references: readonly CompanionReference[];
}

/** By name, the types in force that refer to entities of that name. It has `name`, and each name whose entities are deleted along with one called `name`. */
export async function referrersAlong(db: Kysely<Database>, name: string): Promise<ReadonlyMap<string, readonly Referrer[]>> {
  const along = new Map<string, readonly Referrer[]>();
  for (let names = [name]; names.length > 0;) {
    const found = await referrersOf(db, names);
    for (const [index, each] of names.entries()) along.set(each, found[index] ?? []);
    const cascading = found.flat().filter(({ references }) => references.some(({ onDelete }) => onDelete === 'cascade'));
    names = [...new Set(cascading.map((referrer) => referrer.name))].filter((each) => !along.has(each));
  }
  return along;
}

/** The types in force that refer to entities of each of the names. */
async function referrersOf(db: Kysely<Database>, names: readonly string[]): Promise<Referrer[][]> {
  const { rows } = await sql<Omit<Referrer, 'references' | 'trashKeep'> & { softDelete: unknown }>`
    select entity_type.name, entity_type.revision, companion, document -> 'x-soft-delete' as "softDelete"
    from entity_type join entity_type_revision using (revision)
    where exists (select from json_array_elements(companion -> 'references') as each (reference) where reference ->> 'to' = any(${names}))
    order by entity_type.name`.execute(db);
  return names.map((target) =>
    rows.flatMap(({ name, revision, companion, softDelete }): Referrer[] => {
      const references = referencesInForce(companion).filter(({ to }) => to === target);
      return references.length === 0 ? [] : [{ name, revision, companion, trashKeep: trashRetention(softDelete), references }];
    }),
  );
}

/** While a table is built, a new reference is in force as a foreign key only: the entity can neither be deleted nor changed by a rule of its type. */
function referencesInForce(companion: Companion): CompanionReference[] {
  const complete = readableCompanion(companion)?.references ?? [];
  return companion.references.map(
    (reference) => complete.find(({ name }) => name === reference.name) ?? { ...reference, onDelete: 'restrict' },
  );
}

/** The number of entities that the permit covers and that have one of the `keys`. */
export async function countReadable(db: Kysely<Database>, permit: Permit<'read'>, keys: readonly string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from entity
    where ${rowsOfPermit(permit)} and key = any(${keys}::bigint[])`.execute(db);
  return rows[0]?.count ?? 0;
}
