/**
 * Creates, changes and drops companion tables. Each function compares what there should be with what PostgreSQL has, and makes the difference. So it
 * can run again after an interruption.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { companionSchema, listTables, presentTable, type PresentTable } from './catalogue.ts';
import { Problem } from '../../problems/errors.ts';
import { columnType } from './columns.ts';
import type { Companion, CompanionReference } from './layout.ts';
import { ensureTrigrams } from './trigrams.ts';

/** PostgreSQL allows 1,600 columns, and counts those that were dropped. */
const maximumColumns = 1_500;

/** SQL: the name of a table or an index, with the schema. */
export const inSchema = (name: string): RawBuilder<unknown> => sql.id(companionSchema, name);

/**
 * Creates the table unless it is there, and adds the columns that it lacks. They are SQL null in all rows. Call it in a transaction. Throws 409
 * `type-conflict` when the table has had too many columns: the type must be deleted and declared again.
 */
export async function ensureColumns(trx: Kysely<Database>, companion: Companion): Promise<void> {
  const { table } = companion;
  let present = await presentTable(trx, table);
  if (!present) {
    await sql`create table ${inSchema(table)} (key bigint primary key)`.execute(trx);
    await giveToService(trx, table);
    present = await presentTable(trx, table);
  }
  const additions = additionsTo(present, companion);
  if (additions.length > 0) await sql`alter table ${inSchema(table)} ${sql.join(additions)}`.execute(trx);
}

/** Throws as {@link ensureColumns} does if the table, as it is now, has had too many columns. */
export async function assertColumnRoom(db: Kysely<Database>, companion: Companion): Promise<void> {
  additionsTo(await presentTable(db, companion.table), companion);
}

/** SQL: the additions of the columns that the table lacks. */
function additionsTo(present: PresentTable | undefined, { columns, search }: Companion): RawBuilder<unknown>[] {
  const additions = columns
    .filter(({ name }) => !present?.columns.has(name))
    .map((column) => sql`add column ${sql.ref(column.name)} ${columnType(column)}`);
  if (search && !present?.columns.has('search')) additions.push(sql`add column search tsvector`);
  if (present && additions.length > 0 && present.used + additions.length > maximumColumns)
    throw new Problem('type-conflict', { faults: [{ pointer: '', code: 'too-many-values', values: { limit: maximumColumns } }] });
  return additions;
}

/** Creates the table anew. An earlier one of the type, which nothing uses, may still be there. */
export async function createTable(trx: Kysely<Database>, companion: Companion): Promise<void> {
  await dropTable(trx, companion.table);
  await ensureColumns(trx, companion);
}

/**
 * The companion tables that the role of this connection may not change, so that writes of their types fail. They belong to the owner of the schema
 * after a restore, a copy, or a change to two roles, until docs/application-role.sql has run.
 */
export async function listForeignTables(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = ${companionSchema}::regnamespace and relkind = 'r' and relname ~ '^x[0-9]+$' and not pg_has_role(relowner, 'usage')
    order by oid`.execute(db);
  return rows.map(({ name }) => name);
}

/** For the operator: what is wrong with these tables, and the remedy. */
export const foreignTablesAdvice = (tables: readonly string[]) =>
  `tables of entity types belong to another role (${companionSchema}.${tables.join(`, ${companionSchema}.`)}): run docs/application-role.sql as the owner of the tables`;

/** With two roles the command may run as the owner of the schema. The service, whose role may create tables there, has to change the table too. */
async function giveToService(trx: Kysely<Database>, table: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select rolname as name from pg_namespace cross join aclexplode(nspacl) as granted join pg_roles on pg_roles.oid = grantee
    where nspname = ${companionSchema} and privilege_type = 'CREATE' and grantee <> nspowner and rolname <> current_user
    order by rolname limit 1`.execute(trx);
  const [service] = rows;
  if (service) await sql`alter table ${inSchema(table)} owner to ${sql.id(service.name)}`.execute(trx);
}

export interface WantedIndex {
  name: string;
  /** The part of the statement after `create`, up to the name; and the part from the columns on. */
  kind: RawBuilder<unknown>;
  on: RawBuilder<unknown>;
}

/** The indexes of this layout. `schema` is that of the extension for parts of texts. */
export function wantedIndexes({ table, indexes, uniques, substrings, search }: Companion, schema = ''): WantedIndex[] {
  const term = (name: string, descending: boolean) => (descending ? sql`${sql.ref(name)} desc` : sql.ref(name));
  return [
    ...uniques.map(({ name, columns }) => ({
      name,
      kind: sql`unique index`,
      on: sql`(${sql.join(columns.map((column) => sql.ref(column)))})`,
    })),
    ...indexes.map(({ name, columns }) => ({
      name,
      kind: sql`index`,
      on: sql`(${sql.join([...columns, { name: 'key', descending: columns.at(-1)?.descending === true }].map((each) => term(each.name, each.descending)))})`,
    })),
    ...substrings.map(({ name, column }) => ({
      name,
      kind: sql`index`,
      on: sql`using gin (${sql.ref(column)} ${sql.id(schema, 'gin_trgm_ops')})`,
    })),
    ...(search ? [{ name: `${table}_search`, kind: sql`index`, on: sql`using gin (search)` }] : []),
  ];
}

/**
 * Creates the indexes that the table lacks, and calls `onIndex` before each. With `online` it does so while rows are written; then `db` must be in no transaction and without limits of time.
 * Throws a unique violation that names the index if rows share values.
 */
export async function ensureIndexes(
  db: Kysely<Database>,
  companion: Companion,
  online: boolean,
  onIndex: (done: number, total: number) => void = () => undefined,
): Promise<void> {
  const present = await presentTable(db, companion.table);
  const schema = companion.substrings.length > 0 ? await ensureTrigrams(db) : undefined;
  const missing = wantedIndexes(companion, schema).filter(({ name }) => present?.indexes.get(name) !== true);
  const concurrently = online ? sql`concurrently ` : sql``;
  for (const [done, { name, kind, on }] of missing.entries()) {
    onIndex(done, missing.length);
    if (present?.indexes.has(name)) await sql`drop index ${concurrently}${inSchema(name)}`.execute(db);
    await sql`create ${kind} ${concurrently}${sql.id(name)} on ${inSchema(companion.table)} ${on}`.execute(db);
  }
  onIndex(missing.length, missing.length);
}

/** The indexes that the table lacks, or that are invalid. */
export async function missingIndexes(db: Kysely<Database>, companion: Companion): Promise<string[]> {
  const present = await presentTable(db, companion.table);
  return wantedIndexes(companion)
    .map(({ name }) => name)
    .filter((name) => present?.indexes.get(name) !== true);
}

/** The foreign keys that the table lacks. */
export async function missingReferences(db: Kysely<Database>, { table, references }: Companion): Promise<string[]> {
  const present = await presentTable(db, table);
  return references.map(({ name }) => name).filter((name) => present?.references.has(name) !== true);
}

/** Adds the foreign keys that the table of `name` lacks. They hold for new rows. The referenced names must have companion tables. */
export async function ensureReferences(trx: Kysely<Database>, name: string, { table, references }: Companion): Promise<void> {
  const present = await presentTable(trx, table);
  for (const reference of references.filter((each) => present?.references.has(each.name) === false))
    await sql`
      alter table ${inSchema(table)} add constraint ${sql.id(reference.name)} foreign key (${sql.ref(reference.column)})
      references ${inSchema(reference.to === name ? table : await tableOfName(trx, reference))} (key) deferrable initially immediate not valid`.execute(
      trx,
    );
}

/** The companion table of the referenced name. */
async function tableOfName(db: Kysely<Database>, { to }: CompanionReference): Promise<string> {
  const { id } = await db.selectFrom('entity_type').where('name', '=', to).select('id').executeTakeFirstOrThrow();
  return `x${id}`;
}

/** Checks the rows that were there before their foreign keys. Throws a foreign key violation that names the constraint. */
export async function validateReferences(db: Kysely<Database>, { table }: Companion): Promise<void> {
  const present = await presentTable(db, table);
  for (const [name, isValid] of present?.references ?? [])
    if (!isValid) await sql`alter table ${inSchema(table)} validate constraint ${sql.id(name)}`.execute(db);
}

/** The extended statistics that a table of this layout has. */
export const statisticsOf = ({ indexes }: Companion) =>
  indexes.filter(({ columns }) => columns.length > 1).map(({ name, columns }) => ({ name: `${name}_s`, columns }));

/** Gathers the statistics of the planner, also of columns that are indexed together: they may depend on each other. */
export async function gatherStatistics(db: Kysely<Database>, companion: Companion): Promise<void> {
  const table = inSchema(companion.table);
  const present = await presentTable(db, companion.table);
  for (const { name, columns } of statisticsOf(companion).filter(({ name }) => present?.statistics.has(name) === false))
    await createStatistics(db, companion.table, name, columns);
  await sql`analyze ${table}`.execute(db);
}

/** The statistics belong to the owner of the table, who may be another role. */
async function createStatistics(db: Kysely<Database>, table: string, name: string, columns: readonly { name: string }[]): Promise<void> {
  await sql`create statistics ${inSchema(name)} (mcv) on ${sql.join(columns.map((column) => sql.ref(column.name)))} from ${inSchema(table)}`.execute(
    db,
  );
  const { rows } = await sql<{ owner: string }>`
    select rolname as owner from pg_class join pg_roles on pg_roles.oid = relowner
    where relnamespace = ${companionSchema}::regnamespace and relname = ${table} and rolname <> current_user`.execute(db);
  const [other] = rows;
  if (other) await sql`alter statistics ${inSchema(name)} owner to ${sql.id(other.owner)}`.execute(db);
}

/** Drops the table. Throws if another table refers to it. */
export async function dropTable(trx: Kysely<Database>, table: string): Promise<void> {
  await sql`drop table if exists ${inSchema(table)}`.execute(trx);
}

/** Drops all companion tables. */
export async function dropAllTables(trx: Kysely<Database>): Promise<void> {
  for (const table of await listTables(trx)) await sql`drop table ${inSchema(table)} cascade`.execute(trx);
}
