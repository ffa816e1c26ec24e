/** Fills an empty database with all data of a source, in one transaction. */
import { pipeline } from 'node:stream/promises';
import type { Kysely } from 'kysely';
import { from as copyFrom } from 'pg-copy-streams';
import { kyselyOn } from '../driver/long-connection.ts';
import type { VerifiedClient } from '../driver/verified-client.ts';
import type { Database } from '../tables.ts';
import { countRows, listMigrations, listTables, type Contents, type DataSource, type TableContents } from './contents.ts';
import { inLongTransaction, lockTarget } from './snapshot.ts';

/** Rows that migrations make; the source's rows replace them. */
const tablesWithSeed = ['audit_retention', 'service_secret'];

/** The data cannot be taken over. The message is one line for the operator. Nothing was changed. */
export class TransferRefused extends Error {
  override readonly name = 'TransferRefused';
}

export interface LoadOptions {
  signal: AbortSignal;
  /** Called with each part of the rows of a table; `rows` counts those since the last call. */
  onRows: (table: TableContents, rows: number) => void;
  /** Added to the next number of these tables' sequences. */
  skipped?: Readonly<Record<string, number>>;
  /** Runs at the end of the transaction. */
  afterLoad?: (trx: Kysely<Database>) => Promise<void>;
}

/** Throws {@link TransferRefused} if a table of the database has rows. A database without tables is empty. */
export async function assertEmpty(url: string, signal: AbortSignal): Promise<void> {
  await inLongTransaction(url, 'begin read only', signal, assertNoRows);
}

async function assertNoRows(client: VerifiedClient): Promise<void> {
  for (const { name } of await listTables(client, tablesWithSeed)) {
    const { rows } = await client.query(`select from ${client.escapeIdentifier(name)} limit 1`);
    if (rows.length > 0) throw new TransferRefused(`has rows (in the table ${name}): it must be empty`);
  }
}

/**
 * Fills the database at `url`, whose tables the migrations of the source must have made. All rows are counted and compared with the source
 * before the transaction is committed. Throws {@link TransferRefused}, and CancelledError if `signal` is aborted: the database stays as it was.
 */
export async function loadDatabase(
  url: string,
  source: DataSource,
  { signal, onRows, skipped = {}, afterLoad }: LoadOptions,
): Promise<void> {
  const { tables, sequences } = source.contents;
  await inLongTransaction(url, 'begin', signal, async (client) => {
    if (!(await lockTarget(client))) throw new TransferRefused('is the source itself, or another copy is filling it');
    assertSameSchema(source.contents, await listMigrations(client));
    const present = (await listTables(client)).map(({ name }) => name);
    // Services that start meanwhile wait, or fail, and write nothing.
    await client.query(`lock table ${present.map((name) => client.escapeIdentifier(name)).join(', ')} in share row exclusive mode`);
    await assertNoRows(client);
    // An earlier schema lacks some of them.
    for (const name of tablesWithSeed.filter((each) => present.includes(each)))
      await client.query(`delete from ${client.escapeIdentifier(name)}`);
    for (const table of tables) await loadTable(client, source, table, onRows);
    for (const { table, column, next } of sequences) {
      const start = BigInt(next) + BigInt(skipped[table] ?? 0);
      // Unlike setval, it is undone with the transaction.
      await client.query(`alter table ${client.escapeIdentifier(table)} alter ${client.escapeIdentifier(column)} restart with ${start}`);
    }
    await assertEqual(client, tables);
    await afterLoad?.(kyselyOn(client));
  });
  // The data are there: a cancellation comes too late.
  await inLongTransaction(url, 'begin', new AbortController().signal, async (client) => {
    for (const { name } of tables) await client.query(`analyze ${client.escapeIdentifier(name)}`);
  });
}

function assertSameSchema({ migrations }: Contents, present: readonly string[]): void {
  if (migrations.join() === present.join()) return;
  const missing = migrations.filter((name) => !present.includes(name));
  const surplus = present.filter((name) => !migrations.includes(name));
  throw new TransferRefused(
    `has another schema than the data: it ${[
      missing.length > 0 && `lacks ${missing.join(', ')}`,
      surplus.length > 0 && `has also ${surplus.join(', ')}`,
    ]
      .filter(Boolean)
      .join(' and ')}`,
  );
}

async function loadTable(client: VerifiedClient, source: DataSource, table: TableContents, onRows: LoadOptions['onRows']): Promise<void> {
  const list = table.columns.map((column) => client.escapeIdentifier(column)).join(', ');
  const rows = client.query(copyFrom(`copy ${client.escapeIdentifier(table.name)} (${list}) from stdin`));
  await pipeline(source.read(table), countLines(table, onRows), rows);
}

/** Passes the lines on, and reports their number. */
export function countLines(table: TableContents, onRows: LoadOptions['onRows']): (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer> {
  return async function* count(chunks) {
    for await (const chunk of chunks) {
      let rows = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1;
      onRows(table, rows);
      yield chunk;
    }
  };
}

async function assertEqual(client: VerifiedClient, tables: readonly TableContents[]): Promise<void> {
  for (const { name, rows, checksum } of tables) {
    const loaded = await countRows(client, name);
    if (loaded.rows !== rows) throw new TransferRefused(`got ${loaded.rows} rows of ${name} instead of ${rows}`);
    if (loaded.checksum !== checksum) throw new TransferRefused(`got other rows of ${name} than the source has`);
  }
}
