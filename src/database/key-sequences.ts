/** The sequences that number rows, beside the highest numbers that the rows have. A restore in parts, or of other tools, leaves sequences behind. */
import { sql, type Kysely } from 'kysely';
import type { Database } from './tables.ts';

export interface KeySequence {
  table: string;
  column: string;
  /** The sequence, quoted. */
  sequence: string;
  /** The next number. */
  next: bigint;
  /** 0 without rows. */
  highest: bigint;
}

/** The highest key of the versions of all names, by the index of these: one step for each name. */
const highestOfHistory = sql`
  (with recursive names as (
    select min(name) as name from entity_change
    union all
    select (select min(name) from entity_change where entity_change.name > names.name) from names where names.name is not null
  ) select max((select max(key) from entity_change where entity_change.name = names.name)) from names where names.name is not null)`;

/**
 * The sequences of columns whose tables the role may read, without those that it may not read either. Deleted entities count too. It reads whole tables, so it
 * may take long. The numbers of versions in the history are left out, since no index has them.
 */
export async function listKeySequences(db: Kysely<Database>): Promise<KeySequence[]> {
  const { rows } = await sql<Pick<KeySequence, 'table' | 'column' | 'sequence'> & { isReadable: boolean }>`
    select relname::text as table, attname::text as column, sequence::text, has_sequence_privilege(sequence, 'select') as "isReadable"
    from pg_attribute join pg_class on pg_class.oid = attrelid, lateral (select pg_get_serial_sequence(quote_ident(relname), attname)::regclass) as its (sequence)
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and attidentity <> '' and relname <> 'entity_change'
      and has_table_privilege(pg_class.oid, 'select') and has_sequence_privilege(sequence, 'select, usage')
    order by relname`.execute(db);
  const found: KeySequence[] = [];
  for (const { isReadable, ...row } of rows) {
    const own = sql`(select max(${sql.ref(row.column)}) from ${sql.table(row.table)})`;
    const highest = row.table === 'entity' ? sql`greatest(${own}, (select max(key) from entity_trash), ${highestOfHistory})` : own;
    // The catalogue has quoted the name. The function needs less rights, and knows nothing of a sequence that was set and not used since.
    const next = isReadable
      ? sql`(select last_value + is_called::int from ${sql.raw(row.sequence)})`
      : sql`pg_sequence_last_value(${row.sequence}::text::regclass) + 1`;
    const { rows: numbers } = await sql<{ next: string | null; highest: string }>`
      select (${next})::text as next, coalesce(${highest}, 0)::text as highest`.execute(db);
    const [number] = numbers;
    if (number && number.next !== null) found.push({ ...row, next: BigInt(number.next), highest: BigInt(number.highest) });
  }
  return found;
}
