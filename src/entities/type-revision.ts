/**
 * The condition under which every statement that changes entities does so: the type of the name is still the one that the process has checked
 * (decision 118).
 */
import { sql, type RawBuilder } from 'kysely';
import { builder, prepare } from '../database/driver/prepared.ts';
import type { Statements } from '../database/port.ts';

/** SQL: the revision of the type of entities called `name`; 0 for a name without a type. */
export const typeRevision = (name: RawBuilder<unknown>) =>
  sql<string>`coalesce((select entity_type.revision from entity_type where entity_type.name = ${name}), 0)`;

/**
 * SQL: whether `revision` is that of the type when the statement is committed. The second half locks no row, but the table, in ROW SHARE mode: a
 * change of types, which locks it in EXCLUSIVE mode, either waits for this transaction, or was committed before PostgreSQL took the snapshot of the
 * statement. PostgreSQL takes it after it has locked all tables of the statement.
 */
export const typeIsCurrent = (name: RawBuilder<unknown>, revision: RawBuilder<unknown>) =>
  sql<boolean>`${typeRevision(name)} = ${revision}::bigint and not exists (select from entity_type where false for key share)`;

const findTypeRevision = prepare<{ name: string }, { typeRevision: string }>('entity.type-revision', (value) =>
  builder.selectNoFrom(typeRevision(value('name')).as('typeRevision')).compile(),
);

/** Whether the type of entities called `name` has this revision now; 0 is that of a name without a type. */
export async function typeHasRevision(store: Statements, name: string, revision: string): Promise<boolean> {
  const [row] = await store.run(findTypeRevision, { name });
  return row?.typeRevision === revision;
}
