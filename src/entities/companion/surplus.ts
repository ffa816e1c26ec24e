/** Drops what companion tables have beyond their layouts, after a change of a type. It refuses nothing, so it may stay for a while. */
import { setTimeout as delay } from 'node:timers/promises';
import { sql, type Kysely, type Transaction } from 'kysely';
import { inTransaction, lockWasNotHad } from '../../database/failure.ts';
import type { Database } from '../../database/tables.ts';
import { companionSchema, presentTable, type PresentTable } from './catalogue.ts';
import type { Companion } from './layout.ts';
import { dropTable, inSchema, statisticsOf, wantedIndexes } from './table.ts';

/** After so many attempts surplus columns and tables stay until the next run. */
const lockAttempts = 10;
/** A lock that others hold for long is waited for no longer, since statements of others would wait behind. */
const lockLimit = sql`set local lock_timeout = '100ms'`;

/** Drops the foreign keys and the unique indexes that the table has beyond this layout: they would refuse writes. */
export async function dropSurplusRules(trx: Kysely<Database>, companion: Companion): Promise<void> {
  const surplus = await surplusOf(trx, companion);
  if (!surplus) return;
  const constraints = surplus.references.map((name) => sql`drop constraint ${sql.id(name)}`);
  if (constraints.length > 0) await sql`alter table ${inSchema(companion.table)} ${sql.join(constraints)}`.execute(trx);
  const uniques = surplus.indexes.filter((name) => name.startsWith(`${companion.table}_u`)).map(inSchema);
  if (uniques.length > 0) await sql`drop index if exists ${sql.join(uniques)}`.execute(trx);
}

/**
 * Ends the references of a table whose rows no write of an entity keeps up to date any more, so that they keep no entity from being deleted: drops the foreign keys,
 * or deletes the rows if another transaction uses a table. Call it with a short limit for locks.
 */
export async function endReferences(trx: Kysely<Database>, table: string): Promise<void> {
  const names = [...((await presentTable(trx, table))?.references.keys() ?? [])];
  if (names.length === 0) return;
  await sql`savepoint references_there`.execute(trx);
  try {
    await sql`alter table ${inSchema(table)} ${sql.join(names.map((name) => sql`drop constraint ${sql.id(name)}`))}`.execute(trx);
  } catch (error) {
    if (!lockWasNotHad(error)) throw error;
    await sql`rollback to savepoint references_there`.execute(trx);
    await sql`delete from ${inSchema(table)}`.execute(trx);
  }
}

/** The parts of a table beyond its layout. */
export interface Surplus {
  /** The indexes, by the names that {@link retireSurplus} has given them. */
  indexes: readonly string[];
  /** Whether there are statistics or columns. */
  hasMore: boolean;
}

/** The names that {@link retireSurplus} gives: no layout has them, whatever the type becomes. */
const retiredName = (table: string, index: string, revision: string) => `${table}_retired${revision}_${index.slice(table.length + 1)}`;
const isRetired = (table: string, index: string) => index.startsWith(`${table}_retired`);

/**
 * Renames the indexes that the table has beyond the layout of `revision`, so that {@link dropRetired} meets no index of a later layout. Call it while the type
 * cannot change. Throws 55P03 if another statement has an index.
 */
export async function retireSurplus(trx: Kysely<Database>, companion: Companion, revision: string): Promise<Surplus> {
  const surplus = await surplusOf(trx, companion);
  if (!surplus) return { indexes: [], hasMore: false };
  const { table } = companion;
  await lockLimit.execute(trx);
  const indexes: string[] = [];
  for (const name of surplus.indexes) {
    const retired = isRetired(table, name) ? name : retiredName(table, name, revision);
    if (retired !== name) await sql`alter index ${inSchema(name)} rename to ${sql.id(retired)}`.execute(trx);
    indexes.push(retired);
  }
  return { indexes, hasMore: surplus.statistics.length + surplus.columns.length > 0 };
}

/**
 * Drops retired indexes while rows are written. Throws 55P03 if a transaction that uses the table lasts longer than a second; the index then refuses no write. `db`
 * must be in no transaction and without limits of time.
 */
export async function dropRetired(db: Kysely<Database>, indexes: readonly string[]): Promise<void> {
  await sql`set lock_timeout = '1s'`.execute(db);
  for (const name of indexes) await sql`drop index concurrently if exists ${inSchema(name)}`.execute(db);
}

/** Drops the statistics and columns that the table has beyond this layout. Call it while the type cannot change, from {@link whenUnused}. */
export async function dropSurplusColumns(trx: Kysely<Database>, companion: Companion): Promise<void> {
  const surplus = await surplusOf(trx, companion);
  for (const name of surplus?.statistics ?? []) await sql`drop statistics if exists ${inSchema(name)}`.execute(trx);
  const columns = surplus?.columns.map((name) => sql`drop column ${sql.id(name)}`) ?? [];
  if (columns.length > 0) await sql`alter table ${inSchema(companion.table)} ${sql.join(columns)}`.execute(trx);
}

/**
 * Runs `work` in a transaction, which no statement on a table of the companion schema may hold up for long, since others would wait behind it. Returns what `work`
 * returns, which tells whether it is done; undefined if ten attempts had no lock.
 */
export async function whenUnused(
  db: Kysely<Database>,
  work: (trx: Transaction<Database>) => Promise<boolean>,
): Promise<boolean | undefined> {
  for (let attempt = 1; attempt <= lockAttempts; attempt++) {
    try {
      return await inTransaction(db, async (trx) => {
        await lockLimit.execute(trx);
        return await work(trx);
      });
    } catch (error) {
      if (!lockWasNotHad(error)) throw error;
      await delay(Math.random() * 200);
    }
  }
  return undefined;
}

/** Whether the table has indexes, statistics or columns beyond this layout. */
export function hasSurplus(companion: Companion, present: PresentTable): boolean {
  const { indexes, statistics, columns } = surplusIn(companion, present);
  return indexes.length + statistics.length + columns.length > 0;
}

async function surplusOf(db: Kysely<Database>, companion: Companion) {
  const present = await presentTable(db, companion.table);
  return present && surplusIn(companion, present);
}

function surplusIn(companion: Companion, present: PresentTable) {
  const { columns, references, search } = companion;
  const beyond = (names: Iterable<string>, wanted: readonly { name: string }[]) =>
    [...names].filter((name) => !wanted.some((each) => each.name === name));
  return {
    references: beyond(present.references.keys(), references),
    columns: beyond(present.columns, [...columns, { name: 'key' }, ...(search ? [{ name: 'search' }] : [])]),
    statistics: beyond(present.statistics, statisticsOf(companion)),
    indexes: beyond(present.indexes.keys(), wantedIndexes(companion)),
  };
}

/** Drops the tables of types that are gone. Returns whether none is left. */
export async function dropOrphanTables(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = ${companionSchema}::regnamespace and relkind = 'r' and relname ~ '^x[0-9]+$' and pg_has_role(relowner, 'usage')
      and not exists (select from entity_type where relname = 'x' || entity_type.id)`.execute(db);
  let areGone = true;
  const drop = (name: string) =>
    whenUnused(db, async (trx) => {
      await dropTable(trx, name);
      return true;
    });
  for (const { name } of rows) areGone = (await drop(name)) === true && areGone;
  return areGone;
}
