/** Which migrations a database has, and whether this version may run on it (decision 164). */
import { sql, type Kysely } from 'kysely';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import { readVersion } from '../config/version.ts';
import { isOlder, knownMigrations } from './migration-files.ts';
import type { Database } from './tables.ts';

export interface MigrationState {
  /** The migrations that the database lacks, in order. */
  pending: string[];
  /** The migrations that it has and this version does not know. */
  later: string[];
  /** Why this version may not run on the database, for the operator; undefined if it may. */
  refusal: string | undefined;
}

interface AppliedMigration {
  name: string;
  /** Null for one of a database that has no notes. */
  runsBeside: string | null;
}

/**
 * Compares the database with the migrations `known` to this version; changes nothing. This version may run beside an unknown migration whose note says
 * so. Otherwise a later version has migrated the database, or an unreleased one has made it (decision 92).
 */
export async function migrationState(db: Kysely<Database>, known?: readonly string[], version = readVersion()): Promise<MigrationState> {
  const names = known ?? (await knownMigrations());
  const applied = await appliedMigrations(db);
  const pending = names.filter((name) => applied.every((each) => each.name !== name));
  const unknown = applied.filter(({ name }) => !names.includes(name));
  const later = unknown.map(({ name }) => name);
  const isRefused = unknown.some(({ runsBeside }) => runsBeside === null || isOlder(version, runsBeside));
  return { pending, later, refusal: isRefused ? refusalOf(pending, later) : undefined };
}

/** The migrations that the database lacks, in order. Throws an error for the operator when this version may not run on it. */
export async function pendingMigrations(db: Kysely<Database>, known?: readonly string[]): Promise<string[]> {
  const { pending, refusal } = await migrationState(db, known);
  if (refusal !== undefined) throw new Error(refusal);
  return pending;
}

function refusalOf(pending: readonly string[], later: readonly string[]): string {
  // A later version has all migrations of this one.
  return pending.length === 0
    ? `the database has migrations of a later version (${later.join(', ')}): use that version, or a later one`
    : `an unreleased version made the database (${later.join(', ')}), and no version upgrades it: use an empty database, or keep the data as decision 92 in docs/decisions.md tells`;
}

async function appliedMigrations(db: Kysely<Database>): Promise<AppliedMigration[]> {
  const { rows: found } = await sql<{ names: string | null; notes: string | null }>`
    select to_regclass(${DEFAULT_MIGRATION_TABLE})::text as names, to_regclass('migration_note')::text as notes`.execute(db);
  const { names, notes } = found[0] ?? {};
  if (!names) return [];
  const migrations = sql.table(DEFAULT_MIGRATION_TABLE);
  const { rows } = await (
    notes
      ? sql<AppliedMigration>`select name, runs_beside as "runsBeside" from ${migrations} left join migration_note using (name) order by name`
      : sql<AppliedMigration>`select name, null as "runsBeside" from ${migrations} order by name`
  ).execute(db);
  return rows;
}
