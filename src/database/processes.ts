/** The processes that serve from this database, each with a row that it renews every ten seconds. A migration finds those that could not live with its schema. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { sql, type Kysely } from 'kysely';
import type { Database } from './tables.ts';

/** A process whose row is older has ended without deleting it. */
export const aliveSeconds = 60;

export interface LiveProcess {
  version: string;
  host: string;
  pid: number;
}

/**
 * What version 0.1.0 does not know: rules of grants, the action `label`, the sensitive fields of types, and the keywords of types for texts, forms and zones (`texts`) and for
 * names of entities (`names`).
 */
export type KnownRight = 'rule' | 'label' | 'sensitive' | 'texts' | 'names';

/** The ones that this version enforces. */
const known: readonly KnownRight[] = ['rule', 'label', 'sensitive', 'texts', 'names'];

/** The row of this process. */
export interface ProcessRow {
  /** Call it several times within {@link aliveSeconds}. Writes the row again if it was deleted. */
  renew(): Promise<void>;
  /** Deletes the row. Call it after the last renewal. */
  withdraw(): Promise<void>;
}

/** Writes the row of this process. */
export async function announceProcess(db: Kysely<Database>, version: string): Promise<ProcessRow & { id: string }> {
  const id = randomUUID();
  const renew = async () => {
    await db
      .insertInto('process')
      .values({ id, version, host: hostname(), pid: process.pid, knows: [...known] })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: sql`now()` }))
      .execute();
  };
  await renew();
  return {
    id,
    renew,
    withdraw: async () => {
      await db.deleteFrom('process').where('id', '=', id).execute();
    },
  };
}

/** The processes seen within a minute, the oldest first. None in a database of an earlier version, whose processes have no rows. */
export async function listProcesses(db: Kysely<Database>): Promise<LiveProcess[]> {
  const { rows } = await sql<{ exists: boolean }>`select to_regclass('process') is not null as exists`.execute(db);
  if (!rows[0]?.exists) return [];
  return await db
    .selectFrom('process')
    .where('seen_at', '>', sql<Date>`now() - make_interval(secs => ${aliveSeconds})`)
    .select(['version', 'host', 'pid'])
    .orderBy('started_at')
    .execute();
}

/** The processes seen within a minute that do not enforce the right, the oldest first. */
export function listOlderProcesses(db: Kysely<Database>, right: KnownRight): Promise<LiveProcess[]> {
  return db
    .selectFrom('process')
    .where('seen_at', '>', sql<Date>`now() - make_interval(secs => ${aliveSeconds})`)
    .where(sql<boolean>`not ${right} = any(knows)`)
    .select(['version', 'host', 'pid'])
    .orderBy('started_at')
    .execute();
}

/** Deletes the rows of processes that have ended without doing so; returns their number. */
export async function deleteEndedProcesses(db: Kysely<Database>): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('process')
    .where('seen_at', '<', sql<Date>`now() - make_interval(secs => ${aliveSeconds})`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
