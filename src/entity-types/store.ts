/** The tables `entity_type` and `entity_type_revision`. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { Companion } from '../entities/companion/layout.ts';
import { ownCompanion } from '../entities/companion/own-names.ts';
import type { Schema } from './subschemas.ts';

/** The source that declared a type. */
export type TypeSource = Database['entity_type_revision']['source'];

/** A type in force, without its document. */
export interface TypeSummary {
  name: string;
  revision: string;
  source: TypeSource;
  appliedAt: Date;
  appliedBy: string;
}

export interface TypeRow extends TypeSummary {
  document: Schema;
}

/** While the first type of a name is being built, statements need a revision of the name. Its document accepts everything. */
const isPlaceholder = sql<boolean>`coalesce((entity_type_revision.plan->>'isPlaceholder')::boolean, false)`;

const stored = (db: Kysely<Database>) =>
  db
    .selectFrom('entity_type')
    .innerJoin('entity_type_revision', 'entity_type_revision.revision', 'entity_type.revision')
    .select(['entity_type.name', 'entity_type.revision', 'source', 'applied_at as appliedAt', 'applied_by as appliedBy']);

const inForce = (db: Kysely<Database>) => stored(db).where(isPlaceholder, '=', false);

/** All types in force, by name. */
export function listTypes(db: Kysely<Database>): Promise<TypeSummary[]> {
  return inForce(db).orderBy('entity_type.name').execute();
}

/** The documents of all types in force, by name. */
export async function listDocuments(db: Kysely<Database>): Promise<Map<string, Schema>> {
  const rows = await inForce(db)
    .select(sql<Schema>`entity_type_revision.document`.as('document'))
    .execute();
  return new Map(rows.map(({ name, document }) => [name, document]));
}

/** The type in force; undefined for a name without a type. */
export function findType(db: Kysely<Database>, name: string): Promise<TypeRow | undefined> {
  // A type in force has a document.
  const document = sql<Schema>`entity_type_revision.document`.as('document');
  return inForce(db).select(document).where('entity_type.name', '=', name).executeTakeFirst();
}

/** What is stored of a name, which a change of its type starts from. */
export interface StoredType {
  /** 0 for a name without a revision. */
  revision: string;
  /** The number of the name's companion table; undefined for a name without a revision. */
  id: number | undefined;
  /** The type in force; undefined for none, also while the first type of the name is being built. */
  type: TypeRow | undefined;
  companion: Companion | null;
  /** Whether entities of the name may not fit the type in force. Null in a backup whose schema does not say it. */
  mayBeUnfit: boolean | null;
}

/** What is stored of the type. For a name without a revision it is revision 0, without `id`, `type` and companion table. */
export async function findStoredType(db: Kysely<Database>, name: string): Promise<StoredType> {
  const row = await stored(db)
    .select([
      'entity_type.id',
      isPlaceholder.as('isPlaceholder'),
      sql<Schema>`entity_type_revision.document`.as('document'),
      sql<Companion | null>`entity_type_revision.companion`.as('companion'),
      // While a backup is restored, the schema may be that of before the column.
      sql<boolean | null>`(to_jsonb(entity_type_revision) -> 'may_be_unfit')::boolean`.as('mayBeUnfit'),
    ])
    .where('entity_type.name', '=', name)
    .executeTakeFirst();
  if (!row) return { revision: '0', id: undefined, type: undefined, companion: null, mayBeUnfit: false };
  const { id, isPlaceholder: isOpen, companion, mayBeUnfit, ...type } = row;
  return { revision: row.revision, id, type: isOpen ? undefined : type, companion: ownCompanion(companion, id), mayBeUnfit };
}

/** The names whose type is being built, or was when its process ended. */
export async function listBuilds(db: Kysely<Database>): Promise<string[]> {
  const rows = await stored(db)
    .where((where) => where.or([isPlaceholder, sql<boolean>`companion->>'state' = 'building'`]))
    .orderBy('entity_type.name')
    .execute();
  return rows.map(({ name }) => name);
}

/** The companion tables of all names that have one, as their revisions describe them. */
export async function listCompanions(db: Kysely<Database>): Promise<{ name: string; companion: Companion }[]> {
  const rows = await db
    .selectFrom('entity_type')
    .innerJoin('entity_type_revision', 'entity_type_revision.revision', 'entity_type.revision')
    .where('companion', 'is not', null)
    .orderBy('entity_type.id')
    .select(['entity_type.name', 'entity_type.id', sql<Companion>`companion`.as('companion')])
    .execute();
  return rows.map(({ name, id, companion }) => ({ name, companion: ownCompanion(companion, id) }));
}

/** The number of the companion table of each declared name, whether it has one or not. */
export function listTableNumbers(db: Kysely<Database>): Promise<{ name: string; id: number }[]> {
  return db.selectFrom('entity_type').select(['name', 'id']).orderBy('id').execute();
}

/** The revision of each declared name. */
export async function listRevisions(db: Kysely<Database>): Promise<Map<string, string>> {
  const rows = await db.selectFrom('entity_type').select(['name', 'revision']).execute();
  // A Map, since `constructor` is a valid name (rule 65).
  return new Map(rows.map(({ name, revision }) => [name, revision]));
}

/** The revision of the type of a name; 0 for a name without a type. */
export async function findCurrentRevision(db: Kysely<Database>, name: string): Promise<string> {
  const row = await db.selectFrom('entity_type').where('name', '=', name).select('revision').executeTakeFirst();
  return row?.revision ?? '0';
}

/** The fields that the documents of these revisions call sensitive; none for a deletion. */
export async function listSensitiveFields(db: Kysely<Database>, revisions: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await db
    .selectFrom('entity_type_revision')
    .where('revision', '=', sql<string>`any(${revisions}::bigint[])`)
    .select([
      'revision',
      sql<string[]>`array(
        select key from json_each(case when json_typeof(document -> 'properties') = 'object' then document -> 'properties' end)
        where value ->> 'x-sensitive' = 'true')`.as('fields'),
    ])
    .execute();
  return new Map(rows.map(({ revision, fields }) => [revision, fields]));
}

/** The documents of these revisions as JSON text. */
export async function findDocuments(db: Kysely<Database>, revisions: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('entity_type_revision')
    .where('revision', '=', sql<string>`any(${revisions}::bigint[])`)
    .where('document', 'is not', null)
    .select(['revision', sql<string>`document::text`.as('document')])
    .execute();
  return new Map(rows.map(({ revision, document }) => [revision, document]));
}

export interface Revision {
  name: string;
  document: Schema;
  source: TypeSource;
  /** Null: the type has no rules that need a companion table. */
  companion: Companion | null;
  /** Whether the first type of the name was being built, which has none yet. */
  isPlaceholder: boolean;
  /** Whether entities of the name may not fit the document. */
  mayBeUnfit: boolean;
}

/** What a revision is, in force or not; undefined for a deletion. */
export async function findRevision(db: Kysely<Database>, revision: string): Promise<Revision | undefined> {
  const row = await db
    .selectFrom('entity_type_revision')
    .where('revision', '=', revision)
    .where('document', 'is not', null)
    .select([
      'name',
      sql<Schema>`document`.as('document'),
      'source',
      sql<Companion | null>`companion`.as('companion'),
      isPlaceholder.as('isPlaceholder'),
      'may_be_unfit as mayBeUnfit',
    ])
    .executeTakeFirst();
  return row;
}

export interface NewRevision {
  name: string;
  /** Null to delete the type. */
  document: Schema | null;
  source: TypeSource;
  plan: unknown;
  /** Whether entities of the name may not fit the document. Null: the schema does not say it yet. */
  mayBeUnfit: boolean | null;
  appliedBy: string;
  companion?: Companion | null;
  /** Of {@link drawId}, for a name without a revision and with a companion table. */
  id?: number | undefined;
}

/** A number for the companion table of a name that has no revision yet. */
export async function drawId(trx: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval(pg_get_serial_sequence('entity_type', 'id'))::int as id`.execute(trx);
  return rows[0]?.id ?? 0;
}

/**
 * Locks the types against all changes and waits until no statement that writes entities is under way. Such statements wait until the end
 * of the transaction, so it must be short. Throws 55P03 (`lock_timeout`) after half a second.
 */
export async function lockTypes(trx: Kysely<Database>): Promise<void> {
  await sql`set local lock_timeout = '500ms'`.execute(trx);
  await sql`lock table entity_type in exclusive mode`.execute(trx);
}

/** Puts the document in force, or deletes the type; call it after {@link lockTypes}. Returns the new revision. */
export async function insertRevision(
  trx: Kysely<Database>,
  { name, document, source, plan, mayBeUnfit, appliedBy, companion = null, id }: NewRevision,
): Promise<{ revision: string; appliedAt: Date }> {
  const row = await trx
    .insertInto('entity_type_revision')
    .values({
      name,
      document: document && JSON.stringify(document),
      source,
      plan: JSON.stringify(plan),
      ...(mayBeUnfit !== null && { may_be_unfit: mayBeUnfit }),
      applied_by: appliedBy,
      companion: companion && JSON.stringify(companion),
    })
    .returning(['revision', 'applied_at as appliedAt'])
    .executeTakeFirstOrThrow();
  const { revision } = row;
  if (document === null) await trx.deleteFrom('entity_type').where('name', '=', name).execute();
  else
    await sql`
      insert into entity_type (name, revision, id) overriding system value values (${name}, ${revision}, ${id ?? sql`default`})
      on conflict (name) do update set revision = excluded.revision`.execute(trx);
  return row;
}
