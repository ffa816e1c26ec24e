/** Drops what companion tables have beyond their layouts, after a change of a type. */
import { setTimeout as delay } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import { inTransaction, lockWasNotHad } from '../database/failure.ts';
import type { Database } from '../database/tables.ts';
import { companionSchema, presentTable } from './catalogue.ts';
import type { Companion } from './layout.ts';
import { dropTable, inSchema, statisticsOf, wantedIndexes } from './table.ts';

/** After so many attempts surplus columns and tables stay until the next one. */
const lockAttempts = 10;

/** Drops the foreign keys and the unique indexes that the table has beyond this layout: they would refuse writes. */
export async function dropSurplusRules(trx: Kysely<Database>, companion: Companion): Promise<void> {
  const surplus = await surplusOf(trx, companion);
  if (!surplus) return;
  const constraints = surplus.references.map((name) => sql`drop constraint ${sql.id(name)}`);
  if (constraints.length > 0) await sql`alter table ${inSchema(companion.table)} ${sql.join(constraints)}`.execute(trx);
  const uniques = surplus.indexes.filter((name) => name.startsWith(`${companion.table}_u`)).map(inSchema);
  if (uniques.length > 0) await sql`drop index if exists ${sql.join(uniques)}`.execute(trx);
}

/** Whether the table has indexes, statistics or columns beyond this layout. */
export async function hasSurplus(db: Kysely<Database>, companion: Companion): Promise<boolean> {
  const surplus = await surplusOf(db, companion);
  return surplus !== undefined && [surplus.indexes, surplus.statistics, surplus.columns].some((names) => names.length > 0);
}

/**
 * Drops the indexes, statistics and columns that the table has beyond this layout, while rows are written. They refuse nothing, so after an interruption the next
 * change drops them. `db` must be in no transaction and without limits of time.
 */
export async function dropSurplus(db: Kysely<Database>, companion: Companion): Promise<void> {
  const surplus = await surplusOf(db, companion);
  for (const name of surplus?.statistics ?? []) await sql`drop statistics if exists ${inSchema(name)}`.execute(db);
  for (const name of surplus?.indexes ?? []) await sql`drop index concurrently if exists ${inSchema(name)}`.execute(db);
  const columns = surplus?.columns.map((name) => sql`drop column ${sql.id(name)}`) ?? [];
  if (columns.length === 0) return;
  await whenUnused(db, (trx) => sql`alter table ${inSchema(companion.table)} ${sql.join(columns)}`.execute(trx));
}

/** Runs `work`, which no statement on a table of the companion schema may hold up for long, since others would wait behind it. */
async function whenUnused(db: Kysely<Database>, work: (trx: Kysely<Database>) => Promise<unknown>): Promise<void> {
  for (let attempt = 1; attempt <= lockAttempts; attempt++) {
    try {
      await inTransaction(db, async (trx) => {
        await sql`set local lock_timeout = '100ms'`.execute(trx);
        await work(trx);
      });
      return;
    } catch (error) {
      if (!lockWasNotHad(error)) throw error;
      await delay(Math.random() * 200);
    }
  }
}

async function surplusOf(db: Kysely<Database>, companion: Companion) {
  const { table, columns, references, search } = companion;
  const present = await presentTable(db, table);
  if (!present) return undefined;
  const beyond = (names: Iterable<string>, wanted: readonly { name: string }[]) =>
    [...names].filter((name) => !wanted.some((each) => each.name === name));
  return {
    references: beyond(present.references.keys(), references),
    columns: beyond(present.columns, [...columns, { name: 'key' }, ...(search ? [{ name: 'search' }] : [])]),
    statistics: beyond(present.statistics, statisticsOf(companion)),
    indexes: beyond(present.indexes.keys(), wantedIndexes(companion)),
  };
}

/** Drops the tables of types that are gone: the service drops them after the change that deletes the type, and may have ended in between. */
export async function dropOrphanTables(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = ${companionSchema}::regnamespace and relkind = 'r' and relname ~ '^x[0-9]+$' and pg_has_role(relowner, 'usage')
      and not exists (select from entity_type where relname = 'x' || entity_type.id)`.execute(db);
  for (const { name } of rows) await whenUnused(db, (trx) => dropTable(trx, name));
}
