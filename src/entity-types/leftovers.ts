/**
 * Drops the leftovers of changes of types: tables, indexes, statistics and columns that no type in force needs. A transaction that uses the table holds up their end, so
 * a change does not wait for it (decision 292).
 */
import type { Kysely, Transaction } from 'kysely';
import { isReferredTo, listPresentTables } from '../entities/companion/catalogue.ts';
import type { Companion } from '../entities/companion/layout.ts';
import {
  dropOrphanTables,
  dropRetired,
  dropSurplusColumns,
  hasSurplus,
  retireSurplus,
  whenUnused,
  type Surplus,
} from '../entities/companion/surplus.ts';
import { dropTable } from '../entities/companion/table.ts';
import { inTransaction, lockWasNotHad } from '../database/failure.ts';
import type { Store } from '../database/port.ts';
import type { Database } from '../database/tables.ts';
import { findStoredType, listCompanions, listTableNumbers } from './store.ts';
import { isNotBeingBuilt } from './transaction.ts';

/**
 * Drops what the type in force does not need of its companion table, or the whole table, and the tables of types that are gone. Returns false if another
 * transaction has held that up for some seconds, or if the type is being built.
 */
export async function dropLeftovers(store: Store, name: string): Promise<boolean> {
  const isDropped = await dropFormer(store, name);
  // The name may have been declared again, with another table.
  return (await dropOrphanTables(store.db)) && isDropped;
}

async function dropFormer(store: Store, name: string): Promise<boolean> {
  const { db } = store;
  const { companion } = await findStoredType(db, name);
  if (!companion) return (await whenUnused(db, (trx) => dropFormerTable(trx, name))) === true;
  try {
    const surplus = await inTransaction(db, (trx) => retireIfReady(trx, name));
    if (!surplus) return false;
    if (surplus.indexes.length > 0) await store.runLong((own) => dropRetired(own, surplus.indexes));
    // Columns cost little, and each attempt makes writers wait. Those that cannot go now stay until the next change or housekeeping.
    return !surplus.hasMore || ((await whenUnused(db, (trx) => dropFormerColumns(trx, name))) ?? true);
  } catch (error) {
    if (lockWasNotHad(error)) return false;
    throw error;
  }
}

/** Undefined if the type is being built. */
async function retireIfReady(trx: Transaction<Database>, name: string): Promise<Surplus | undefined> {
  if (!(await isNotBeingBuilt(trx, name))) return undefined;
  const { companion, revision } = await findStoredType(trx, name);
  return companion?.state === 'ready' ? await retireSurplus(trx, companion, revision) : undefined;
}

/** Returns false if the type is being built. */
async function dropFormerColumns(trx: Transaction<Database>, name: string): Promise<boolean> {
  if (!(await isNotBeingBuilt(trx, name))) return false;
  const { companion } = await findStoredType(trx, name);
  if (companion?.state === 'ready') await dropSurplusColumns(trx, companion);
  return true;
}

/** Returns false if the type is being built, or if a table that is to go too refers to this one. Does nothing if the type has got a table again. */
async function dropFormerTable(trx: Transaction<Database>, name: string): Promise<boolean> {
  if (!(await isNotBeingBuilt(trx, name))) return false;
  const { id, companion } = await findStoredType(trx, name);
  if (id === undefined || companion) return true;
  const table = `x${id}`;
  if (await isReferredTo(trx, table)) return false;
  await dropTable(trx, table);
  return true;
}

/**
 * The names of types of which something is left to drop, as after the end of a process between a change and what follows. A table that has keys alone, to which no
 * type refers any more, is one.
 */
export async function listLeftovers(db: Kysely<Database>): Promise<string[]> {
  const tables = await listPresentTables(db);
  const companions = new Map((await listCompanions(db)).map(({ name, companion }) => [name, companion]));
  const targets = new Set([...companions].flatMap(([name, { references }]) => references.flatMap(({ to }) => (to === name ? [] : [to]))));
  const isLeft = (name: string, table: string) => {
    const present = tables.get(table);
    const companion = companions.get(name);
    if (!present || !companion) return present !== undefined;
    if (companion.state !== 'ready') return false;
    return hasSurplus(companion, present) || (hasKeysAlone(companion) && !targets.has(name));
  };
  return (await listTableNumbers(db)).filter(({ name, id }) => isLeft(name, `x${id}`)).map(({ name }) => name);
}

const hasKeysAlone = ({ columns, search }: Companion) => columns.length === 0 && search === undefined;
