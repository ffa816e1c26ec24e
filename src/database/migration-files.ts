/** The files that make the schema, with what their first lines say. */
import { readdir, readFile } from 'node:fs/promises';

export interface MigrationFile {
  name: string;
  text: string;
  /** The oldest version of the service that may run on the schema that the file makes; undefined if its first line does not say so. */
  runsBeside: string | undefined;
  /** False for what PostgreSQL does outside a transaction only: an index that is built while others write. */
  inTransaction: boolean;
}

const directory = new URL('migrations/', import.meta.url);
const head = /^-- runs beside: (?<runsBeside>\d+\.\d+\.\d+)\n(?<alone>-- no transaction\n)?/;

/** The migrations of this version, in the order in which they are applied. */
export async function knownMigrations(from = directory): Promise<string[]> {
  return (await readdir(from))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
}

/** The files in their order. */
export async function readMigrations(from = directory): Promise<MigrationFile[]> {
  return await Promise.all(
    (await knownMigrations(from)).map(async (name) => {
      const text = await readFile(new URL(`${name}.sql`, from), 'utf8');
      const { runsBeside, alone } = head.exec(text)?.groups ?? {};
      return { name, text, runsBeside, inTransaction: alone === undefined };
    }),
  );
}

/** Whether version `a` (three numbers with dots) comes before `b`. */
export function isOlder(a: string, b: string): boolean {
  return a.localeCompare(b, 'en', { numeric: true }) < 0;
}
