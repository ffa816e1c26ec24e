/** An administrator's copies of all data: into another database, into a file, and back. Each leaves an audit event (rule 85). */
import { sql, type Kysely } from 'kysely';
import type { AuditEventName } from '../audit/store.ts';
import { assertNewFile, openBackup, writeBackup, type Header } from '../database/transfer/backup-file.ts';
import type { Contents } from '../database/transfer/contents.ts';
import { assertEmpty, loadDatabase, TransferRefused, type LoadOptions } from '../database/transfer/load.ts';
import { withSnapshot } from '../database/transfer/snapshot.ts';
import { migrateDatabase } from '../database/migrate.ts';
import { knownMigrations } from '../database/migration-files.ts';
import { listKeySequences } from '../database/key-sequences.ts';
import type { Store } from '../database/port.ts';
import type { Database } from '../database/tables.ts';
import { recordChange } from '../audit/actor.ts';
import type { Actor, Owner } from '../rights/administration.ts';

/** How a caller follows a transfer, and cancels it. */
export interface Watch extends Pick<LoadOptions, 'signal' | 'onRows'> {
  /** Called once, before the first rows. */
  onContents: (contents: Contents) => void;
}

/** Makes what is not copied, since it follows from the rows. It runs in the transaction that has loaded these. */
export type Rebuild = (trx: Kysely<Database>) => Promise<void>;

/** A database as a source: `directUrl` must not pool by transaction. */
export interface From {
  store: Store;
  directUrl: string;
}

/** Another database cannot be reached or prepared; `cause` says why. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

/** A backup has none of these: sessions and sign-ins under way end with a restore, and their hashes are not needed in a file. */
const unsaved = ['session', 'superseded_token', 'openid_transaction'] as const;

/**
 * Numbers that a restore leaves out in front of the next key of an entity. Keys that were given after the backup are known to clients, and
 * none of them is given again.
 */
const skippedKeys = 1_000_000;

/**
 * Copies everything into the database at `target.url`, which must be empty, and gives it this version's schema. The event is written before
 * the copy is taken, so that both databases have it. Throws {@link TransferRefused}, {@link TargetError} and CancelledError.
 */
export async function copyDatabase(
  { store, directUrl }: From,
  { actor }: Owner,
  target: { url: string; name: string },
  { signal, onRows, onContents }: Watch,
  rebuild: Rebuild,
): Promise<Contents> {
  try {
    await assertEmpty(target.url, signal);
    await migrateDatabase(target.url);
  } catch (error) {
    throw signal.aborted || error instanceof TransferRefused ? error : new TargetError('target', { cause: error });
  }
  await recordTransfer(store, actor, 'database.copied', { to: target.name });
  return await withSnapshot(directUrl, [], signal, async (source) => {
    onContents(source.contents);
    await loadDatabase(target.url, source, { signal, onRows, afterLoad: rebuild });
    return source.contents;
  });
}

/** Writes a backup into `file`; as {@link writeBackup}. Sessions are left out. Returns the size in bytes. The service makes backups of its own too. */
export async function backUpDatabase(
  { store, directUrl }: From,
  actor: Actor,
  file: string,
  service: string,
  { signal, onRows, onContents }: Watch,
): Promise<Contents & { bytes: number }> {
  await assertNewFile(file);
  await recordTransfer(store, actor, 'database.backed_up', { file });
  return await withSnapshot(directUrl, unsaved, signal, async (source) => {
    onContents(source.contents);
    return { ...source.contents, bytes: await writeBackup(file, service, source, { signal, onRows }) };
  });
}

/**
 * Fills the empty database at `directUrl` from a file that `verifyBackup` has accepted, and brings it to this version's schema. Throws
 * {@link TransferRefused} and CancelledError.
 */
export async function restoreDatabase(
  directUrl: string,
  { actor }: Owner,
  file: string,
  header: Header,
  { signal, onRows, onContents }: Watch,
  rebuild: Rebuild,
): Promise<void> {
  await assertEmpty(directUrl, signal);
  // A backup of an earlier version fits the schema of its time, and is migrated with its rows.
  await migrateDatabase(directUrl, { upTo: header.migrations.at(-1) });
  onContents(header);
  await loadDatabase(directUrl, await openBackup(file), {
    signal,
    onRows,
    skipped: { entity: skippedKeys },
    async afterLoad(trx) {
      await rebuild(trx);
      const detail = { takenAt: header.takenAt, service: header.service };
      await recordChange(trx, actor, { event: 'database.restored', detail });
    },
  });
  await migrateDatabase(directUrl);
}

/** The changes of {@link finishRestore}. */
export interface FinishedRestore {
  /** The number of sessions that it ended. */
  sessions: number;
  /** The least key that a new entity can have. */
  nextKey: string;
}

/**
 * For a database that the tools of PostgreSQL have brought back to the state of `takenAt`, a time of RFC 3339. Ends all sessions and
 * sign-ins under way, and moves the keys of new entities on, and other sequences behind the highest number of a row. A session that was ended after
 * that time, and a key that was given after it, are thus not used again.
 */
export async function finishRestore(store: Store, { actor }: Owner, takenAt: string): Promise<FinishedRestore> {
  return await store.transaction(async (trx) => {
    const { rows: sessions } = await sql<{ count: number }>`select count(*)::int as count from session`.execute(trx);
    for (const table of unsaved) await trx.deleteFrom(table).execute();
    await sql`set local statement_timeout = 0`.execute(trx);
    const finished = { sessions: sessions[0]?.count ?? 0, nextKey: '' };
    for (const { table, sequence, next, highest } of await listKeySequences(trx)) {
      const least = next > highest ? next : highest + 1n;
      const wanted = table === 'entity' ? least + BigInt(skippedKeys) : least;
      // Not undone with the transaction, which then leaves out keys for nothing.
      if (table === 'entity' || wanted > next) await sql`select setval(${sequence}, ${String(wanted)}, false)`.execute(trx);
      if (table === 'entity') finished.nextKey = String(wanted);
    }
    await recordChange(trx, actor, { event: 'database.restored', detail: { takenAt, ...finished } });
    return finished;
  });
}

/** Throws {@link TransferRefused} if a later version of the service wrote the backup. */
export async function assertKnownSchema(file: string, { migrations, service }: Header): Promise<void> {
  const known = await knownMigrations();
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new TransferRefused(
    `version ${service} wrote ${file}, with migrations that this version lacks (${unknown.join(', ')}): use that version`,
  );
}

async function recordTransfer(store: Store, actor: Actor, event: AuditEventName, detail: Record<string, unknown>): Promise<void> {
  await store.transaction((trx) => recordChange(trx, actor, { event, detail }));
}
