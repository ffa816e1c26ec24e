/** Documents of types as an earlier version stored them. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../../src/database/tables.ts';
import type { TypeSource } from '../../src/entity-types/store.ts';

/** Brings a document into force for a declared name without any check. A process that has read the type before does not notice it. */
export async function storeDocument(db: Kysely<Database>, name: string, document: object, source: TypeSource): Promise<void> {
  await sql`
    with revision as (
      insert into entity_type_revision (name, document, source, plan, applied_by)
      values (${name}, ${JSON.stringify(document)}, ${source}, '{}', 'ada') returning revision
    )
    update entity_type set revision = (select revision from revision) where name = ${name}`.execute(db);
}
