/** What all data of a database consist of: tables in the order in which they can be filled, and the next numbers of their sequences. */
import type { Readable } from 'node:stream';
import type { ClientBase } from 'pg';

export interface TableContents {
  name: string;
  /** In the order of the rows' values; without generated columns. */
  columns: string[];
  rows: number;
  /** Of all rows, whatever their order. Equal text of rows gives an equal checksum. */
  checksum: string;
}

export interface SequenceContents {
  table: string;
  column: string;
  /** The next number, as text because it has 64 bits. */
  next: string;
}

export interface Contents {
  /** The time at which the snapshot was taken, by the database's clock (RFC 3339). */
  takenAt: string;
  /** The migrations that made the tables, in their order. */
  migrations: string[];
  /** A table stands after those to which it refers. */
  tables: TableContents[];
  sequences: SequenceContents[];
}

/** All data at one moment. */
export interface DataSource {
  readonly contents: Contents;
  /** The rows of a table in the text format of COPY, one line each. Call it once for each table, in the order of `contents`, and read all of it. */
  read(table: TableContents): Readable;
}

/** They belong to the schema, which migrations make, or to the processes that run, and not to the data. */
const schemaTables = ['kysely_migration', 'kysely_migration_lock', 'migration_note', 'process'];

/** The names are those of this process; `client` must be in the transaction whose snapshot counts. `without` names tables to leave out. */
export async function readContents(client: ClientBase, without: readonly string[] = []): Promise<Contents> {
  const { rows: times } = await client.query<{ at: Date }>('select now() as at');
  const tables: TableContents[] = [];
  for (const table of await listTables(client, without)) tables.push({ ...table, ...(await countRows(client, table.name)) });
  return {
    takenAt: (times[0]?.at ?? new Date()).toISOString(),
    migrations: await listMigrations(client),
    tables,
    sequences: await listSequences(client),
  };
}

/** The applied migrations; none if there is no table of them. */
export async function listMigrations(client: ClientBase): Promise<string[]> {
  const { rows: found } = await client.query<{ found: boolean }>(`select to_regclass('kysely_migration') is not null as found`);
  if (!found[0]?.found) return [];
  const { rows } = await client.query<{ name: string }>('select name from kysely_migration order by name');
  return rows.map(({ name }) => name);
}

/** The tables of the schema, each after those to which its foreign keys refer. */
export async function listTables(client: ClientBase, without: readonly string[] = []): Promise<Pick<TableContents, 'name' | 'columns'>[]> {
  const { rows: tables } = await client.query<{ name: string; columns: string[]; references: string[] }>(
    `select relname::text as name,
      array(
        select attname::text from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum
      ) as columns,
      array(
        select parent.relname::text from pg_constraint join pg_class parent on parent.oid = confrelid
        where conrelid = c.oid and contype = 'f' and confrelid <> conrelid
      ) as references
    from pg_class c
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and relname <> all ($1)
    order by relname`,
    [[...schemaTables, ...without]],
  );
  const ordered: typeof tables = [];
  let waiting = tables;
  while (waiting.length > 0) {
    const names = new Set(waiting.map(({ name }) => name));
    const ready = waiting.filter(({ references }) => references.every((name) => !names.has(name)));
    if (ready.length === 0) throw new Error(`the foreign keys of ${[...names].join(', ')} form a circle`);
    ordered.push(...ready);
    waiting = waiting.filter((table) => !ready.includes(table));
  }
  return ordered.map(({ name, columns }) => ({ name, columns }));
}

/** Text of a row depends on settings of the session: see `transferSettings` of snapshot.ts. */
export async function countRows(client: ClientBase, table: string): Promise<Pick<TableContents, 'rows' | 'checksum'>> {
  const { rows } = await client.query<{ rows: string; checksum: string }>(
    `select count(*) as rows,
      coalesce(sum(('x' || left(encode(sha256(convert_to(whole_row::text, 'UTF8')), 'hex'), 16))::bit(64)::bigint), 0)::text as checksum
    from ${client.escapeIdentifier(table)} as whole_row`,
  );
  const [row] = rows;
  return { rows: Number(row?.rows ?? 0), checksum: row?.checksum ?? '' };
}

async function listSequences(client: ClientBase): Promise<SequenceContents[]> {
  const { rows } = await client.query<Omit<SequenceContents, 'next'> & { sequence: string }>(
    `select relname::text as table, attname::text as column, pg_get_serial_sequence(quote_ident(relname), attname) as sequence
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and attidentity <> ''
    order by relname`,
  );
  const found: SequenceContents[] = [];
  for (const { sequence, ...row } of rows) {
    // pg_sequence_last_value is null for a sequence that was set, and not used since.
    const { rows: numbers } = await client.query<{ next: string }>(`select (last_value + is_called::int)::text as next from ${sequence}`);
    found.push({ ...row, next: numbers[0]?.next ?? '1' });
  }
  return found;
}
