/** The time zones that Node.js and PostgreSQL both know, by the names of the IANA database. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';

/** The name as the database spells it, whatever its case in `text`; undefined for a zone that either does not know. */
export async function findTimeZone(db: Kysely<Database>, text: string): Promise<string | undefined> {
  if (!isTimeZone(text)) return undefined;
  const { rows } = await sql<{ name: string }>`
    select name from pg_timezone_names where lower(name) = lower(${text}) order by name = ${text} desc limit 1`.execute(db);
  return rows[0]?.name;
}

/** Whether Node.js knows a zone of that name. Offsets such as +01:00 are no names. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
