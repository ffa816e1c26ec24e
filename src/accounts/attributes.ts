/** The declared attributes of users and profiles in the database, and the values that users and profiles have of one. */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';
import { readAttributeType, type AttributeType, type DeclaredTypes } from '../rights/attribute-types.ts';
import { variablesIn } from '../rights/rule-document.ts';
import type { AttributeOwner } from '../rights/vocabulary.ts';

/** A declaration as administrators see it. */
export interface AttributeState {
  owner: AttributeOwner;
  name: string;
  /** A JSON Schema, as it was given. */
  schema: unknown;
}

export type DeclaredAttributes = Readonly<Record<AttributeOwner, DeclaredTypes>>;

/** All declarations, those for users first, by name. */
export function listAttributes(db: Kysely<Database>): Promise<AttributeState[]> {
  return db.selectFrom('attribute').select(['owner', 'name', 'schema']).orderBy('owner', 'desc').orderBy('name').execute();
}

/** The declared types of each owner. A declaration that this version cannot read is left out. */
export async function readDeclaredAttributes(db: Kysely<Database>): Promise<DeclaredAttributes> {
  const declared = { user: new Map<string, AttributeType>(), profile: new Map<string, AttributeType>() };
  for (const { owner, name, schema } of await listAttributes(db)) {
    const type = readAttributeType(schema);
    if ('scalar' in type) declared[owner].set(name, type);
  }
  return declared;
}

/** The declared types of those of `names` that are declared. None of them is removed before the transaction ends. */
export async function lockDeclaredTypes(
  trx: Transaction<Database>,
  owner: AttributeOwner,
  names: readonly string[],
): Promise<DeclaredTypes> {
  if (names.length === 0) return new Map();
  const rows = await trx
    .selectFrom('attribute')
    .where('owner', '=', owner)
    .where('name', 'in', names)
    .select(['name', 'schema'])
    .orderBy('name')
    .forKeyShare()
    .execute();
  return new Map(
    rows.flatMap(({ name, schema }) => {
      const type = readAttributeType(schema);
      return 'scalar' in type ? [[name, type]] : [];
    }),
  );
}

/** Declares the attribute, or declares it anew. Returns the declaration before, which is undefined for a new one. */
export async function upsertAttribute(trx: Transaction<Database>, { owner, name, schema }: AttributeState): Promise<unknown> {
  const row = await trx
    .selectFrom('attribute')
    .where('owner', '=', owner)
    .where('name', '=', name)
    .select('schema')
    .forNoKeyUpdate()
    .executeTakeFirst();
  const text = JSON.stringify(schema);
  if (JSON.stringify(row?.schema) === text) return row?.schema;
  await trx
    .insertInto('attribute')
    .values({ owner, name, schema: text })
    .onConflict((conflict) => conflict.columns(['owner', 'name']).doUpdateSet({ schema: text }))
    .execute();
  return row?.schema;
}

/** Deletes the declaration. Throws 404 `not-found` if there is none. */
export async function deleteAttribute(trx: Transaction<Database>, owner: AttributeOwner, name: string): Promise<void> {
  await trx
    .deleteFrom('attribute')
    .where('owner', '=', owner)
    .where('name', '=', name)
    .returning('name')
    .executeTakeFirstOrThrow(() => new Problem('not-found', { faults: [{ code: 'absent', values: { attribute: name, of: owner } }] }));
}

/** The names of the roles with a rule that uses the attribute, in their order. */
export async function listRolesUsing(db: Kysely<Database>, owner: AttributeOwner, name: string): Promise<string[]> {
  const rows = await db
    .selectFrom('role_grant')
    .innerJoin('role', 'role.id', 'role_id')
    .innerJoin('grant_rule', 'digest', 'condition')
    .select(['role.name as role', 'document'])
    .orderBy('role.name')
    .execute();
  return [...new Set(rows.flatMap(({ role, document }) => (variablesIn(document).has(`${owner}.${name}`) ? [role] : [])))];
}

const tables = { user: sql.table('user_account'), profile: sql.table('profile') } as const;

/** The values that users or profiles have of the attribute. */
export async function listValues(db: Kysely<Database>, owner: AttributeOwner, name: string): Promise<unknown[]> {
  const { rows } = await sql<{ value: unknown }>`
    select attributes -> ${name}::text as value from ${tables[owner]} where attributes ? ${name}`.execute(db);
  return rows.map(({ value }) => value);
}

/** Takes the values of the attribute from all users or profiles; returns their number. */
export async function deleteValues(trx: Transaction<Database>, owner: AttributeOwner, name: string): Promise<number> {
  const { numAffectedRows } = await sql`
    update ${tables[owner]} set attributes = attributes - ${name}::text where attributes ? ${name}`.execute(trx);
  return Number(numAffectedRows ?? 0);
}
